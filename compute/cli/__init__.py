"""The command line: one file a command; what several share is in workspace.py."""
