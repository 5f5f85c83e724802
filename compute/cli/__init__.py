"""The command line: one file per command; workspace.py has what they share."""
