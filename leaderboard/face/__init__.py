"""What every page carries around its content: the bar and its head."""
