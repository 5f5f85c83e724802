"""The whole way of a comparison: sets of images and prompts in, every metric of every generator out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compute import models
from compute.catalog import Catalog
from compute.engine.bench import Bench
from compute.engine.generators import backbones, features, references, stored
from compute.engine.generators import figures as computing
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.engine.generators.stored import GeneratorComparison
from compute.engine.run_folders import StoredRun
from compute.metrics.distribution.references import SavedReference
from compute.tasks.generators.pairing import PromptedSets
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class GeneratorResult:
    """Every figure, what to know about them all, and the comparison to store."""

    figures: tuple[GeneratorFigure, ...]
    warnings: tuple[str, ...]
    features: SetFeatures
    comparison: GeneratorComparison


def compare(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    catalog: Catalog,
    bench: Bench,
    name: str,
    file: Path,
    saved: Mapping[str, SavedReference] | None = None,
    offline: bool = False,
    intervals: bool = True,
    report: Callable[[str], None] = lambda line: None,
) -> GeneratorResult:
    """Encodes the sets with the backbones chosen and computes every metric; nothing but features is stored.

    `name` is what the suite is called, `file` what it was made from; `saved` are statistics by subset that stand for
    the reference's images. Raises NotHere for weights that are missing, BadItem for an image that cannot be decoded,
    BadInput, UnknownKey.
    """
    started = time.perf_counter()
    needed = references.narrowed(chosen, saved=saved) if saved else chosen
    needed = needed if sets.prompts is not None else needed.without_prompts()
    if not needed.keys:
        why = "the images have no prompts. Give --prompts"
        if saved and sets.prompts is not None:
            why = "a saved reference holds moments alone. Give the reference's images"
        raise BadInput(f"{', '.join(chosen.metrics)}: {why}, or other metrics")
    rows = {key: catalog.model(key) for key in needed.keys}
    backbones.check_present(list(rows.values()), offline=offline, is_downloaded=models.is_downloaded)
    encoded, subjects, left = features.encode(sets, chosen=needed, rows=rows, bench=bench, saved=saved)
    for key, subject in subjects.items():
        for done in subject.done:
            stored = f", {done.stored:,} were stored" if done.stored else ""
            report(f"{key}: {done.encoded:,} encoded in {done.seconds:.1f} s{stored}")
        if not subject.done:
            report(f"{key}: nothing to encode, all features are stored")
    figures = tuple(computing.figures(encoded, chosen=chosen, intervals=intervals))
    return GeneratorResult(
        figures=figures,
        warnings=left.warnings,
        features=encoded,
        comparison=GeneratorComparison(
            name=name,
            sets=left,
            chosen=chosen,
            features=encoded,
            figures=figures,
            settings={key: subject.settings for key, subject in subjects.items()},
            file=file,
            saved=saved or {},
            seconds=time.perf_counter() - started,
        ),
    )


def store(
    result: GeneratorResult, *, results: Path, human: Mapping[str, tuple[str, float]] | None = None
) -> tuple[str, Sequence[StoredRun]]:
    """Stores the comparison as runs, with people's ratings where there are any; the suite's key and the runs."""
    suite, runs = stored.store(replace(result.comparison, human=human), results=results)
    return suite.suite.key, runs
