"""What `compute.<name>` is from Python: one file per name."""
