"""The page of correlations."""
