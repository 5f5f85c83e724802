"""The page where visitors query the database in SQL."""
