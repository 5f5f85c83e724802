"""User suites and models: made, recorded in the results folder, and read back into the catalogue."""
