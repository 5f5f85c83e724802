"""The app's environment: its options, a data set of the Hub as its database, an accelerator."""
