"""User suites and models: created, recorded in the results folder, and read back into the catalogue."""
