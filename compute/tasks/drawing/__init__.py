"""Procedurally drawn scenes with captions: what the mini suite asks about and the bundled model learns from."""
