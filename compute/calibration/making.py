"""Scores the pairs of the sets with models, and keeps what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from compute import versions
from compute.analysis import calibrated
from compute.analysis.calibrated import COLOURS, PAIRS, SCENES, of_vectors
from compute.arrays import Floats
from compute.calibration import drawn, files, photographs, sentences
from compute.calibration.files import ALONE, Stored
from compute.calibration.samples import Material, PairSample
from compute.engine import run_folders
from compute.engine.run import code, failure
from compute.features import encoding
from compute.models import model_rows
from compute.procedures import choice
from compute.procedures.shared.similarity import symmetric
from compute.types import CannotDo, LikenessError, Model, Undefined

if TYPE_CHECKING:
    from compute.engine.workspace import Bench
    from compute.features.subject import Subject

BESIDE = ("code", "versions")  # recorded, but no part of what identifies a calibration
VERSION = 2  # raise it when the same items and seed give other scores
SETS = {"drawn": drawn, "photographs": photographs, "sentences": sentences}
QUALITY = {name: values[0] for name, values in choice.PROCEDURE.options.items()}  # how single images are scored


class CalibrationOutcome(NamedTuple):
    """What became of one model, pairing and set; without a pairing, of the model as a whole."""

    model: str
    state: str  # as in engine.run.Outcome
    pairing: str = ""
    stored: Stored | None = None
    reason: str = ""

    @property
    def line(self) -> str:
        """In words and numbers."""
        name = f"{self.model}, {self.pairing}" if self.pairing else self.model
        if self.stored is None:
            return f"{name}: {self.state}: {self.reason}"
        of, known = self.stored.content, " (stored already)" if self.state == "stored" else ""
        pairs = f"{of.n_matching:,} matching and {of.n_unrelated:,} unrelated pairs"
        if of.alone:
            pairs = f"{of.n_unrelated:,} reference images"
        return f"{name} ({of.domain}): {pairs} of {of.scenes:,} scenes{known}"


def make(
    rows: Sequence[Model],
    sets: Sequence[str],
    *,
    pairs: int,
    seed: int,
    bench: Bench,
    report: Callable[[str], None] = lambda line: None,
) -> list[CalibrationOutcome]:
    """Calibrates every model for every pairing of the sets that it can score; what is stored already stays.

    What was encoded is stored, so that a run that was stopped goes on. Raises NotHere without scikit-image.
    """
    material = {name: SETS[name].material(scenes=pairs, seed=seed) for name in sets}
    outcomes = []
    for row in rows:
        try:
            for outcome in _model(row, material, {"pairs": pairs, "seed": seed, "version": VERSION}, bench):
                outcomes.append(outcome)
                report(outcome.line)
        except Exception as error:
            outcomes.append(CalibrationOutcome(row.key, "failed", reason=failure(error)))
            report(outcomes[-1].line)
        encoding.release()
    return outcomes


def _model(
    row: Model, material: Mapping[str, Material], drawing: Mapping[str, Any], bench: Bench
) -> Iterator[CalibrationOutcome]:
    wanted = {
        name: [
            pairing
            for pairing in of_set.samples
            if row.adapter
            and (model_rows.scores(row, pairing) if pairing in PAIRS else model_rows.embeds(row, "image-text"))
        ]
        for name, of_set in material.items()
    }
    if not any(wanted.values()):
        why = model_rows.not_computable(row) or "it scores none of these pairings"
        yield CalibrationOutcome(row.key, "skipped", reason=why)
        return
    bench.fetch(row)
    subject, results = bench.subject(row), bench.settings.results
    beside = {"code": code(), "versions": versions.exact(subject.identity)}
    for name, pairings in wanted.items():
        source, made = SETS[name].SOURCE, False
        settings = {"model": dict(subject.identity), "tasks": {source: SETS[name].SETTINGS}, "domain": name, **drawing}
        for pairing in pairings:
            own = {**settings, "options": QUALITY} if pairing in ALONE else settings
            place = files.path(results, model=row.key, domain=name, pairing=pairing)
            if not bench.settings.again and (stored := _same(place, own)):
                yield CalibrationOutcome(row.key, "stored", pairing, stored)
                continue
            sample = material[name].samples[pairing]
            try:
                reference = calibrated.measured(
                    model=row.key,
                    pairing=pairing,
                    source=source,
                    synthetic=name == "drawn",
                    domain=name,
                    scenes=len(np.unique(sample.scenes)),
                    **_scores(subject, sample, pairing),
                )
            except (CannotDo, Undefined) as error:
                yield CalibrationOutcome(row.key, "skipped", pairing, reason=str(error))
                continue
            made = True
            yield CalibrationOutcome(
                row.key, "made", pairing, files.write(results, reference, settings={**own, **beside})
            )
        for modality in model_rows.learned_vectors(row) if row.key != COLOURS else ("image",):
            column = material[name].wholes.get(modality, ())
            place = files.path(results, model=row.key, domain=name, pairing=files.REGION + modality)
            if len(column) >= SCENES and (made or not place.exists()):  # a stopped run may have left it out
                subject.prepare([column])
                content = of_vectors(subject.embed(column), model=row.key, name=name, modality=modality)
                files.write(results, content, settings={**settings, **beside})


def _same(path: Path, settings: Mapping[str, Any]) -> Stored | None:
    """What is stored there, if it is of the same settings; a damaged file is made again."""
    try:
        stored = files.read(path)
    except LikenessError:
        return None
    before = {name: value for name, value in stored.settings.items() if name not in BESIDE}
    return stored if run_folders.canonical(before) == run_folders.canonical(settings) else None


def _scores(subject: Subject, sample: PairSample, pairing: str) -> dict[str, Floats]:
    """The scores of both sides."""
    subject.prepare([*sample.matching, *sample.unrelated])
    score = partial(symmetric, subject)
    if pairing in ALONE:
        score = partial(choice.judged, subject, question=pairing, **QUALITY)
    return {side: score(*getattr(sample, side)) for side in ("matching", "unrelated") if getattr(sample, side)}
