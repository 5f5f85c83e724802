"""Scores against size, age and encode time, and the front that no cheaper model significantly beats."""
