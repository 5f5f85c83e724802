"""Checks user data before any model sees them: repeats, leaks, label faults, resolution."""
