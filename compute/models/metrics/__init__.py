"""Perceptual metrics and human preference models."""
