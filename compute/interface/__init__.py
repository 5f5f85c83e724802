"""The Python interface `compute.<name>`: one file per name."""
