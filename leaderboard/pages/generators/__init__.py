"""The page of image generators and their metrics."""
