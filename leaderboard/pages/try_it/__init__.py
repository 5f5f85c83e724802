"""The page that tries models on a visitor's images and texts."""
