"""The database: its schema, the only file that knows it, and how it is built and published."""
