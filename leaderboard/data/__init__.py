"""The database as the pages see it: queries, suite tables, ranks, and values derived from them once."""
