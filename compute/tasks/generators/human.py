"""What people think of generators: rates, ratings, ranks, or single votes, from a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from compute.arrays import Floats
from compute.io import forms, votes
from compute.io.forms import COUNT, NUMBER, SHARE, Form, FormField
from compute.io.votes import VOTES
from compute.types import BadInput

GENERATOR, COUNTED = FormField("generator", ("model", "name")), FormField("votes", ("count",), COUNT)
RANK = FormField("rank", (), NUMBER)
FORMS = (
    Form("won", (FormField("winner", ("chosen",)), FormField("loser", ("rejected",)), COUNTED._replace(optional=True))),
    VOTES,
    Form("per prompt", (FormField("prompt"), GENERATOR, COUNTED)),
    Form(
        "human_rate",
        (
            GENERATOR,
            FormField("rate", ("human_rate", "win_rate", "preference"), SHARE),
            RANK._replace(optional=True),
        ),
    ),
    Form("elo", (GENERATOR, FormField("elo", ("rating", "score"), NUMBER), RANK._replace(optional=True))),
    Form("human_rank", (GENERATOR, RANK)),
)
HUMAN_METRICS = ("human_rate", "elo", "human_rank")


@dataclass(frozen=True, kw_only=True)
class HumanTable:
    """What a table says of generators. `metric` is one of HUMAN_METRICS: `human_rate` (shares), `elo` (ratings, or
    votes to be fitted) or `human_rank`; `values` by generator, higher is better but
    for ranks; `ranks` as listed, 1 best, where it lists any. `wins` (n, n) of `names` are votes, without `values` yet:
    how often the first was chosen over the second.
    """

    title: str
    metric: str
    names: tuple[str, ...]
    values: Mapping[str, float]
    ranks: Mapping[str, float] | None = None
    wins: Floats | None = None
    notes: tuple[str, ...] = ()


def read(path: Path) -> HumanTable:
    """A table (`compute.io.tables`) in one of these forms, by its columns:

    - `generator` with `rate` (a share, 0.8 or 80%), `elo`, `rating` or `score`, or `rank`; there may be a rank as well;
    - `winner`, `loser` and perhaps `votes`: a row a comparison;
    - `first`, `second`, `choice` (one of the two names, or a word of `compute.io.votes`), LMArena's too;
    - `prompt`, `generator`, `votes`, as `import parti-prompts` writes: each vote of a prompt is for one generator over
      all others that have a row for that prompt.

    Raises BadInput naming the file, the row and what is wrong.
    """
    key, frame, notes = forms.read(path, FORMS)
    if key in HUMAN_METRICS:
        return _rated(path.name, key, frame, notes)
    pairs: dict[tuple[str, str], float] = defaultdict(float)
    if key == "per prompt":
        notes = (*notes, _per_prompt(frame, pairs, title=path.name))
    for at, row in enumerate(frame.to_dict("records") if key != "per prompt" else (), start=1):
        first, second = (row["winner"], row["loser"]) if key == "won" else (row["first"], row["second"])
        said, weight = row.get("choice", first), row.get("votes", 1.0)
        if first == second:
            raise BadInput(f"{path.name}, row {at}: {first!r} is compared with itself")
        names = (first, second)
        try:
            at_side = names.index(said) if said in names else votes.side(said)  # a name comes before a side's
        except BadInput as error:
            raise BadInput(f"{path.name}, row {at}: {error}") from error
        pairs[names] += weight * (0.5 if at_side is None else 1 - at_side)
        pairs[names[::-1]] += weight * (0.5 if at_side is None else at_side)
    return _voted(pairs, path.name, notes)


def _rated(title: str, metric: str, frame: pd.DataFrame, notes: tuple[str, ...]) -> HumanTable:
    names = frame["generator"].tolist()
    if (twice := frame["generator"].duplicated()).any():
        row = int(twice.argmax())
        raise BadInput(f"{title}, row {row + 1}: duplicate generator {names[row]!r}. Leave one row of each")
    values = frame[{"human_rate": "rate", "elo": "elo", "human_rank": "rank"}[metric]].tolist()
    return HumanTable(
        title=title,
        metric=metric,
        names=tuple(names),
        values=dict(zip(names, values, strict=True)),
        ranks=dict(zip(names, frame["rank"].tolist(), strict=True)) if "rank" in frame else None,
        notes=notes,
    )


def _per_prompt(frame: pd.DataFrame, pairs: dict[tuple[str, str], float], *, title: str) -> str:
    """Counts votes as ones over all others of a prompt, which the returned note says."""
    for _, shown in frame.groupby("prompt", sort=False):
        votes = shown.groupby("generator", sort=False)["votes"].sum()
        for first, won in votes.items():
            for second in votes.index.drop(first):
                pairs[first, second] += won
    return (
        f"{title}: every vote is taken as one over all other generators of its prompt, as if all were shown; its "
        "comparisons depend on each other, so the intervals of the strengths are too narrow"
    )


def _voted(pairs: Mapping[tuple[str, str], float], title: str, notes: tuple[str, ...]) -> HumanTable:
    names = sorted({name for pair in pairs for name in pair})
    if len(names) < 2:
        raise BadInput(f"{title} does not compare two generators")
    rows = {name: row for row, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for (first, second), count in pairs.items():
        wins[rows[first], rows[second]] = count
    return HumanTable(title=title, metric="elo", names=tuple(names), values={}, wins=wins, notes=notes)
