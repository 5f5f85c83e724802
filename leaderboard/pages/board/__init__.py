"""The board: one suite as a table."""
