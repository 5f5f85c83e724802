"""Models tried on a visitor's inputs: what the Compare page and the endpoints share."""
