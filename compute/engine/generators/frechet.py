"""A comparison of generators with a reference, and the features of all sets that its metrics take."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from compute.catalog import known
from compute.content import items
from compute.content.items import Column
from compute.engine.generators import backbones
from compute.engine.generators.backbones import PREFERENCE, Backbones
from compute.engine.generators.set_metrics import SetFeatures
from compute.engine.generators.table import GeneratorTable
from compute.engine.workspace import Bench
from compute.features.subject import Subject
from compute.metrics.distribution import reference_free
from compute.metrics.distribution.moments import blocks
from compute.models.encoders import inception
from compute.progress import duration
from compute.tasks.generators.human import HumanTable
from compute.tasks.generators.pairing import PromptedSets


@dataclass(frozen=True, kw_only=True)
class GeneratorComparison:
    """What a comparison was made of and gave, ready to be stored."""

    sets: PromptedSets  # without what could not be decoded
    chosen: Backbones
    features: SetFeatures
    figures: pd.DataFrame
    settings: Mapping[str, Any]  # of the backbones, by key
    saved: Mapping[str, Any] = field(default_factory=dict)  # by subset, the SavedReference that stood for the images
    seconds: float = 0.0

    @property
    def contents(self) -> str:
        """A digest of the reference's images."""
        reference = self.sets.reference
        if reference is None:
            return next(iter(self.saved.values())).contents
        return hashlib.blake2b(reference.images.keys.tobytes(), digest_size=16).hexdigest()

    def table(self, human: HumanTable | None = None) -> GeneratorTable:
        """The scores, with people's ratings next to them. Raises as `GeneratorTable.beside`."""
        table = GeneratorTable(figures=self.figures, warnings=self.sets.warnings)
        if human is None:
            return table
        return table.beside(human, scores=self.features.scores if self.features.prompts else {})


def encode(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    bench: Bench,
    saved: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> tuple[SetFeatures, dict[str, Mapping[str, Any]], PromptedSets]:
    """The features of all sets, the settings that made them by backbone, and the sets without what could not be
    decoded.

    One backbone is in memory at a time. What is finished is stored, so that an interrupted comparison resumes. Raises
    NotHere for weights that are not here, BadItem for an image that cannot be decoded unless the bench skips it, and
    BadInput for a backbone with other settings than in `saved`.
    """
    catalog = known()
    rows = {key: catalog.model(key) for key in chosen.keys}
    if bench.settings.offline:
        backbones.check_present(list(rows.values()))
    scorers = chosen.scorers
    of_images = {*chosen.image, *chosen.cfred, chosen.cmmd, chosen.classes, *scorers.values()}
    subjects: dict[str, Subject] = {}
    bad: dict[bytes, str] = {}
    for at, (key, row) in enumerate(rows.items(), start=1):
        subject = subjects[key] = bench.subject(row)
        bench.fetch(row)
        columns = [part.images for part in sets.sets] if key in of_images else []
        if key in scorers.values() and subject.can("compare"):
            subject.prepare([], compared=columns)
            _compared(subject, sets)
        else:
            if sets.prompts is not None:
                columns += [sets.prompts] if key in (*chosen.text, *PREFERENCE.values()) else []
                columns += [_depicted(sets)] if key == chosen.clip else []
            subject.prepare(columns)
        for reference in (saved or {}).values():
            reference.check(key, subject.settings)
        bad |= subject.bad
        subject.__dict__.pop("_model", None)
        counts = "; ".join(f"{done.encoded:,} encoded in {duration(done.seconds)}" for done in subject.done)
        report(f"{key} ({at} of {len(rows)}): {counts or 'nothing to encode, all features are stored'}")
    left = sets.without(bad)
    scores = {
        metric: _scored(metric, subjects[key], left) for metric, key in scorers.items() if metric in chosen.metrics
    }
    logits = {}
    if chosen.classes and "inception_score" in chosen.metrics:
        # From the features that the classifier's last layer takes: no image is shown a second time.
        for part in left.generated:
            vectors = subjects[chosen.classes].embed_lazily(part.images)
            classified = [inception.class_logits(vectors[at]) for at in blocks(len(vectors), width=vectors.shape[1])]
            logits[part.name] = np.concatenate(classified)
    encoded = SetFeatures(
        generated=tuple(part.name for part in left.generated),
        prompts=left.texts,
        images={
            key: {part.name: subjects[key].embed_lazily(part.images) for part in left.sets}
            for key in dict.fromkeys((chosen.cmmd, *chosen.image, *chosen.cfred))
            if key in subjects
        },
        texts={key: subjects[key].embed_lazily(left.prompts) for key in chosen.text if key in subjects},
        scores=scores,
        logits=logits,
    )
    return encoded, {key: subject.settings for key, subject in subjects.items()}, left


def _scored(metric: str, subject: Subject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """The scores of single images (n,) by generator."""
    if metric != "clipscore" and subject.can("compare"):
        return _compared(subject, sets)
    score, prompts = reference_free.preference_score, sets.prompts
    if metric == "clipscore":
        score, prompts = reference_free.clipscore, _depicted(sets)
    text = subject.embed_lazily(prompts)
    return {part.name: score(image=subject.embed_lazily(part.images), text=text).scores for part in sets.generated}


def _compared(subject: Subject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """Scores of a model that compares by itself: each image with its prompt, or images alone."""
    alone = "text" not in subject.row.modalities
    return {part.name: subject.compare(None if alone else sets.prompts, part.images) for part in sets.generated}


def _depicted(sets: PromptedSets) -> Column:
    return items.texts([reference_free.CLIPSCORE_PREFIX + text for text in sets.texts], of="prompts of CLIPScore")
