"""A visitor's choice of what to correlate: suites, level, method, models and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from compute.analysis.table import USUAL
from compute.types import BadInput
from leaderboard.html.labels import ORIGIN_CHOICES
from leaderboard.web.parameters import Choice, Number, Parameter, Text, parse

ALL = "all"
METHODS = {"kendall": "Kendall τ-b", "spearman": "Spearman ρ", "pearson": "Pearson r"}
CHOICES = {  # titles and keys
    "level": [(name.capitalize(), name) for name in ("tasks", "categories", "suites")],
    "method": [(title, key) for key, title in METHODS.items()],
    "group": [(name.capitalize(), name) for name in (ALL, "general-purpose", "specialised", "multi-task")],
    "origin": ORIGIN_CHOICES,
    "order": [("Similar together", "clustered"), ("As in the paper", "paper")],
    "means": [("Mean of the scores", "figures"), ("As the paper prints it", "printed")],
}
# Named choices, as query strings. UniSim-Bench's two maps use the task averages that Tables 2 and 3 print.
FIGURE_3 = "suites=unisim-core,unisim-ood&level=categories&method=kendall&means=printed&order=paper"
QUERIES = {
    "unisim-3a": f"{FIGURE_3}&group=general-purpose",
    "unisim-3b": f"{FIGURE_3}&group=specialised",
    "mieb-categories": "suites=mieb&level=categories",
    "mieb-tasks": "suites=mieb&level=tasks",
    "pairbench": "suites=pairbench&level=tasks",
    "cfred": "suites=cfred-hpdv2&level=tasks&order=paper",
    "across": "suites=unisim-core,unisim-ood,pairbench,mieb&level=categories&minimum=5&order=paper",
}
PRESETS: Mapping[str, Mapping[str, str]] = {key: dict(parse_qsl(query)) for key, query in QUERIES.items()}


class CorrelationQuery(NamedTuple):
    """One choice; its fields are the page's parameters. `means`: a category's value is computed or as printed."""

    suites: tuple[str, ...] = ("mieb",)
    level: str = "categories"
    method: str = "spearman"
    group: str = ALL
    origin: str = USUAL
    means: str = "figures"
    order: str = "clustered"
    minimum: int = 4  # models a cell needs


def parameters(*, suites: Sequence[str]) -> tuple[Parameter, ...]:
    """Returns the page's query parameters over the keys of the database."""
    usual = CorrelationQuery()
    return (
        Choice(key="suites", default=usual.suites, choices=tuple(suites), least=1, noun="suite"),
        *(
            Choice(key=key, default=getattr(usual, key), choices=tuple(each for _, each in offered))
            for key, offered in CHOICES.items()
        ),
        Number(key="minimum", default=usual.minimum, low=3, high=50, whole=True),
        Text(key="pair"),
    )


def query_of(values: Mapping[str, Any]) -> CorrelationQuery:
    """Returns the choice among a page's values."""
    chosen = {name: values[name] for name in CorrelationQuery._fields}
    return CorrelationQuery(**chosen | {"suites": tuple(chosen["suites"])})


def read(parameters: tuple[Parameter, ...], address: Mapping[str, str]) -> CorrelationQuery:
    """Returns the choice of a query string. Raises BadInput for a value that does not exist, rather than replace it."""
    values, note = parse(parameters, {**PRESETS.get(address.get("preset", ""), {}), **address}, instead="")
    if note:
        raise BadInput(note)
    return query_of(values)
