"""The database: its schema, its only reader (store.py), building and publishing."""
