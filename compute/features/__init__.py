"""Encodes every item once, and stores what comes out: subject.py is a model with its store."""
