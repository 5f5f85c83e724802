"""Procedurally drawn scenes with captions: the content of the mini suite and the training data of the bundled model."""
