"""The page of one model."""
