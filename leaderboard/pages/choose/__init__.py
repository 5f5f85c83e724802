"""The page that helps to choose a model: a few questions, and at most five models with reasons."""
