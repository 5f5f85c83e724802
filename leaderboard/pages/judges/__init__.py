"""The page of judges: how far each can be trusted to say how alike two items are."""
