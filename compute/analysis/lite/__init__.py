"""Small suites that rank like the whole one (MIEB section 6.3)."""
