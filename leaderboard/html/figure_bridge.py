"""The bridge from a figure to the page, where some pages still look for it."""

from leaderboard.html.components import figure_bridge

__all__ = ["figure_bridge"]
