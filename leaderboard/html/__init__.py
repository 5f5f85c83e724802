"""What pages are written with: markup, labels, signs, the look, and the style of figures."""
