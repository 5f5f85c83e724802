"""Reads people's opinions of generators from a table of rates, ratings, ranks or single votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from compute.analysis.generators import bradley_terry
from compute.analysis.generators.agreement import Agreement
from compute.io import forms, votes
from compute.io.forms import COUNT, NUMBER, SHARE, Form, FormField
from compute.io.votes import VOTES
from compute.tasks.image_sets import some
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
HUMAN_METRICS = {"human_rate": "rate", "elo": "elo", "human_rank": "rank"}  # with their columns


@dataclass(frozen=True, kw_only=True)
class People:
    """People's ratings of the compared generators; higher is better.

    `ranks` are as a table lists them, 1 best, None if it has none. `intervals` are 95% intervals of ratings fitted from
    votes, in Elo points. `warnings` name skipped generators. `agreements` belong to `metrics`, pairs of metric and
    backbone; `undefined` says why other metrics have none.
    """

    metric: str  # one of HUMAN_METRICS
    names: tuple[str, ...]
    ratings: tuple[float, ...]
    ranks: tuple[float, ...] | None = None
    intervals: tuple[tuple[float, float], ...] = ()
    warnings: tuple[str, ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    agreements: tuple[Agreement, ...] = ()
    undefined: tuple[str, ...] = ()

    @property
    def stored(self) -> dict[str, tuple[str, float]]:
        """The stored rating of each generator: the metric's key and its value."""
        sign = -1 if self.metric == "human_rank" else 1
        return {name: (self.metric, sign * value) for name, value in zip(self.names, self.ratings, strict=True)}


def read(path: Path, *, generated: Sequence[str]) -> People:
    """Reads a table (`compute.io.tables`) of ratings of some of `generated`, in one of these forms, by its columns:

    - `generator` with `rate` (a share, 0.8 or 80%), `elo`, `rating` or `score`, or `rank`; a rank is optional;
    - `winner`, `loser` and optionally `votes`: a row per comparison;
    - `first`, `second`, `choice` (one of the two names, or a word of `compute.io.votes`), also LMArena's;
    - `prompt`, `generator`, `votes`: each vote of a prompt is for one generator over all others that have a row for
      that prompt.

    Votes are fitted by a Bradley-Terry model over all generators in them. Raises BadInput with the file, the row and
    the error, also if fewer than two of the compared generators are rated; Undefined if no finite strengths fit the
    votes.
    """
    metric, frame, notes = forms.read(path, FORMS)
    warnings = list(notes)
    if metric in HUMAN_METRICS:
        if (twice := frame["generator"].duplicated()).any():
            row = int(twice.argmax())
            raise BadInput(
                f"{path.name}, row {row + 1}: duplicate generator {frame['generator'][row]!r}. Leave one row of each"
            )
        values = frame.set_index("generator").rename(columns={HUMAN_METRICS[metric]: "rating"})
    else:
        if metric == "per prompt":
            warnings.append(
                f"{path.name}: every vote is taken as one over all other generators of its prompt, as if all were "
                "shown; its comparisons depend on each other, so the intervals of the strengths are too narrow"
            )
        votes_of = _per_prompt if metric == "per prompt" else _pairs
        won = pd.DataFrame(votes_of(frame, title=path.name), columns=["first", "second", "count"])
        names = sorted({*won["first"], *won["second"]})
        if len(names) < 2:
            raise BadInput(f"{path.name} does not compare two generators")
        wins = won.pivot_table(index="first", columns="second", values="count", aggfunc="sum")
        wins = wins.reindex(index=names, columns=names).fillna(0.0)
        fitted = bradley_terry.fit(wins, names=names)
        values, metric = pd.DataFrame(fitted, names, ["rating", "low", "high"]), "elo"
    rated = [name for name in generated if name in values.index]
    for missing, where in (
        ([name for name in generated if name not in rated], f"are not in {path.name}"),
        ([name for name in values.index if name not in rated], f"of {path.name} are not compared"),
    ):
        if missing:
            warnings.append(f"{some(missing, noun='generator')} {where}: left out of the agreement with people")
    if len(rated) < 2:
        raise BadInput(
            f"{path.name} rates {some(values.index, noun='generator')}, the comparison has "
            f"{some(generated, noun='generator')}: name at least two in both"
        )
    values = values.loc[rated]
    return People(
        metric=metric,
        names=tuple(rated),
        ratings=tuple((-values["rating"] if metric == "human_rank" else values["rating"]).astype(float).tolist()),
        ranks=tuple(values["rank"].tolist()) if "rank" in values else None,
        intervals=tuple(zip(values["low"].tolist(), values["high"].tolist(), strict=True)) if "low" in values else (),
        warnings=tuple(warnings),
    )


Won = Iterator[tuple[str, str, float]]  # the chosen one, the other, and how often


def _per_prompt(frame: pd.DataFrame, *, title: str) -> Won:
    """Yields each vote as one over every other generator of its prompt."""
    for _, shown in frame.groupby("prompt", sort=False):
        count = shown.groupby("generator", sort=False)["votes"].sum()
        yield from ((first, second, won) for first, won in count.items() for second in count.index.drop(first))


def _pairs(frame: pd.DataFrame, *, title: str) -> Won:
    """Yields each comparison's wins, with a tie as half a vote for either."""
    for at, row in enumerate(frame.to_dict("records"), start=1):
        names = (row["winner"], row["loser"]) if "winner" in row else (row["first"], row["second"])
        said, weight = row.get("choice", names[0]), row.get("votes", 1.0)
        if names[0] == names[1]:
            raise BadInput(f"{title}, row {at}: {names[0]!r} is compared with itself")
        try:
            side = names.index(said) if said in names else votes.side(said)  # names take precedence
        except BadInput as error:
            raise BadInput(f"{title}, row {at}: {error}") from error
        yield (*names, weight * (0.5 if side is None else 1 - side))
        yield (*names[::-1], weight * (0.5 if side is None else side))
