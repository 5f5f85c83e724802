"""Checks a data set of one's own before any model sees it: repeats, leaks, label faults, resolution."""
