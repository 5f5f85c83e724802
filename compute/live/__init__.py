"""What a visitor brings, judged at once: inputs, ready examples, and the models that judge them."""
