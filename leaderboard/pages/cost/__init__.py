"""Scores against size, age and encode time, and the front of models that no cheaper model significantly beats."""
