"""Which published figures answer the same kind of question as a live comparison does: a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class RelatedEvidence:
    """A column of a suite: the mean of one of its categories, or one task, with `metric` where it has several."""

    title: str
    suite: str
    category: str = ""
    task: str = ""
    metric: str = ""


IMG_2AFC = RelatedEvidence(
    title="UniSim-Bench Img-2AFC: the nearer of two images", suite="unisim-core", category="Img-2AFC"
)
IT_2AFC = RelatedEvidence(
    title="UniSim-Bench IT-2AFC: the better image for a text", suite="unisim-core", category="IT-2AFC"
)
TEXT_2AFC = RelatedEvidence(
    title="UniSim-Bench Text-2AFC: the better caption", suite="unisim-core", category="Text-2AFC"
)
IQA = RelatedEvidence(title="UniSim-Bench IQA: the better quality of two", suite="unisim-core", category="IQA")
PAA = RelatedEvidence(title="UniSim-Bench PAA: all attributes", suite="unisim-ood", category="PAA")
OOO = RelatedEvidence(title="UniSim-Bench OOO: odd one of three", suite="unisim-ood", category="OOO")
LANDMARKS = RelatedEvidence(title="UniSim-Bench IR: landmarks by an image", suite="unisim-ood", category="IR")
NIGHTS = RelatedEvidence(title="MIEB NIGHTS: images by a like image", suite="mieb", task="mieb/nightsi2iretrieval")
COCO_IMAGES = RelatedEvidence(title="MIEB COCO: images by a text", suite="mieb", task="mieb/mscocot2iretrieval")
COCO_TEXTS = RelatedEvidence(title="MIEB COCO: texts by an image", suite="mieb", task="mieb/mscocoi2tretrieval")
FLICKR_IMAGES = RelatedEvidence(
    title="MIEB Flickr30k: images by a text", suite="mieb", task="mieb/flickr30kt2iretrieval"
)
FLICKR_TEXTS = RelatedEvidence(
    title="MIEB Flickr30k: texts by an image", suite="mieb", task="mieb/flickr30ki2tretrieval"
)
IMAGECODE = RelatedEvidence(
    title="MIEB ImageCoDe: one of ten like images by a text", suite="mieb", task="mieb/imagecode"
)
SUGARCREPE = RelatedEvidence(title="MIEB SugarCrepe: the true of two captions", suite="mieb", task="mieb/sugarcrepe")
RETRIEVAL = RelatedEvidence(title="MIEB retrieval, images and texts", suite="mieb", category="Retrieval")
COMPOSITIONALITY = RelatedEvidence(
    title="MIEB compositionality: image and caption", suite="mieb", category="Compositionality"
)
VISUAL_STS = RelatedEvidence(title="MIEB visual STS: pictures of sentences", suite="mieb", category="Visual STS (en)")

# Which figures answer the same kind of question, the nearest kin first. `choice` names the reference, then what is
# chosen among. No benchmark here sets two texts beside each other.
EVIDENCE: dict[str, tuple[RelatedEvidence, ...]] = {
    "pair:image-image": (
        RelatedEvidence(title="PairBench COCO: judged likeness of two images", suite="pairbench", category="COCO"),
        RelatedEvidence(
            title="PairBench ImageNet-100: judged likeness of two images", suite="pairbench", category="IN100"
        ),
        RelatedEvidence(
            title="PairBench What's Up: judged likeness of two images", suite="pairbench", category="WU-II"
        ),
        IMG_2AFC,
        LANDMARKS,
        NIGHTS,
        VISUAL_STS,
        RETRIEVAL,
        RelatedEvidence(title="Mini: nearest image", suite="mini", task="mini/image-choice"),
        RelatedEvidence(title="Mini: images by an image", suite="mini", task="mini/images-by-image"),
        RelatedEvidence(title="Mini: pictures of words", suite="mini", task="mini/sentences"),
    ),
    "pair:image-text": (
        RelatedEvidence(
            title="PairBench What's Up: judged fit of image and caption", suite="pairbench", category="WU-IT"
        ),
        RelatedEvidence(
            title="PairBench, all of its sets", suite="pairbench", task="pairbench/aggregate", metric="mmscore"
        ),
        IT_2AFC,
        COCO_IMAGES,
        COCO_TEXTS,
        COMPOSITIONALITY,
        RETRIEVAL,
        RelatedEvidence(title="Mini: images by a text", suite="mini", task="mini/images-by-text"),
        RelatedEvidence(title="Mini: texts by an image", suite="mini", task="mini/texts-by-image"),
    ),
    "choice:image-image": (
        IMG_2AFC,
        NIGHTS,
        LANDMARKS,
        RETRIEVAL,
        RelatedEvidence(title="Mini: nearest image", suite="mini", task="mini/image-choice"),
        RelatedEvidence(title="Mini: images by an image", suite="mini", task="mini/images-by-image"),
    ),
    "choice:text-image": (
        IT_2AFC,
        IMAGECODE,
        COCO_IMAGES,
        FLICKR_IMAGES,
        RETRIEVAL,
        RelatedEvidence(title="Mini: image for a text, 2 to 8 of them", suite="mini", task="mini/alternatives"),
        RelatedEvidence(title="Mini: images by a text", suite="mini", task="mini/images-by-text"),
    ),
    "choice:image-text": (
        TEXT_2AFC,
        SUGARCREPE,
        COCO_TEXTS,
        FLICKR_TEXTS,
        RETRIEVAL,
        RelatedEvidence(title="Mini: text for an image", suite="mini", task="mini/text-for-image"),
        RelatedEvidence(title="Mini: texts by an image", suite="mini", task="mini/texts-by-image"),
    ),
    "odd": (OOO, RelatedEvidence(title="Mini: odd one out", suite="mini", task="mini/odd-one-out")),
    "quality:quality": (IQA, RelatedEvidence(title="Mini: image quality", suite="mini", task="mini/quality")),
    "quality:brightness": (
        RelatedEvidence(title="UniSim-Bench SICE: brightness", suite="unisim-ood", task="unisim/sice-brightness"),
        RelatedEvidence(title="UniSim-Bench KonIQ: brightness", suite="unisim-ood", task="unisim/koniq-10k-brightness"),
        PAA,
        RelatedEvidence(title="Mini: brightness", suite="mini", task="mini/brightness"),
    ),
    "quality:colorfulness": (
        RelatedEvidence(
            title="UniSim-Bench KonIQ: colourfulness", suite="unisim-ood", task="unisim/koniq-10k-colorfulness"
        ),
        PAA,
        RelatedEvidence(title="Mini: colourfulness", suite="mini", task="mini/colorfulness"),
    ),
    "quality:contrast": (
        RelatedEvidence(title="UniSim-Bench KonIQ: contrast", suite="unisim-ood", task="unisim/koniq-10k-contrast"),
        PAA,
        RelatedEvidence(title="Mini: contrast", suite="mini", task="mini/contrast"),
    ),
    "quality:sharpness": (
        RelatedEvidence(title="UniSim-Bench KonIQ: sharpness", suite="unisim-ood", task="unisim/koniq-10k-sharpness"),
        PAA,
        RelatedEvidence(title="Mini: sharpness", suite="mini", task="mini/sharpness"),
    ),
}
KNOWN_MODES = tuple(dict.fromkeys(key.partition(":")[0] for key in EVIDENCE))


def kind_of_question(*, mode: str, kinds: Sequence[str], question: str = "") -> str:
    """The key in EVIDENCE, empty where inputs of these modalities make no such question. Raises BadInput."""
    if mode not in KNOWN_MODES:
        raise BadInput(f"There is no mode {mode!r}; there are: {', '.join(KNOWN_MODES)}")
    if mode == "quality":
        key = f"quality:{question or 'quality'}"
        if key not in EVIDENCE:
            known = [name.partition(":")[2] for name in EVIDENCE if name.startswith("quality:")]
            raise BadInput(f"There is no question {question!r}; there are: {', '.join(known)}")
        return key
    if mode == "odd":
        return mode
    first, others = kinds[:1], sorted(set(kinds[1:]))
    sides = [*first, *others] if mode == "choice" else sorted([*first, *others])
    key = f"{mode}:{'-'.join(sides)}"
    return key if key in EVIDENCE else ""
