"""Fewer tasks that rank models like a whole suite."""
