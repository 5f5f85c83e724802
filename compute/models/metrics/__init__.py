"""Perceptual metrics and models of human preference."""
