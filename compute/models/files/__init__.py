"""Sources of models' files."""
