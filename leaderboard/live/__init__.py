"""Models on a visitor's inputs, for the Compare page and the endpoints: uploads, the models in memory, rate limits."""
