"""Models by language: the best for a language, and how one model does in each."""
