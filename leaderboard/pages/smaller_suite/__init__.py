"""Fewer tasks that order models as a whole suite does."""
