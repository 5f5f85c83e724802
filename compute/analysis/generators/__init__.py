"""Metrics of image generators: how far they follow people's choices, and which faults of generators they see."""
