"""Between the network and the pages. The files of this folder are what handlers use: errors, responses, parameters."""
