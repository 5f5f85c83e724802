"""Models that answer questions in words."""
