"""The command line: one file per command; workspace.py has the shared parts."""
