"""Models on a visitor's inputs, for the Try page and the endpoints: uploads, the models in memory, rate limits."""
