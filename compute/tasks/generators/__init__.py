"""Images of generators and of a reference, and the prompts that pair them."""
