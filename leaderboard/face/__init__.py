"""What every page carries around its content: the bar, its head, and one share picture a page."""
