"""Inputs of models: items, images, messages."""
