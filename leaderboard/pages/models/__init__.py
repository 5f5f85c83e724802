"""The page that lists every model."""
