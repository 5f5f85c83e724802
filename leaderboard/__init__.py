"""What a visitor sees: reads the database, never writes it."""
