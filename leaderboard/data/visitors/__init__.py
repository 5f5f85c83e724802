"""Visitors' SQL queries: the server's end, and the process that answers."""
