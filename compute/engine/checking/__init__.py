"""Checks user data before any model sees them: duplicates, leaks, label errors, resolution."""
