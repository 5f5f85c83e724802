"""Encodes every item once and stores the results; subject.py combines a model with its store."""
