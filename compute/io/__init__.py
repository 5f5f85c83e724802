"""Files of any kind: atomic writing, records and tables, numbers in tables."""
