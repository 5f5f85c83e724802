"""The page of maps."""
