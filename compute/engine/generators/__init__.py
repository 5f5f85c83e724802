"""Compares sets of generated images with a reference: features, all metrics, a table, and stored runs."""
