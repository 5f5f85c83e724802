"""The command line: one file a command; what several share stands in workspace.py."""
