"""What is trained on: examples of the core tasks, drawn or of the paper's data sets; proof that none is evaluated."""
