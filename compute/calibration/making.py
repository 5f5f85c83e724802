"""Scores the drawn pairs with models, and keeps what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compute import versions
from compute.analysis import calibrated
from compute.analysis import domain as domains
from compute.analysis.calibrated import PAIRS, Reference
from compute.analysis.domain import Domain, image_facts, text_facts
from compute.calibration import drawn, files, photographs, sentences
from compute.calibration.files import ALONE, StoredCalibration
from compute.calibration.pairs import FEWEST, PROCEDURES, PairSample, count, material
from compute.catalog.own.suite import SYNTHETIC_BENCHMARKS
from compute.content import decoding, items
from compute.content.items import Column
from compute.engine import run_folders
from compute.engine.run import code, failure
from compute.features import encoding
from compute.models import ADAPTERS, abilities
from compute.procedures import choice
from compute.procedures.shared.similarity import symmetric
from compute.types import BadInput, BadItem, CannotDo, LikenessError, Model, Task, Undefined

if TYPE_CHECKING:
    from compute.engine.workspace import Bench
    from compute.features.subject import Subject

BESIDE = ("code", "versions")  # recorded, but no part of what identifies a calibration
VERSION = 2  # raise it when the same items and seed give other scores or another domain
# Domains whose items are on every machine.
MADE = {"drawn": drawn, "photographs": photographs, "sentences": sentences}
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
    """Sampled pairs and images of one domain, and what it takes to sample them again."""

    domain: str  # drawn, photographs, sentences, or tasks: of a suite or own data
    samples: Mapping[str, Sequence[PairSample]]  # by pairing
    wholes: Mapping[str, Column]  # by modality, one item of each scene
    tasks: Mapping[str, Mapping[str, Any]]  # where the items come from, by key: data and revisions, or versions
    synthetic: frozenset[str]  # those of the keys whose items a program draws
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
        report(f"Gives neither pairs nor single images: {', '.join(none)}")
    for pairing, some in list(samples.items()):
        alike, other = count(some)
        if other < FEWEST or (pairing in PAIRS and alike < FEWEST):
            report(f"{pairing} is skipped: {_noun(pairing, alike, other)}, and a calibration needs {FEWEST}")
            del samples[pairing]
    if not samples:
        raise BadInput(
            "These tasks give too few pairs and single images. Tasks whose procedure is one of "
            f"{', '.join(PROCEDURES)} have some: likeness list tasks"
        )
    return CalibrationSample(
        domain="tasks",
        samples=samples,
        wholes=wholes(samples),
        most=most,
        seed=seed,
        synthetic=frozenset(task.key for task in tasks if task.benchmark in SYNTHETIC_BENCHMARKS),
        tasks={
            task.key: {"dataset": task.dataset, "revision": task.revision, "split": task.split, **bench.identity(task)}
            for task in tasks
            if task.key in used
        },
    )


def made(domain: str, *, most: int, seed: int) -> CalibrationSample:
    """The sample of one of MADE, for which nothing is downloaded. Raises NotHere without scikit-image."""
    module = MADE[domain]
    samples, whole = drawn.samples(scenes=most, seed=seed) if module is drawn else module.samples(seed=seed)
    return CalibrationSample(
        domain=domain,
        samples=samples,
        wholes=whole,
        tasks={module.SOURCE: module.SETTINGS},
        synthetic=frozenset({module.SOURCE} if module is drawn else ()),
        most=most,
        seed=seed,
    )


def wholes(samples: Mapping[str, Sequence[PairSample]]) -> dict[str, Column]:
    """By modality, the first item of each scene, of the pairing with the most scenes."""
    out: dict[str, Column] = {}
    for some in samples.values():
        for modality in ("image", "text"):
            parts = []
            for sample in some:
                sides = [side for side in (sample.matching or sample.unrelated) if side.modality == modality]
                if sides:
                    parts.append(sides[0].take(np.unique(sample.scenes, return_index=True)[1]))
            if parts and sum(map(len, parts)) > len(out.get(modality, ())):
                out[modality] = items.joined(parts)
    return out


def make(
    rows: Sequence[Model],
    sampled: CalibrationSample,
    *,
    bench: Bench,
    report: Callable[[str], None] = lambda line: None,
) -> list[CalibrationOutcome]:
    """Calibrates every model for every pairing that was drawn and that it can score; what is stored already stays.

    Items that cannot be used are skipped. What was encoded is stored, so that a run that was stopped goes on.
    """
    outcomes = []
    for row in rows:
        for outcome in _model(row, sampled, bench):
            outcomes.append(outcome)
            report(line(outcome))
        encoding.release()
    return outcomes


def _model(row: Model, sampled: CalibrationSample, bench: Bench) -> Iterable[CalibrationOutcome]:
    results, again = bench.settings.results, bench.settings.again
    pairings = [
        pairing
        for pairing in sampled.samples
        if (abilities.scores(row, pairing) if pairing in PAIRS else abilities.scores_alone(row))
    ]
    outcome = partial(CalibrationOutcome, model=row.key)
    if not row.adapter or not pairings:
        why = abilities.not_computable(row) or "it scores none of these pairings"
        yield outcome(pairing="", state="skipped", reason=why)
        return
    try:
        bench.fetch(row)
        subject = bench.subject(row)
        settings = {pairing: _settings(subject, sampled, pairing) for pairing in pairings}
        place = partial(files.path, results, model=row.key, domain=sampled.domain)
        earlier = {} if again else {each: _same(place(pairing=each), settings[each]) for each in pairings}
        missing = [sample for each in pairings if not earlier.get(each) for sample in sampled.samples[each]]
        subject.prepare([column for sample in missing for column in (*sample.matching, *sample.unrelated)])
        sides = {side for pairing in pairings for side in (pairing.split("-") if pairing in PAIRS else ("image",))}
        for modality in sorted(sides & set(sampled.wholes)):
            held = {**_settings(subject, sampled, ""), "domains": domains.VERSION}
            if again or not _same(place(pairing=files.REGION + modality), held):
                _write(results, domain_of(subject, sampled, modality), subject, held)
    except Undefined as error:
        yield outcome(pairing="", state="skipped", reason=str(error))
        return
    except Exception as error:
        yield outcome(pairing="", state="failed", reason=failure(error))
        return
    for pairing in pairings:
        if stored := earlier.get(pairing):
            yield outcome(pairing=pairing, state="stored", stored=stored)
            continue
        try:
            stored = _write(results, _reference(subject, sampled, pairing), subject, settings[pairing])
            yield outcome(pairing=pairing, state="made", stored=stored)
        except (CannotDo, Undefined) as error:
            yield outcome(pairing=pairing, state="skipped", reason=str(error))
        except Exception as error:
            yield outcome(pairing=pairing, state="failed", reason=failure(error))


def _settings(subject: Subject, sampled: CalibrationSample, pairing: str) -> dict[str, Any]:
    used = {sample.task for sample in sampled.samples[pairing]} if pairing else set(sampled.tasks)
    return {
        "model": dict(subject.identity),
        "tasks": {key: sampled.tasks[key] for key in sorted(used)},
        "domain": sampled.domain,
        "pairs": sampled.most,
        "seed": sampled.seed,
        "version": VERSION,
        **({"options": QUALITY} if pairing in ALONE else {}),
    }


def _same(path: Path, settings: Mapping[str, Any]) -> StoredCalibration | None:
    """What is stored there, if it is of the same settings; a damaged file is made again."""
    try:
        stored = files.read(path)
    except LikenessError:
        return None
    before = {name: value for name, value in stored.settings.items() if name not in BESIDE}
    return stored if run_folders.canonical(before) == run_folders.canonical(settings) else None


def _write(
    results: Path, content: Reference | Domain, subject: Subject, settings: Mapping[str, Any]
) -> StoredCalibration:
    beside = {"code": code(), "versions": versions.exact(subject.identity)}
    return files.write(results, content, settings={**settings, **beside})


def _reference(subject: Subject, sampled: CalibrationSample, pairing: str) -> Reference:
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
    # Whole scenes that the usable pairs or images come from; alternatives of one row are of one scene.
    scenes = [
        {
            (sample.task, scene)
            for scene in sample.scenes[_usable(subject, *(sample.matching or sample.unrelated))].tolist()
        }
        for sample in samples
    ]
    return calibrated.measured(
        model=subject.row.key,
        pairing=pairing,
        source=", ".join(tasks),
        synthetic=not sampled.synthetic.isdisjoint(tasks),
        domain=sampled.domain,
        scenes=sum(map(len, scenes)) if pairing in PAIRS else len(set().union(*scenes)),
        **sides,
    )


def _usable(subject: Subject, *columns: Column) -> NDArray[np.bool_]:
    """Which rows are of items that can be used."""
    lost = np.array(sorted(subject.bad), dtype="S32")
    return ~np.any([np.isin(column.keys, lost) for column in columns], axis=0)


def domain_of(subject: Subject, sampled: CalibrationSample, modality: str) -> Domain:
    """The subject's domain: of its vectors where it is an encoder with weights, else of facts.

    Raises Undefined for too few scenes.
    """
    column = sampled.wholes[modality]
    column = column.take(np.flatnonzero(_usable(subject, column)))
    names = {"model": subject.row.key, "name": sampled.domain, "modality": modality}
    family = ADAPTERS.get(subject.row.adapter)
    learned = family is None or bool(family.weights or family.needs)
    if learned and subject.can(f"embed_{modality}"):
        subject.prepare([column])
        vectors = subject.embed(column)
        if modality == "text":
            texts = [str(column.read(row)) for row in range(len(column))]
            return domains.of_vectors(vectors, texts=texts, **names)
        return domains.of_vectors(vectors, facts=_facts(subject, column)[:, -len(domains.KIND) :], **names)
    compared = [
        part
        for pairing in sampled.samples
        if pairing in PAIRS
        for sample in sampled.samples[pairing]
        for part in (*sample.matching, *sample.unrelated)
        if part.modality == modality
    ]
    return domains.of_facts(_facts(subject, items.joined([column, *compared])), scenes=len(column), **names)


def _facts(subject: Subject, column: Column) -> NDArray[np.float64]:
    """(n, k) the facts of a column's different items that can be used."""
    rows = np.unique(column.keys, return_index=True)[1]
    contents = map(column.read, rows[_usable(subject, column.take(rows))].tolist())
    if column.modality == "text":
        return np.stack([text_facts(content) for content in contents])
    return np.stack([image_facts(np.asarray(decoding.decode(content))) for content in contents])


def _scored(subject: Subject, parts: Sequence[tuple[Column, ...]], pairing: str) -> NDArray[np.float64]:
    """The scores of all parts; what cannot be used is skipped, also where it shows only now."""
    results = []
    for columns in parts:
        while columns:
            good = np.flatnonzero(_usable(subject, *columns))
            try:
                used = [column.take(good) for column in columns]
                if len(good) and pairing in PAIRS:
                    results.append(symmetric(subject, *used))
                elif len(good):
                    results.append(choice.judged(subject, *used, question=pairing, **QUALITY))
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
    domain = f" ({outcome.stored.content.domain})" if outcome.stored else ""
    name = f"{outcome.model}, {outcome.pairing}{domain}" if outcome.pairing else outcome.model
    if outcome.stored is None:
        return f"{name}: {outcome.state}: {outcome.reason}"
    reference = outcome.stored.content
    pairs = _noun(reference.pairing, reference.n_matching, reference.n_unrelated)
    middle = [f"{side[len(side) // 2]:.4g}" for side in (reference.matching, reference.unrelated) if len(side)]
    separation = f", separation {reference.separation:.3f}" if reference.separation is not None else ""
    known = " (stored already)" if outcome.state == "stored" else ""
    scenes = f" of {reference.scenes:,} scenes"
    return f"{name}: {pairs}{scenes}, median {' against '.join(middle)}{separation}{known}"
