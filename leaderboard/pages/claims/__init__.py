"""The page of the papers' claims."""
