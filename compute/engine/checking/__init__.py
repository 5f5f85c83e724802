"""Checks a data set of one's own before any model sees it: repeated and leaked items, label faults, copies of benchmark
items, and how small a difference its size can show."""
