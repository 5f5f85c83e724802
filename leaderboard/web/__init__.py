"""Between the network and the pages: errors, responses, limits, parameters, static files."""
