"""Features of all sets: every distinct image and prompt once a backbone, from the store where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from compute.arrays import LazyRows
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
from compute.tasks.generators.pairing import REFERENCE, PromptedSets
from compute.types import Model, NotHere, Undefined


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
    scored_by: Mapping[str, str] = field(default_factory=dict)  # metric of `scores` -> backbone
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
        known = (*self.images.values(), *self.scores.values(), self.logits)
        return len(next(of[generator] for of in known if generator in of))

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
    rows: Mapping[str, Model],
    bench: Bench,
    saved: Mapping[str, SavedReference] | None = None,
) -> tuple[SetFeatures, dict[str, LoadedSubject], PromptedSets]:
    """The features of all sets, the subjects that made them, and the sets without what could not be decoded.

    `saved` are statistics by subset that stand for the reference's images. One backbone is in memory at a time. What is
    finished is stored, so that an interrupted comparison resumes. Raises NotHere for weights that are not here, BadItem
    for an image that cannot be decoded unless the bench skips it, BadInput for statistics of other settings.
    """
    saved = saved or {}
    columns = [part.images for part in sets.sets]
    subjects: dict[str, LoadedSubject] = {}
    bad: dict[bytes, str] = {}
    for key in chosen.keys:
        subject = subjects[key] = bench.subject(rows[key])
        bench.fetch(rows[key])
        references.check(saved, key, subject.identity)
        try:
            _prepare(subject, sets, columns, chosen=chosen)
        except NotHere as error:
            raise NotHere(f"{error}. {backbones.absent([key])}") from error
        references.check(saved, key, subject.settings)
        bad |= subject.bad
        subject.__dict__.pop("_model", None)
    left = sets.without(bad)
    return _collected(left, chosen=chosen, subjects=subjects, saved=saved), subjects, left


def _prepare(subject: LoadedSubject, sets: PromptedSets, columns: list[Column], *, chosen: Backbones) -> None:
    key = subject.row.key
    texts = []
    if sets.prompts is not None and subject.can("embed_text"):
        if key in chosen.text or key in PREFERENCE.values():
            texts.append(sets.prompts)
        if key == chosen.clip:
            texts.append(_depicted(sets))
    images = columns if subject.can("embed_image") and not _compares(subject) else []
    subject.prepare([*images, *texts], compared=[] if images else columns)
    if _compares(subject):
        _compared(subject, sets)


def _compares(subject: LoadedSubject) -> bool:
    """Whether a metric of preference is the model's own comparison, not a cosine."""
    return subject.row.key in PREFERENCE.values() and subject.can("compare")


def _compared(subject: LoadedSubject, sets: PromptedSets) -> dict[str, np.ndarray]:
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
    metrics = set(chosen.metrics)
    images = {
        key: {part.name: subjects[key].embed_lazily(part.images) for part in sets.sets}
        for key in dict.fromkeys((chosen.cmmd, *chosen.image, *chosen.cfred))
        if key in subjects and subjects[key].can("embed_image")
    }
    texts, scores = {}, {}
    if sets.prompts is not None:
        texts = {key: subjects[key].embed_lazily(sets.prompts) for key in chosen.text if key in subjects}
        if "clipscore" in metrics and chosen.clip:
            subject = subjects[chosen.clip]
            depicted = subject.embed_lazily(_depicted(sets))
            scores["clipscore"] = {
                part.name: means.clipscore(image=subject.embed_lazily(part.images), text=depicted).scores
                for part in sets.generated
            }
    for metric in chosen.preference:
        if metric not in metrics:
            continue
        subject = subjects[PREFERENCE[metric]]
        if _compares(subject):
            scores[metric] = _compared(subject, sets)
        elif sets.prompts is not None:
            prompts = subject.embed_lazily(sets.prompts)
            scores[metric] = {
                part.name: means.preference_score(image=subject.embed_lazily(part.images), text=prompts).scores
                for part in sets.generated
            }
    return SetFeatures(
        reference=REFERENCE if sets.reference is None else sets.reference.name,
        generated=tuple(part.name for part in sets.generated),
        prompts=sets.texts,
        images=images,
        texts=texts,
        scores={metric: of for metric, of in scores.items() if of},
        scored_by={"clipscore": chosen.clip, **PREFERENCE},
        logits=_logits(sets, chosen=chosen, subjects=subjects) if "inception_score" in metrics else {},
        moments={key: each.moments for key, each in saved.items()},
    )


def _logits(sets: PromptedSets, *, chosen: Backbones, subjects: Mapping[str, LoadedSubject]) -> dict[str, np.ndarray]:
    """The classifier's answers, from the features that its last layer takes: no image is shown a second time."""
    if not chosen.classes:
        return {}
    subject = subjects[chosen.classes]
    rows = {part.name: subject.embed_lazily(part.images) for part in sets.generated}
    return {
        name: np.concatenate([inception.class_logits(of[part]) for part in blocks(len(of), width=of.shape[1])])
        for name, of in rows.items()
    }
