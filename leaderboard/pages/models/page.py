"""Every model in one list: search, filters, ranks and category means, with a link to each model's own page."""

from __future__ import annotations

from leaderboard.page import catalogue
from leaderboard.pages.models.listing import models, summary

MODELS = catalogue(
    key="models",
    sentence="Every model with what it takes, its size and licence, and its rank and category means in a suite. Click "
    "a name for the model's own page.",
    rows=models,
    summary=summary,
)
