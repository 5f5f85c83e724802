"""Scores against size, age and encode time, and the front that no cheaper model is proved to beat."""
