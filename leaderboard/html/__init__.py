"""Building blocks of pages: markup, labels, signs, styles, and the style of charts."""
