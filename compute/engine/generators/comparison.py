"""The whole way of a comparison: sets of images and prompts in, every metric of every generator out."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from compute.catalog import Catalog
from compute.engine.bench import Bench
from compute.engine.generators import features, references
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.figures import figures
from compute.engine.generators.record import DISTANCE, GeneratorFigure
from compute.metrics.distribution.references import SavedReference
from compute.tasks.generators.pairing import PromptedSets
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class GeneratorComparison:
    """What a comparison was made of and gave, ready to be stored."""

    name: str  # of the suite
    sets: PromptedSets  # without what could not be decoded
    chosen: Backbones
    features: SetFeatures
    figures: Sequence[GeneratorFigure]
    settings: Mapping[str, Any]  # of the backbones, by key
    file: Path  # the prompts, or the reference
    saved: Mapping[str, SavedReference] = field(default_factory=dict)  # stand for the reference's images
    seconds: float = 0.0

    @cached_property
    def prompt_values(self) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Values of single images by kind and generator, (n,) each, of the kinds that all generators have; empty where
        nothing is paired."""
        if self.sets.prompts is None:
            return {}
        names = [part.name for part in self.sets.generated]
        distances = {}
        if self.features.images and self.sets.reference is not None:
            distances[DISTANCE] = {name: self.features.paired_distances(name) for name in names}
        return distances | {kind: of for kind, of in self.features.scores.items() if set(names) <= set(of)}

    @property
    def n(self) -> int:
        """The prompts, or the reference's images where nothing is paired."""
        if self.sets.prompts is not None:
            return len(self.sets.ids)
        return len(self.sets.reference) if self.sets.reference else next(iter(self.saved.values())).n

    @property
    def reference(self) -> str:
        """A digest of the reference's images."""
        if self.sets.reference is None:
            return next(iter(self.saved.values())).contents
        return hashlib.blake2b(self.sets.reference.images.keys.tobytes(), digest_size=16).hexdigest()

    @property
    def digest(self) -> str:
        """Of what makes comparisons comparable: the reference's images, the prompts in their order, and the features
        that each metric is ranked on, so that a column of the board never holds two kinds."""
        digest = hashlib.blake2b(self.reference.encode(), digest_size=16)
        if self.sets.prompts is not None:
            digest.update(self.sets.prompts.keys.tobytes())
        first = self.chosen
        ranked = (first.image[:1], first.cfred[:1], first.text[:1], first.clip, first.cmmd, first.classes)
        digest.update(json.dumps(ranked).encode())
        return digest.hexdigest()


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
) -> GeneratorComparison:
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
    encoded, settings, left = features.encode(
        sets, chosen=needed, catalog=catalog, bench=bench, saved=saved, offline=offline, report=report
    )
    return GeneratorComparison(
        name=name,
        sets=left,
        chosen=chosen,
        features=encoded,
        figures=tuple(figures(encoded, chosen=chosen, intervals=intervals)),
        settings=settings,
        file=file,
        saved=saved or {},
        seconds=time.perf_counter() - started,
    )
