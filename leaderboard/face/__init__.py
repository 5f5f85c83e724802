"""Parts of every page around its content: the bar and the head."""
