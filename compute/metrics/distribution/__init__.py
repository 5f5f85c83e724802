"""Metrics of sets: how far the images of a generator are from a reference, as pure functions of features."""
