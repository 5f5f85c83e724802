"""The page that explains the board."""
