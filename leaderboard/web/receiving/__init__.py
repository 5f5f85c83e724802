"""What the server accepts: the bounds of a request and its body, and how many connections."""
