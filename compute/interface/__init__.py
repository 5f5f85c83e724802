"""What `compute.<name>` is from Python: one file a name."""
