"""Training models: the recipe of the bundled model, and UniSim's for dual encoders."""
