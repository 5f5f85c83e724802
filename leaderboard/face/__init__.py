"""What every page carries around its content: the bar, its head for browsers and search engines, and one share picture a page."""
