"""Metrics of sets: the distance of a generator's images from a reference, as pure functions of features."""
