"""The recipe of the bundled model: drawn lessons, their losses, its tokenizer."""
