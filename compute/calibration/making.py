"""Scores the drawn pairs with models, and keeps what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compute.analysis import calibrated
from compute.analysis.calibrated import PAIRS, Reference
from compute.calibration import files
from compute.calibration.files import StoredCalibration
from compute.calibration.pairs import FEWEST, PROCEDURES, PairSample, count, material
from compute.content.items import Column
from compute.engine import run_folders
from compute.engine.run import code, failure
from compute.features import encoding
from compute.models import ADAPTERS
from compute.procedures import choice
from compute.procedures.shared.similarity import symmetric
from compute.types import BadInput, BadItem, CannotDo, LikenessError, Model, Task, Undefined

if TYPE_CHECKING:
    from compute.engine.bench import Bench
    from compute.features.subject import LoadedSubject

VERSION = 1  # raise it when the same items and seed give other scores
QUALITY = {name: values[0] for name, values in choice.PROCEDURE.options.items()}  # how single images are scored


@dataclass(frozen=True, kw_only=True)
class CalibrationOutcome:
    """What became of one model and pairing; without a pairing, of the model as a whole."""

    model: str
    pairing: str
    state: str  # as in engine.run.Outcome
    stored: StoredCalibration | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CalibrationSample:
    """Sampled pairs and images, and what it takes to sample them again."""

    samples: Mapping[str, Sequence[PairSample]]  # by pairing
    tasks: Mapping[str, Mapping[str, Any]]  # the tasks' data and revisions, by key
    synthetic: frozenset[str]  # those of the tasks that a program draws
    most: int
    seed: int


def draw(
    tasks: Sequence[Task], *, bench: Bench, most: int, seed: int, report: Callable[[str], None] = lambda line: None
) -> CalibrationSample:
    """Loads the tasks' items and draws pairs of them; tasks that give none are reported, and pairings with too few.

    Raises BadInput where no pairing is left, and what loading the items raises.
    """
    data = {
        task.key: bench.load(task, {name: values[0] for name, values in bench.task_options(task).items()})
        for task in tasks
        if task.procedure in PROCEDURES
    }
    samples = material(data, most=most, seed=seed)
    used = {sample.task for some in samples.values() for sample in some}
    none = [task.key for task in tasks if task.key not in used]
    if none:
        report(f"Gives no pairs and no single images: {', '.join(none)}")
    for pairing, some in list(samples.items()):
        alike, other = count(some)
        if other < FEWEST or (pairing in PAIRS and alike < FEWEST):
            report(f"{pairing} is skipped: {_noun(pairing, alike, other)}, and a calibration needs {FEWEST}")
            del samples[pairing]
    if not samples:
        raise BadInput(
            "These tasks give too few pairs and single images. Tasks whose procedure is one of "
            f"{', '.join(PROCEDURES)} have some: python -m compute list tasks"
        )
    return CalibrationSample(
        samples=samples,
        most=most,
        seed=seed,
        synthetic=frozenset(task.key for task in tasks if task.benchmark == "mini"),
        tasks={
            task.key: {"dataset": task.dataset, "revision": task.revision, "split": task.split, **bench.identity(task)}
            for task in tasks
            if task.key in used
        },
    )


def able(row: Model, pairing: str) -> bool:
    """Whether a model can score the pairing, as far as its row says; a comparer may still refuse."""
    abilities = set(row.abilities)
    compares, reads = "compare" in abilities, "text" in row.modalities
    pairs_only = row.adapter in ADAPTERS and ADAPTERS[row.adapter].pairs_only
    match pairing:
        case "image-image":
            return "embed_image" in abilities or (compares and not reads)
        case "text-text":
            return "embed_text" in abilities
        case "image-text":
            return {"embed_image", "embed_text"} <= abilities or (compares and reads and not pairs_only)
    return {"embed_image", "embed_text"} <= abilities or (compares and not pairs_only)


def scores(subject: Any, columns: Sequence[Column], *, pairing: str) -> NDArray[np.float64]:
    """(n,) of pairs, or of single images by the pairing's question; higher is nearer, or more."""
    if pairing in PAIRS:
        return symmetric(subject, *columns)
    return choice.judged(subject, *columns, question=pairing, **QUALITY)


def make(
    rows: Sequence[Model],
    sampled: CalibrationSample,
    *,
    bench: Bench,
    results: Path,
    again: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> list[CalibrationOutcome]:
    """Calibrates every model for every pairing that was drawn and that it can score; what is stored already stays.

    Items that cannot be used are left out. What was encoded is stored, so that a run that was stopped goes on.
    """
    outcomes = []
    for row in rows:
        for outcome in _model(row, sampled, bench=bench, results=results, again=again):
            outcomes.append(outcome)
            report(line(outcome))
        encoding.release()
    return outcomes


def _model(
    row: Model, sampled: CalibrationSample, *, bench: Bench, results: Path, again: bool
) -> Iterable[CalibrationOutcome]:
    pairings = [pairing for pairing in sampled.samples if able(row, pairing)]
    outcome = partial(CalibrationOutcome, model=row.key)
    if not row.adapter or not pairings:
        why = "it gives no numbers for these pairings" if row.adapter else "it has no weights that can be loaded"
        yield outcome(pairing="", state="skipped", reason=why)
        return
    try:
        bench.fetch(row)
        subject = bench.subject(row)
        settings = {pairing: _settings(subject, sampled, pairing) for pairing in pairings}
        earlier = {
            pairing: stored
            for pairing in (() if again else pairings)
            if (stored := _find(results, row, pairing, settings[pairing]))
        }
        subject.prepare(
            [
                column
                for pairing in pairings
                if pairing not in earlier
                for sample in sampled.samples[pairing]
                for column in (*sample.matching, *sample.unrelated)
            ]
        )
    except Exception as error:
        yield outcome(pairing="", state="failed", reason=failure(error))
        return
    for pairing in pairings:
        if pairing in earlier:
            yield outcome(pairing=pairing, state="stored", stored=earlier[pairing])
            continue
        try:
            reference = _reference(subject, sampled, pairing)
            stored = files.write(results, reference=reference, settings={**settings[pairing], "code": code()})
            yield outcome(pairing=pairing, state="made", stored=stored)
        except (CannotDo, Undefined) as error:
            yield outcome(pairing=pairing, state="skipped", reason=str(error))
        except Exception as error:
            yield outcome(pairing=pairing, state="failed", reason=failure(error))


def _settings(subject: LoadedSubject, sampled: CalibrationSample, pairing: str) -> dict[str, Any]:
    used = {sample.task for sample in sampled.samples[pairing]}
    return {
        "model": dict(subject.identity),
        "tasks": {key: sampled.tasks[key] for key in sorted(used)},
        "pairs": sampled.most,
        "seed": sampled.seed,
        "version": VERSION,
        **({} if pairing in PAIRS else {"options": QUALITY}),
    }


def _find(results: Path, row: Model, pairing: str, settings: Mapping[str, Any]) -> StoredCalibration | None:
    """The stored calibration of the same settings; a damaged file is made again."""
    try:
        stored = files.read(files.path(results, model=row.key, pairing=pairing))
    except LikenessError:
        return None
    before = {name: value for name, value in stored.settings.items() if name != "code"}
    return stored if run_folders.canonical(before) == run_folders.canonical(settings) else None


def _reference(subject: LoadedSubject, sampled: CalibrationSample, pairing: str) -> Reference:
    """Raises Undefined where too few items could be used."""
    samples = sampled.samples[pairing]
    sides = {
        side: _scored(subject, [getattr(sample, side) for sample in samples], pairing)
        for side in ("unrelated", "matching")
    }
    if len(sides["unrelated"]) < FEWEST or (pairing in PAIRS and len(sides["matching"]) < FEWEST):
        raise Undefined(
            f"{_noun(pairing, len(sides['matching']), len(sides['unrelated']))} could be used, and a "
            f"calibration needs {FEWEST}"
        )
    tasks = list(dict.fromkeys(sample.task for sample in samples))
    return calibrated.measured(
        model=subject.row.key,
        pairing=pairing,
        source=", ".join(tasks),
        synthetic=not sampled.synthetic.isdisjoint(tasks),
        **sides,
    )


def _scored(subject: LoadedSubject, parts: Sequence[tuple[Column, ...]], pairing: str) -> NDArray[np.float64]:
    """The scores of all parts; what cannot be used is left out, also where it shows only now."""
    results = []
    for columns in parts:
        while columns:
            lost = np.array(sorted(subject.bad), dtype="S32")
            good = np.flatnonzero(~np.any([np.isin(column.keys, lost) for column in columns], axis=0))
            try:
                results.append(
                    scores(subject, [column.take(good) for column in columns], pairing=pairing)
                    if len(good)
                    else np.zeros(0)
                )
                break
            except BadItem as error:
                if not error.key or error.key in subject.bad:
                    raise
                subject.bad[error.key] = error.problem
    return np.concatenate([np.zeros(0), *results])


def _noun(pairing: str, alike: int, other: int) -> str:
    if pairing in PAIRS:
        return f"{alike:,} matching and {other:,} unrelated pairs"
    return f"{other:,} reference images"


def line(outcome: CalibrationOutcome) -> str:
    """One outcome in words and numbers."""
    name = f"{outcome.model}, {outcome.pairing}" if outcome.pairing else outcome.model
    if outcome.stored is None:
        return f"{name}: {outcome.state}: {outcome.reason}"
    reference = outcome.stored.reference
    pairs = _noun(reference.pairing, reference.n_matching, reference.n_unrelated)
    middle = [f"{side[len(side) // 2]:.4g}" for side in (reference.matching, reference.unrelated) if len(side)]
    separation = f", separation {reference.separation:.3f}" if reference.separation is not None else ""
    known = " (stored already)" if outcome.state == "stored" else ""
    return f"{name}: {pairs}, median {' against '.join(middle)}{separation}{known}"
