"""The page of judges: how far each can be trusted to rate the similarity of two items."""
