"""What visitors ask the database in SQL: the server's end, and the process that answers."""
