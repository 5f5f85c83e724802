"""Which backbone each metric of generators takes its features from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from compute.catalog import known
from compute.options import names
from compute.types import BadInput, CannotDo

INCEPTION = "inception-v3"
DINOV2_L = "timm/vit_large_patch14_dinov2.lvd142m-224"
DINOV2_G = "timm/vit_giant_patch14_dinov2.lvd142m"
CONVNEXT = "open_clip/convnext_base_w.laion2b_s13b_b82k_augreg"
CLIP_L = "openai/clip-vit-large-patch14-336"
CLIP_B = "openai/clip-vit-base-patch32"
TINY = "tiny"
PAPER = "paper"
# The Fréchet distance has its own name under these features only.
NAMED_DISTANCES = {INCEPTION: "fid", DINOV2_L: "fd_dinov2"}
PREFERENCE = {
    "hpsv2": "xswu/hpsv2",
    "pickscore": "yuvalkirstain/pickscore_v1",
}
DISTANCES = ("fid", "fd_dinov2", "fd")
# Metrics that compare an image with its prompt, or with the reference's image of that prompt.
NEED_PROMPTS = ("cfred", "clipscore", "hpsv2", "pickscore")
NEIGHBOURS = ("precision", "recall", "density", "coverage")
OTHERS = ("cfred", *DISTANCES, "cmmd", "kid", "clipscore", *NEIGHBOURS, "vendi", "inception_score")
METRICS = (*OTHERS, *PREFERENCE)
USUAL = (
    *OTHERS,
    "imagereward",
    *PREFERENCE,
    "aesthetic",
)  # with two that were computed once, so that stored comparisons are found
JOIN = "|"  # between the image and the text backbone of cFreD, in the name of a subset
DISTANCE = "distance"  # a prompt's value: the squared distance of its image's features from the reference's


@dataclass(frozen=True, kw_only=True)
class Backbones:
    """The backbones of a comparison, by catalogue key. Empty: no metric that needs it is computed.

    Each of `image` gives a Fréchet distance, KID, precision to coverage and the Vendi score; each of `cfred` with each
    of `text` a cFreD.
    """

    image: tuple[str, ...]
    cfred: tuple[str, ...]
    text: tuple[str, ...]
    clip: str = ""  # CLIPScore
    cmmd: str = ""
    classes: str = ""  # the Inception Score
    preference: tuple[str, ...] = ()  # metrics of PREFERENCE
    metrics: tuple[str, ...] = USUAL

    @property
    def by_metric(self) -> dict[str, list[str]]:
        """All metrics that these backbones give, chosen or not, with every subset that each is computed on."""
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
        """Every backbone that the chosen metrics need, once."""
        needed = (keys for metric, keys in self.by_metric.items() if metric in self.metrics)
        return tuple(dict.fromkeys(key for each in chain(*needed) for key in each.split(JOIN)))

    @property
    def scorers(self) -> dict[str, str]:
        """The metrics that score single images, and the backbone of each."""
        clip = {"clipscore": self.clip} if self.clip else {}
        return clip | {metric: PREFERENCE[metric] for metric in self.preference}

    def beside(self, saved: Iterable[str]) -> Backbones:
        """Those that saved statistics of these subsets leave something to compute for."""
        keys = [key.partition(JOIN) for key in saved]
        return replace(
            self,
            image=tuple(key for key in self.image if (key, "", "") in keys or "vendi" in self.metrics),
            cfred=tuple(key for key in self.cfred if key in {image for image, _, text in keys if text}),
            text=tuple(key for key in self.text if key in {text for _, _, text in keys}),
            cmmd="",
        )

    def limited(self, metrics: Sequence[str] | str) -> Backbones:
        """Limited to the metrics named; all where none is. Raises BadInput."""
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
        """What distances to a reference rest on: a backbone each, or two for cFreD."""
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
    """The name of what a score rests on."""
    return f"{image}{JOIN}{text}" if text else image


def choose(keys: Sequence[str] | str, *, metrics: Sequence[str] | str = (), paper: Backbones = PAPERS) -> Backbones:
    """The backbones of an option: `paper`, `tiny`, or catalogue keys; `metrics` limits the metrics.

    Of keys every one that embeds images serves for distances and, with every one that embeds texts, for cFreD; the
    first that embeds both for CLIPScore and CMMD. Raises UnknownKey, BadInput for a name that is not a metric, for a
    metric that these backbones do not give and for keys that embed no images, CannotDo for a model that is not
    computed.
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
