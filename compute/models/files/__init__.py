"""Where models' files come from."""
