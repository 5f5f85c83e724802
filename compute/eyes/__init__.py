"""Your eyes: asks a person questions about two images, and finds the models that answer like that person."""
