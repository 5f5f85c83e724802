"""What a training step is made of: its batch, its passes, its loss, and the change of the weights."""
