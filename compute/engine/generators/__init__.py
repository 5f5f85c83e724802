"""Compares sets of generated images with a reference: features, every metric, a table, and stored runs."""
