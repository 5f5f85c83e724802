"""Pages of one HTML file that commands write: a board, a check of data, a training, a trade-off.

Each is a template in base.html, and a style next to it; plot.py and plot.html draw axes for those with a figure.
"""
