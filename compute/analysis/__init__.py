"""What a table of scores says: ranks and how sure they are, correlations, small suites, maps."""
