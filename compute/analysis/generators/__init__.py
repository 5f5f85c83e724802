"""Metrics of image generators: agreement with people's choices, and the distortions they detect."""
