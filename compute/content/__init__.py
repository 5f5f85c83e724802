"""What a model is shown: items, images, messages."""
