"""The backbone of each generator metric, and the encoding of images and prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from compute import models
from compute.arrays import LazyRows
from compute.catalog import known
from compute.content import items
from compute.content.items import Column
from compute.engine.workspace import Bench
from compute.features.subject import Subject
from compute.metrics.distribution import reference_free
from compute.metrics.distribution.moments import Moments, blocks
from compute.models.encoders import inception
from compute.options import names
from compute.progress import duration
from compute.tasks.image_sets import REFERENCE, PromptedSets
from compute.types import BadInput, CannotDo, NotHere, Undefined

INCEPTION = "inception-v3"
DINOV2_L = "timm/vit_large_patch14_dinov2.lvd142m-224"
DINOV2_G = "timm/vit_giant_patch14_dinov2.lvd142m"
CONVNEXT = "open_clip/convnext_base_w.laion2b_s13b_b82k_augreg"
CLIP_L = "openai/clip-vit-large-patch14-336"
CLIP_B = "openai/clip-vit-base-patch32"
TINY = "tiny"
PAPER = "paper"
# The Fréchet distance has a special name with these features only.
NAMED_DISTANCES = {INCEPTION: "fid", DINOV2_L: "fd_dinov2"}
PREFERENCE = {
    "hpsv2": "xswu/hpsv2",
    "pickscore": "yuvalkirstain/pickscore_v1",
}
DISTANCES = ("fid", "fd_dinov2", "fd")
# Metrics that compare an image with its prompt, or with the reference image of that prompt.
NEED_PROMPTS = ("cfred", "clipscore", "hpsv2", "pickscore")
NEIGHBOURS = ("precision", "recall", "density", "coverage")
OTHERS = ("cfred", *DISTANCES, "cmmd", "kid", "clipscore", *NEIGHBOURS, "vendi", "inception_score")
METRICS = (*OTHERS, *PREFERENCE)
USUAL = (
    *OTHERS,
    "imagereward",
    *PREFERENCE,
    "aesthetic",
)  # includes two metrics that were computed earlier, so that stored comparisons are found
JOIN = "|"  # between the image and the text backbone of cFreD in the name of a subset
DISTANCE = "distance"  # a prompt's value: the squared distance of its image's features from the reference's
Features = np.ndarray | LazyRows


@dataclass(frozen=True, kw_only=True)
class Backbones:
    """The backbones of a comparison, by catalogue key; if one is empty, metrics that need it are not computed.

    Each of `image` gives a Fréchet distance, KID, precision, recall, density, coverage and the Vendi score. Each of
    `cfred` with each of `text` gives a cFreD.
    """

    image: tuple[str, ...]
    cfred: tuple[str, ...]
    text: tuple[str, ...]
    clip: str = ""  # of CLIPScore
    cmmd: str = ""
    classes: str = ""  # of the Inception Score
    preference: tuple[str, ...] = ()  # metrics in PREFERENCE
    metrics: tuple[str, ...] = USUAL

    @property
    def by_metric(self) -> dict[str, list[str]]:
        """All metrics that these backbones give, chosen or not, with the subsets that each is computed on."""
        every = {
            **dict.fromkeys(("kid", *NEIGHBOURS, "vendi"), list(self.image)),
            **{name: [key for key in self.image if NAMED_DISTANCES.get(key, "fd") == name] for name in DISTANCES},
            "cfred": [subset(image, text) for text in self.text for image in self.cfred],
            **{"cmmd": [self.cmmd], "inception_score": [self.classes]},
            **{metric: [key] for metric, key in self.scorers.items()},
        }
        return {metric: keys for metric, keys in every.items() if any(keys)}

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct backbones that the chosen metrics need."""
        needed = (keys for metric, keys in self.by_metric.items() if metric in self.metrics)
        return tuple(dict.fromkeys(key for each in chain(*needed) for key in each.split(JOIN)))

    @property
    def scorers(self) -> dict[str, str]:
        """The metrics that score single images, with the backbone of each."""
        clip = {"clipscore": self.clip} if self.clip else {}
        return clip | {metric: PREFERENCE[metric] for metric in self.preference}

    def beside(self, saved: Iterable[str]) -> Backbones:
        """Returns the backbones with something to compute if the reference is saved statistics of these subsets."""
        keys = [key.partition(JOIN) for key in saved]
        return replace(
            self,
            image=tuple(key for key in self.image if (key, "", "") in keys or "vendi" in self.metrics),
            cfred=tuple(key for key in self.cfred if key in {image for image, _, text in keys if text}),
            text=tuple(key for key in self.text if key in {text for _, _, text in keys}),
            cmmd="",
        )

    def limited(self, metrics: Sequence[str] | str) -> Backbones:
        """Limits the backbones to the named metrics; without names, to all. Raises BadInput."""
        for name in names(metrics):
            if name not in METRICS:
                raise BadInput(f"{name!r} is not a metric of generators. There are: {', '.join(METRICS)}")
            if name not in self.by_metric:
                key = {"inception_score": INCEPTION, **{name: key for key, name in NAMED_DISTANCES.items()}}.get(name)
                needed = f"--backbones {key}" if key else "other encoders, or --backbones paper"
                raise BadInput(f"{name} is not computed from {', '.join(self.image)}: it needs {needed}")
        return replace(self, metrics=names(metrics) or self.metrics)

    @property
    def distances(self) -> tuple[str, ...]:
        """The backbones of distances to a reference: one each, or two for cFreD."""
        return (*self.image, *self.by_metric.get("cfred", ()))


PAPERS = Backbones(
    image=(INCEPTION, DINOV2_L),
    cfred=(DINOV2_G,),
    text=(CONVNEXT,),
    clip=CLIP_B,
    cmmd=CLIP_L,
    classes=INCEPTION,
    preference=tuple(PREFERENCE),
)
BUNDLED = Backbones(image=(TINY,), cfred=(TINY,), text=(TINY,), clip=TINY, cmmd=TINY)


def subset(image: str, text: str = "") -> str:
    """Returns the name of a score's backbones."""
    return f"{image}{JOIN}{text}" if text else image


def choose(keys: Sequence[str] | str, *, metrics: Sequence[str] | str = (), paper: Backbones = PAPERS) -> Backbones:
    """Returns the backbones of an option: `paper`, `tiny`, or catalogue keys; `metrics` limits the metrics.

    All keys that embed images are used for distances, and with each key that embeds texts for cFreD. The first key that
    embeds both is used for CLIPScore and CMMD. Raises UnknownKey, CannotDo for a model that cannot be computed, and
    BadInput for an unknown metric, a metric that these backbones do not give, or keys that embed no images.
    """
    named = list(dict.fromkeys(names(keys)))
    if named in ([], [PAPER], [TINY]):
        return (BUNDLED if named == [TINY] else paper).limited(metrics)
    catalog = known()
    rows = list({row.key: row for row in (catalog.model(name) for name in named if name != PAPER)}.values())
    for row in rows:
        if not row.adapter:
            raise CannotDo(f"{row.key} is not computed here: it has published scores only. Name an encoder")
    image, text = (
        tuple(row.key for row in rows if ability in row.abilities) for ability in ("embed_image", "embed_text")
    )
    if PAPER in named:
        added = {"image": image, "cfred": image, "text": text}
        more = {role: tuple(dict.fromkeys((*getattr(paper, role), *keys))) for role, keys in added.items()}
        return replace(paper, **more).limited(metrics)
    if not image:
        raise BadInput(f"--backbones {','.join(named)}: none of these embeds images. List models: likeness list models")
    both = next((key for key in image if key in text), "")
    classes = INCEPTION * (INCEPTION in image)
    own = Backbones(image=image, cfred=image, text=text, clip=both, cmmd=both, classes=classes)
    return own.limited(metrics)


@dataclass(frozen=True, kw_only=True)
class SetFeatures:
    """The inputs of metrics. Rows of all arrays correspond to the pairs, or to a set's images if nothing is paired.

    `images[set][backbone]` (n, d), for REFERENCE and the generators, and `texts[backbone]` (n, p) are features, which
    may stay on disk (LazyRows, memory maps, mappings that read on access). `scores[metric][set]` (n,) has one number
    per image, higher is better; `logits[set]` (n, classes) are a classifier's outputs. `prompts` (n,) are the prompts'
    texts, empty if nothing is paired. If moments replace the reference's images, `images[REFERENCE]` only contains
    them, by subset. `settings` describe how the features were made, by backbone.
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
        """Integer codes (n,) of the prompt of each pair; an array of texts would reserve the length of the longest for
        each.
        """
        return np.unique(np.array(self.prompts, object), return_inverse=True)[1]

    @cached_property
    def saved(self) -> bool:
        """Whether moments replace the reference's images."""
        return any(isinstance(each, Moments) for each in self.images[REFERENCE].values())

    def sides(self, generator: str, subset: str) -> dict[str, Any]:
        """Returns `real` and `generated` features under a backbone, or under two with the `condition`.

        Raises Undefined if moments replace the reference and there are none for the subset.
        """
        image, _, text = subset.partition(JOIN)
        real = self.images[REFERENCE].get(subset if self.saved else image)
        if real is None:
            raise Undefined(f"the saved reference has no statistics under {subset.replace(JOIN, ' with ')}")
        sides = {"real": real, "generated": self.images[generator][image]}
        return sides | {"condition": self.texts[text]} if text else sides

    def count(self, generator: str) -> int:
        """Returns the number of images of a generator."""
        others = (of[generator] for of in (*self.scores.values(), self.logits) if of)
        return len(next(iter((*self.images[generator].values(), *others))))

    def paired_distances(self, generator: str) -> np.ndarray:
        """Returns the squared distance (n,) of each image from the reference image of its prompt, by the last backbone,
        which is cFreD's if there is one.

        The mean is the limit of cFreD for few prompts.
        """
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
    """Returns the features of all sets, and the sets without images that could not be decoded.

    `saved` are SavedReferences by subset, which replace the reference's images. One backbone is in memory at a time.
    Finished features are stored, so an interrupted comparison resumes. Raises NotHere for weights that are not
    downloaded, BadItem for an image that cannot be decoded unless the bench skips it, and BadInput for a backbone whose
    settings differ from those in `saved`.
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
        # Computed from the input features of the classifier's last layer, so that no image is encoded twice.
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
    """Returns the scores of single images (n,) by generator."""
    depicted = metric == "clipscore"
    score = reference_free.clipscore if depicted else reference_free.preference_score
    text = subject.embed_lazily(_depicted(sets) if depicted else sets.prompts)
    return {part.name: score(image=subject.embed_lazily(part.images), text=text).scores for part in sets.generated}


def _depicted(sets: PromptedSets) -> Column:
    return items.texts([reference_free.CLIPSCORE_PREFIX + text for text in sets.texts], of="prompts of CLIPScore")
