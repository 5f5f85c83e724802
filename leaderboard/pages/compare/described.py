"""What can be tried: which models have code that runs them, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Mapping

from compute.live.examples import COMPARISONS
from compute.live.modes import MODES
from compute.models import ADAPTERS
from leaderboard.data import model_queries
from leaderboard.html.labels import model_kind
from leaderboard.page import Described, Site

KINDS = ("encoder", "metric", "mllm")  # that answer questions on single items


def describe(site: Site, query: Mapping[str, str]) -> Described:
    """The models of the database that can be run, whatever this machine has room for, and the questions."""
    models = model_queries.models(site.db)  # one of a session has an adapter of no family: only that session runs it
    counts = models.loc[models["kind"].isin(KINDS) & models["adapter"].isin(ADAPTERS), "kind"].value_counts()
    kinds = [f"{counts[kind]} {model_kind(kind, count=counts[kind])}" for kind in KINDS if kind in counts]
    questions = ", ".join(mode.title.lower() for mode in MODES.values())
    return Described(
        title="Try",
        sentence=f"Ask {counts.sum()} models about your own images and texts ({', '.join(kinds)}): {questions}. "
        f"{len(COMPARISONS)} ready comparisons; each answer stands next to the model's published results.",
    )
