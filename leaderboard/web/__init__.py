"""The layer between the network and the pages, with what handlers use: errors, responses, parameters."""
