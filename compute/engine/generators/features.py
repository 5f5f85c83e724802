"""Features of all sets: every distinct image and prompt once a backbone, from the store where it has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from compute.arrays import LazyRows
from compute.catalog import Catalog
from compute.content import items
from compute.content.items import Column
from compute.engine.bench import Bench
from compute.engine.generators import backbones, references
from compute.engine.generators.backbones import PREFERENCE, Backbones
from compute.features.subject import LoadedSubject
from compute.metrics.distribution import means
from compute.metrics.distribution.features import blocks
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import SavedReference
from compute.models.encoders import inception
from compute.progress import duration
from compute.tasks.generators.pairing import REFERENCE, PromptedSets
from compute.types import Undefined


@dataclass(frozen=True, kw_only=True)
class SetFeatures:
    """What the metrics take. Rows of all arrays go with the pairs, or with a set's images where nothing is paired.

    `images[backbone][set]` (n, d) and `texts[backbone]` (n, p) are features, which may stay on disk (LazyRows, memory
    maps); `scores[metric][set]` (n,) one number an image, higher is better; `logits[set]` (n, classes) a classifier's
    answers. `prompts` (n,) are the prompts' texts, empty where nothing is paired. `moments[subset]` are statistics of
    the reference where they stand for its images: then no metric has its features.
    """

    reference: str
    generated: tuple[str, ...]
    prompts: tuple[str, ...] = ()
    images: Mapping[str, Mapping[str, np.ndarray | LazyRows]] = field(default_factory=dict)
    texts: Mapping[str, np.ndarray | LazyRows] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    logits: Mapping[str, np.ndarray] = field(default_factory=dict)
    moments: Mapping[str, Moments | CrossMoments] = field(default_factory=dict)

    @cached_property
    def prompt_codes(self) -> np.ndarray:
        """(n,) which prompt each pair has, as numbers: as an array, texts would each take the room of the longest."""
        code = {text: at for at, text in enumerate(sorted(set(self.prompts)))}
        return np.array([code[text] for text in self.prompts], dtype=np.int64)

    def real(self, subset: str) -> np.ndarray | LazyRows | Moments | CrossMoments:
        """The reference under a backbone, or two: its features, or the moments that stand for them. Raises Undefined
        without either."""
        if not self.moments:
            return self.images[subset.partition(backbones.JOIN)[0]][self.reference]
        if subset not in self.moments:
            raise Undefined(f"the saved reference has no statistics under {subset.replace(backbones.JOIN, ' with ')}")
        return self.moments[subset]

    def real_rows(self, backbone: str) -> np.ndarray | LazyRows:
        """The reference's features under a backbone. Raises Undefined where its moments stand for them."""
        if self.moments:
            raise Undefined("single images are compared, and a saved reference holds moments alone: give its images")
        return self.images[backbone][self.reference]

    def count(self, generator: str) -> int:
        """The images of a generator."""
        return len(next(of[generator] for of in (*self.images.values(), *self.scores.values(), self.logits) if of))

    @property
    def distance_backbone(self) -> str:
        """The backbone of `paired_distances`: the last."""
        return list(self.images)[-1]

    def paired_distances(self, generator: str) -> np.ndarray:
        """(n,) squared distance of each image from the reference's of its prompt, over the last backbone: cFreD's where
        there is one. Their mean is what cFreD becomes where prompts are few."""
        sets = self.images[self.distance_backbone]
        real, generated = sets[self.reference], sets[generator]
        parts = blocks(len(real), width=real.shape[1])
        steps = (np.subtract(generated[part], real[part], dtype=np.float64) for part in parts)
        return np.concatenate([(step**2).sum(axis=1) for step in steps])


def encode(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    catalog: Catalog,
    bench: Bench,
    saved: Mapping[str, SavedReference] | None = None,
    offline: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> tuple[SetFeatures, dict[str, Mapping[str, Any]], PromptedSets]:
    """The features of all sets, the settings that made them by backbone, and the sets without what could not be
    decoded.

    `saved` are statistics by subset that stand for the reference's images. One backbone is in memory at a time. What is
    finished is stored, so that an interrupted comparison resumes. Raises NotHere for weights that are not here, BadItem
    for an image that cannot be decoded unless the bench skips it, BadInput for statistics of other settings.
    """
    saved = saved or {}
    rows = {key: catalog.model(key) for key in chosen.keys}
    if offline:
        backbones.check_present(list(rows.values()))
    subjects: dict[str, LoadedSubject] = {}
    bad: dict[bytes, str] = {}
    for at, (key, row) in enumerate(rows.items(), start=1):
        subject = subjects[key] = bench.subject(row)
        bench.fetch(row)
        _prepare(subject, sets, chosen=chosen)
        references.check(saved, key, subject.settings)
        bad |= subject.bad
        subject.__dict__.pop("_model", None)
        counts = "; ".join(f"{done.encoded:,} encoded in {duration(done.seconds)}" for done in subject.done)
        report(f"{key} ({at} of {len(rows)}): {counts or 'nothing to encode, all features are stored'}")
    left = sets.without(bad)
    settings = {key: subject.settings for key, subject in subjects.items()}
    return _collected(left, chosen=chosen, subjects=subjects, saved=saved), settings, left


def _prepare(subject: LoadedSubject, sets: PromptedSets, *, chosen: Backbones) -> None:
    key, scorers = subject.row.key, chosen.scorers
    images, texts = [], []
    if key in {*chosen.image, *chosen.cfred, chosen.cmmd, chosen.classes, *scorers.values()}:
        images = [part.images for part in sets.sets]
    if sets.prompts is not None:
        texts = [sets.prompts] if key in (*chosen.text, *PREFERENCE.values()) else []
        texts += [_depicted(sets)] if key == chosen.clip else []
    if key in scorers.values() and subject.can("compare"):
        subject.prepare([], compared=images)
        _compared(subject, sets)
    else:
        subject.prepare([*images, *texts])


def _compared(subject: LoadedSubject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """Scores of a model that compares by itself: each image with its prompt, or images alone."""
    alone = "text" not in subject.row.modalities
    if not alone and sets.prompts is None:
        return {}
    return {part.name: subject.compare(None if alone else sets.prompts, part.images) for part in sets.generated}


def _depicted(sets: PromptedSets) -> Column:
    return items.texts([means.CLIPSCORE_PREFIX + text for text in sets.texts], of="prompts of CLIPScore")


def _collected(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    subjects: Mapping[str, LoadedSubject],
    saved: Mapping[str, SavedReference],
) -> SetFeatures:
    images = {
        key: {part.name: subjects[key].embed_lazily(part.images) for part in sets.sets}
        for key in dict.fromkeys((chosen.cmmd, *chosen.image, *chosen.cfred))
        if key in subjects
    }
    texts, scores = {}, {}
    if sets.prompts is not None:
        texts = {key: subjects[key].embed_lazily(sets.prompts) for key in chosen.text if key in subjects}
    for metric, key in chosen.scorers.items():
        if metric not in chosen.metrics:
            continue
        subject = subjects[key]
        if metric != "clipscore" and subject.can("compare"):
            scores[metric] = _compared(subject, sets)
        elif sets.prompts is not None:
            score, prompts = means.preference_score, sets.prompts
            if metric == "clipscore":
                score, prompts = means.clipscore, _depicted(sets)
            text = subject.embed_lazily(prompts)
            scores[metric] = {
                part.name: score(image=subject.embed_lazily(part.images), text=text).scores for part in sets.generated
            }
    logits = {}
    if chosen.classes and "inception_score" in chosen.metrics:
        # From the features that the classifier's last layer takes: no image is shown a second time.
        for part in sets.generated:
            rows = subjects[chosen.classes].embed_lazily(part.images)
            classified = [inception.class_logits(rows[at]) for at in blocks(len(rows), width=rows.shape[1])]
            logits[part.name] = np.concatenate(classified)
    return SetFeatures(
        reference=REFERENCE if sets.reference is None else sets.reference.name,
        generated=tuple(part.name for part in sets.generated),
        prompts=sets.texts,
        images=images,
        texts=texts,
        scores={metric: of for metric, of in scores.items() if of},
        logits=logits,
        moments={key: each.moments for key, each in saved.items()},
    )
