"""The features of all sets that the metrics of generators take, and how images and prompts become them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from compute import models
from compute.arrays import LazyRows
from compute.catalog import known
from compute.content import items
from compute.content.items import Column
from compute.engine.generators.backbones import JOIN, PREFERENCE, Backbones
from compute.engine.workspace import Bench
from compute.features.subject import Subject
from compute.metrics.distribution import reference_free
from compute.metrics.distribution.moments import Moments, blocks
from compute.models.encoders import inception
from compute.progress import duration
from compute.tasks.image_sets import REFERENCE, PromptedSets
from compute.types import NotHere, Undefined

Features = np.ndarray | LazyRows


@dataclass(frozen=True, kw_only=True)
class SetFeatures:
    """What the metrics take. Rows of all arrays go with the pairs, or with a set's images where nothing is paired.

    `images[set][backbone]` (n, d), of REFERENCE and the generators, and `texts[backbone]` (n, p) are features, which
    may stay on disk (LazyRows, memory maps, mappings that read on access); `scores[metric][set]` (n,) one number an
    image, higher is better; `logits[set]` (n, classes) a classifier's answers. `prompts` (n,) are the prompts' texts,
    empty where nothing is paired. Where moments stand for the reference's images, `images[REFERENCE]` holds them by
    subset, and nothing else. `settings` say what made the features, by backbone.
    """

    generated: tuple[str, ...]
    prompts: tuple[str, ...] = ()
    images: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, Features] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    logits: Mapping[str, np.ndarray] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def prompt_codes(self) -> np.ndarray:
        """(n,) which prompt each pair has, as numbers: as an array, texts would each take the room of the longest."""
        return np.unique(np.array(self.prompts, object), return_inverse=True)[1]

    @cached_property
    def saved(self) -> bool:
        """Whether moments stand for the reference's images."""
        return any(isinstance(each, Moments) for each in self.images[REFERENCE].values())

    def sides(self, generator: str, subset: str) -> dict[str, Any]:
        """The reference and a generator under a backbone, as `real` and `generated`, or two, with the `condition`.

        Raises Undefined where moments stand for the reference and there are none of the subset.
        """
        image, _, text = subset.partition(JOIN)
        real = self.images[REFERENCE].get(subset if self.saved else image)
        if real is None:
            raise Undefined(f"the saved reference has no statistics under {subset.replace(JOIN, ' with ')}")
        sides = {"real": real, "generated": self.images[generator][image]}
        return sides | {"condition": self.texts[text]} if text else sides

    def count(self, generator: str) -> int:
        """The images of a generator."""
        others = (of[generator] for of in (*self.scores.values(), self.logits) if of)
        return len(next(iter((*self.images[generator].values(), *others))))

    def paired_distances(self, generator: str) -> np.ndarray:
        """(n,) squared distance of each image from the reference's of its prompt, by the last backbone: cFreD's where
        there is one. Their mean is what cFreD becomes where prompts are few."""
        backbone = list(self.images[REFERENCE])[-1]
        real, generated = (self.images[name][backbone] for name in (REFERENCE, generator))
        parts = blocks(len(real), width=real.shape[1])
        steps = (np.subtract(generated[part], real[part], dtype=np.float64) for part in parts)
        return np.concatenate([(step**2).sum(axis=1) for step in steps])


def encode(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    bench: Bench,
    saved: Mapping[str, Any],
    report: Callable[[str], None],
) -> tuple[SetFeatures, PromptedSets]:
    """The features of all sets, and the sets without what could not be decoded. `saved` are SavedReferences by subset,
    which stand for the reference's images.

    One backbone is in memory at a time. What is finished is stored, so that an interrupted comparison resumes. Raises
    NotHere for weights that are not here, BadItem for an image that cannot be decoded unless the bench skips it, and
    BadInput for a backbone with other settings than in `saved`.
    """
    catalog = known()
    rows = {key: catalog.model(key) for key in chosen.keys}
    absent = [key for key, row in rows.items() if not models.is_downloaded(row)] if bench.settings.offline else []
    if absent:
        raise NotHere(
            f"The weights of {', '.join(absent)} are not on this machine. Fetch them where there is a network: "
            f"likeness fetch --models {','.join(absent)}. Without it, --backbones tiny runs anywhere, and "
            "--metrics limits what is computed"
        )
    scorers = {metric: key for metric, key in chosen.scorers.items() if metric in chosen.metrics}
    of_images = {*chosen.image, *chosen.cfred, chosen.cmmd, chosen.classes, *scorers.values()}
    subjects: dict[str, Subject] = {}
    bad: dict[bytes, str] = {}
    for at, (key, row) in enumerate(rows.items(), start=1):
        subject = subjects[key] = bench.subject(row)
        bench.fetch(row)
        columns = [part.images for part in sets.sets] if key in of_images else []
        if sets.prompts is not None:
            columns += [sets.prompts] if key in (*chosen.text, *PREFERENCE.values()) else []
            columns += [_depicted(sets)] if key == scorers.get("clipscore") else []
        subject.prepare(columns)
        for reference in saved.values():
            reference.check(key, subject.settings)
        bad |= subject.bad
        subject.unload()
        counts = "; ".join(f"{done.encoded:,} encoded in {duration(done.seconds)}" for done in subject.done)
        report(f"{key} ({at} of {len(rows)}): {counts or 'nothing to encode, all features are stored'}")
    left = sets.without(bad)
    logits = {}
    if chosen.classes and "inception_score" in chosen.metrics:
        # From the features that the classifier's last layer takes: no image is shown a second time.
        for part in left.generated:
            vectors = subjects[chosen.classes].embed_lazily(part.images)
            classified = [inception.class_logits(vectors[at]) for at in blocks(len(vectors), width=vectors.shape[1])]
            logits[part.name] = np.concatenate(classified)
    encoders = [key for key in dict.fromkeys((chosen.cmmd, *chosen.image, *chosen.cfred)) if key in subjects]
    moments = {REFERENCE: {subset: each.moments for subset, each in saved.items()}}
    images = {part.name: {key: subjects[key].embed_lazily(part.images) for key in encoders} for part in left.sets}
    features = SetFeatures(
        generated=tuple(part.name for part in left.generated),
        prompts=left.texts,
        images=moments | images,
        texts={key: subjects[key].embed_lazily(left.prompts) for key in chosen.text if key in subjects},
        scores={metric: _scored(metric, subjects[key], left) for metric, key in scorers.items()},
        logits=logits,
        settings={key: subject.settings for key, subject in subjects.items()},
    )
    return features, left


def _scored(metric: str, subject: Subject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """The scores of single images (n,) by generator."""
    depicted = metric == "clipscore"
    score = reference_free.clipscore if depicted else reference_free.preference_score
    text = subject.embed_lazily(_depicted(sets) if depicted else sets.prompts)
    return {part.name: score(image=subject.embed_lazily(part.images), text=text).scores for part in sets.generated}


def _depicted(sets: PromptedSets) -> Column:
    return items.texts([reference_free.CLIPSCORE_PREFIX + text for text in sets.texts], of="prompts of CLIPScore")
