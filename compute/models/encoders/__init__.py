"""Models that turn images and texts into vectors."""
