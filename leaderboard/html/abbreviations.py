"""The words behind short names, under the name that some pages still use."""

from leaderboard.html.labels import ABBREVIATIONS, explained, hint

__all__ = ["ABBREVIATIONS", "explained", "hint"]
