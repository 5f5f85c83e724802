"""The database as the pages see it: queries, suite tables, ranks, and what is made of them once."""
