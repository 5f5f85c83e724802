"""The page that lists every task."""
