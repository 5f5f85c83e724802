"""How far scores that were computed here can be compared with published and imported ones, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compute.analysis.ranks.variance import listed
from compute.analysis.table import ALL, ScoreTable
from compute.engine import variants
from compute.engine.run_folders import StoredRun
from compute.types import Task

MEASURED_ELSEWHERE = ("published", "imported")  # origins of scores that others made


@dataclass(frozen=True, kw_only=True)
class Comparability:
    """How far the scores made here can be compared with those of other rows."""

    origin: str  # of the other rows, or all
    elsewhere: tuple[str, ...]  # origins among the other rows whose scores others made
    tasks: int  # of the suite's mean
    missing: tuple[str, ...]  # tasks without a score of this model
    unlike: tuple[str, ...]  # sentences: what differs from the protocol that the catalogue states
    mixed: tuple[str, ...]  # sentences: what differs between this model's own runs
    checked: tuple[str, ...] | None  # other models with a score on the same task computed here and elsewhere; None:
    # that was not looked up
    difference: float | None  # median absolute difference of those scores, in stored units; None: no such models

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to know before the scores are compared with those of the other rows; empty where nothing is."""
        return (*self._of_origins(), *self.unlike, *self.mixed)

    def _of_origins(self) -> list[str]:
        if not self.elsewhere:
            return []
        scores = f"{' and '.join(self.elsewhere)} scores"
        if self.unlike:
            text = [f"Others computed the {scores}, and these runs do not follow the catalogue's protocol throughout."]
        else:
            text = [
                f"Others computed the {scores}, with their own code and machines; as far as the catalogue states the "
                "protocol, it is the same."
            ]
        if self.checked:
            many = "1 other model has" if len(self.checked) == 1 else f"{len(self.checked)} other models have"
            text.append(
                f"{many} such scores and computed ones on the same tasks: the median difference between the two is "
                f"{self.difference:.4f}."
            )
        elif self.checked is not None:
            text.append(
                "No other model has both such a score and a computed one on the same task, so how far the two differ "
                "is not known."
            )
        return text

    def __str__(self) -> str:
        return " ".join((f"{self.tasks - len(self.missing)} of {self.tasks} tasks have a score.", *self.sentences))


def comparability(
    *,
    model: str,
    origin: str,
    tasks: Sequence[Task],
    runs: Mapping[str, StoredRun],
    others: ScoreTable | None,
    measured: tuple[tuple[str, ...], float | None] | None = None,
) -> Comparability:
    """How the model's runs, by task, compare with the rows of `others`; None: there are none.

    `tasks`: those that count in the suite's mean. `measured`: what `measured_twice` says, None where nobody looked.
    """
    counting = {task.key: runs[task.key] for task in tasks if task.key in runs}
    checked, difference = measured or (None, None)
    return Comparability(
        origin=origin,
        elsewhere=elsewhere(origin, others, but=model),
        tasks=len(tasks),
        missing=tuple(task.key for task in tasks if task.key not in runs),
        unlike=unlike(counting),
        mixed=mixed(counting),
        checked=checked,
        difference=difference,
    )


def elsewhere(origin: str, others: ScoreTable | None, *, but: str) -> tuple[str, ...]:
    """The origins of the rows whose scores others made, without the model's own row."""
    among: Collection[str] = (origin,)
    if origin == ALL:
        rows = () if others is None else zip(others.models, others.origins, strict=True)
        among = {of for model, of in rows if model != but}
    return tuple(of for of in MEASURED_ELSEWHERE if of in among)


def unlike(runs: Mapping[str, StoredRun]) -> tuple[str, ...]:
    """What in these runs, by task, differs from the protocol that the catalogue states, in sentences."""
    text = []
    for task, run in runs.items():
        settings = run.run.settings
        if known := settings.get("catalogue_items"):
            text.append(f"{task} has {settings['items']:,} items here, {known:,} in the catalogue.")
        if run.coverage < 1:
            text.append(f"{task} rests on {run.coverage:.1%} of its items.")
        if run.variant and run.variant not in variants.COMPARED:
            text.append(f"{task} was run with {run.variant}.")
    return tuple(text)


def mixed(runs: Mapping[str, StoredRun], *, which: str = "The runs") -> tuple[str, ...]:
    """What differs between the runs of one model, whose scores make one mean, in sentences about `which`."""
    revisions = dict.fromkeys(run.short_revision for run in runs.values())
    dtypes = dict.fromkeys(run.run.dtype for run in runs.values())
    text = []
    for noun, values in (("revisions of the weights", revisions), ("number formats", dtypes)):
        if len(values) > 1:
            names = listed([value or "an unrecorded one" for value in values])
            text.append(f"{which} are of {len(values)} {noun}: {names}.")
    return tuple(text)


def measured_twice(
    first: Sequence[ScoreTable], second: ScoreTable, *, but: str
) -> tuple[tuple[str, ...], float | None]:
    """The models with a score on the same task in `second` and in one of `first`, and the median absolute difference.

    That is None without such a model. `but`: a model that does not count.
    """
    models, gaps = [], []
    for part in first:
        columns = [second.tasks.index(task) for task in part.tasks]
        for row, key in enumerate(part.models):
            if key in second.models and key != but:
                both = np.abs(part.values[row] - second.values[second.models.index(key), columns])
                if (known := both[~np.isnan(both)]).size:
                    models.append(key)
                    gaps.append(known)
    return tuple(dict.fromkeys(models)), float(np.median(np.concatenate(gaps))) if gaps else None
