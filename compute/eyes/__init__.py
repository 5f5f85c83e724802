"""Your eyes: questions to a person about two images, and which models answer them as that person does."""
