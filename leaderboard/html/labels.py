"""Labels for titles and numbers: signs, the mark of synthetic items, the words behind short names."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from compute.analysis.table import ALL, USUAL
from compute.catalog.own import suite as own_suite

TRAINED, SUSPECT, DISPUTED = 1, 2, 4  # bits of a figure's marks
SIGNS = (
    (TRAINED, "†", "trained on this data set"),
    (SUSPECT, "?", "doubtful score"),
    (DISPUTED, "‡", "another table prints another number"),
)
ORIGIN_TITLES = {"published": "Paper", "imported": "Public results", "computed": "Computed here"}
ORIGIN_CHOICES = [("Most complete", USUAL), *((title, key) for key, title in ORIGIN_TITLES.items()), ("All", ALL)]
GROUPS = {"vidore": "Documents", "cfred": "Generators"}  # tabs of the board that are not called as their benchmark
SYNTHETIC_MARK = re.compile(r"\s*\(synthetic\)", re.IGNORECASE)
SYNTHETIC_NOTE = (
    "Synthetic: every item is generated from a fixed seed. These scores show that the pipeline works, and "
    "compare models on such drawings only."
)

# Kinds of models, and what is added where there is room.
MODEL_KINDS = {
    "encoder": "encoder",
    "metric": "perceptual or preference metric",
    "mllm": "vision-language model",
    "generator": "text-to-image generator",
    "distribution": "distribution metric",
}
KIND_NOTES = {
    "encoder": "image or image-text embeddings",
    "distribution": "rates generators by sets of images",
}
# Conditions under which a judge rates pairs, PairBench's subsets.
CONDITIONS = {
    "sensitive": "The judge is asked to count the change between the two sides.",
    "invariant": "The judge is asked to ignore the change between the two sides.",
}
ABBREVIATIONS: dict[str, str] = {
    "2AFC": "two-alternative forced choice: which of two candidates is better",
    "Img-2AFC": "image similarity: which of two images is more like a third (two-alternative forced choice)",
    "IT-2AFC": "image-text alignment: which of two images fits a text, or which of two texts fits an image",
    "Text-2AFC": "which of two texts describes an image better (two-alternative forced choice)",
    "IQA": "image quality assessment: which of two images has the better quality",
    "PAA": "perceptual attributes assessment: brightness, colourfulness, contrast, sharpness",
    "OOO": "odd one out: which of several images does not belong",
    "IR": "image retrieval",
    "STS": "semantic textual similarity",
    "VLM": "vision language model",
    "LMM": "large multimodal model",
    "MLLM": "multimodal large language model",
    "COCO": "Common Objects in Context, a data set of photographs",
    "IN100": "100 classes of ImageNet",
    "WU-II": "What's Up: pairs of two images that differ in spatial position",
    "WU-IT": "What's Up: pairs of an image and a caption that differ in spatial position",
    "CJ": "colour jitter",
    "ET": "elastic transform",
    "GB": "Gaussian blur",
    "PS": "perspective shift",
    "R": "rotation",
    "SP": "spatial position",
    "nDCG@k": "normalised discounted cumulative gain of the first k hits",
    "NMI": "normalised mutual information",
    "LRAP": "label-ranking average precision",
    "mAP, MAP@k": "mean average precision (within k hits)",
    "FID": "Fréchet Inception distance",
    "CMMD": "maximum mean discrepancy of CLIP features",
    "Elo": "a rating from pairwise votes",
    "r, ρ, ρ²": "Pearson's correlation; Spearman's rank correlation; cFreD's square of Pearson's r",
    "SD": "standard deviation",
    "CI, 95%": "interval that holds 95% of the draws",
}
# Titles of categories where there is little room: over a narrow column, in a paper.
SHORT = {
    "Compositionality": "Compos.",
    "Document Understanding": "Docs",
    "Linear Probing": "Linear probing",
    "Multilingual Retrieval": "Retrieval (multi)",
    "Vision-centric QA": "Vision QA",
    "Visual STS (en)": "STS (en)",
    "Visual STS (cross & multi)": "STS (multi)",
    "Zero-shot Classification": "Zero-shot",
}
# Families of models as people write them; others are written as their key.
FAMILIES = {
    "align": "ALIGN",
    "bidirlm": "BidirLM",
    "blip": "BLIP",
    "blip-2": "BLIP-2",
    "chameleon": "Chameleon",
    "clip": "CLIP",
    "compare2score": "Compare2Score",
    "datacomp-clip": "DataComp CLIP",
    "deqa-score": "DeQA-Score",
    "dinov2": "DINOv2",
    "drawn": "drawn generators",
    "dreamsim": "DreamSim",
    "e5-omni": "E5-Omni",
    "e5-v": "E5-V",
    "ebind": "EBind",
    "eva-clip": "EVA-CLIP",
    "frechet": "Fréchet distances",
    "gemini-1.5": "Gemini 1.5",
    "gme": "GME",
    "gpt-4o": "GPT-4o",
    "hpsv2": "HPSv2",
    "imagereward": "ImageReward",
    "internvl2": "InternVL2",
    "internvl2.5": "InternVL2.5",
    "internvl2_5": "InternVL2.5",
    "jina-clip": "Jina CLIP",
    "jina-embeddings": "Jina Embeddings",
    "lco-embedding": "LCO-Embedding",
    "liqe": "LIQE",
    "llava-next": "LLaVA-NeXT",
    "llava-onevision": "LLaVA-OneVision",
    "lpips": "LPIPS",
    "mantis": "Mantis",
    "mmd": "maximum mean discrepancy",
    "moco-v3": "MoCo v3",
    "molmo": "Molmo",
    "nomic-embed": "Nomic Embed",
    "omniembed": "OmniEmbed",
    "openclip": "OpenCLIP",
    "pac-s": "PAC-S",
    "phi-3.5-vision": "Phi-3.5-vision",
    "pixels": "pixel statistics",
    "pixtral": "Pixtral",
    "qwen2-vl": "Qwen2-VL",
    "siglip": "SigLIP",
    "unisim": "UniSim",
    "vista": "VISTA",
    "vlm2vec": "VLM2Vec",
    "voyage": "Voyage",
}
PART = re.compile(r"[^\s,:;()/+]+")


def hint(title: str) -> str:
    """The words behind a title, or behind the short names in it; empty when it has none. Exact spelling counts."""
    if title in ABBREVIATIONS:
        return ABBREVIATIONS[title]
    return "; ".join(f"{part}: {words}" for part, words in explained([title]))


def explained(titles: Iterable[str]) -> list[tuple[str, str]]:
    """The short names in some titles with their words, each once, in the order of the list above."""
    seen = {part for title in titles for part in (title, *PART.findall(title))}
    return [(name, words) for name, words in ABBREVIATIONS.items() if name in seen]


def signs(marks: int) -> str:
    """The signs of a figure's marks, such as `†?`; empty for none."""
    return "".join(sign for bit, sign, _ in SIGNS if marks & bit)


def explained_signs(marks: int) -> str:
    """The signs with their words, such as `† trained on this data set`; empty for none."""
    return ", ".join(f"{sign} {words}" for bit, sign, words in SIGNS if marks & bit)


def model_kind(kind: str, *, count: int = 1) -> str:
    """A kind of models in words, in the plural for a count other than 1; an unknown kind is its own word."""
    return MODEL_KINDS.get(kind, kind) + ("" if count == 1 else "s")


def is_synthetic(benchmark: object) -> bool:
    """Whether a program draws a benchmark's items, so that its scores say nothing about photographs."""
    return benchmark in own_suite.SYNTHETIC_BENCHMARKS


def plain_title(title: str, benchmark: object) -> str:
    """A title without "(synthetic)", where the badge of its benchmark is next to it."""
    return SYNTHETIC_MARK.sub("", title) if is_synthetic(benchmark) else title


def group(benchmark: str, title: str) -> str:
    """The tab that a benchmark's suites are under; `title` is the benchmark's."""
    return "Yours" if is_own(benchmark) else GROUPS.get(benchmark) or plain_title(title, benchmark)


def variant(title: str, benchmark_title: str) -> str:
    """What tells a suite from the others of its benchmark: `English` of "MIEB (English)", `All` of "MIEB"."""
    rest = title.removeprefix(SYNTHETIC_MARK.sub("", benchmark_title)).strip(" -:()")
    return rest if re.fullmatch(r"v[\d.]+", rest) else rest[:1].upper() + rest[1:] or "All"


def is_own(benchmark: object) -> bool:
    """Whether a benchmark is of user data, so that no published score compares with its scores."""
    return benchmark in own_suite.BENCHMARKS


def described(description: str, benchmark: object) -> str:
    """A description that states where items are synthetic, with the note added if its own words do not."""
    if not is_synthetic(benchmark) or "synthetic" in description.lower():
        return description
    return f"{description} {SYNTHETIC_NOTE}".strip()


def choice_title(title: str, benchmark: object) -> str:
    """A suite's or task's title for a list to choose from, marked where synthetic."""
    return f"{title} (synthetic)" if is_synthetic(benchmark) and "synthetic" not in title.lower() else title


def suite_choices(suites: pd.DataFrame) -> list[tuple[str, str]]:
    """Suites to choose from: titles, marked where synthetic, and keys."""
    return [(choice_title(row.title, row.benchmark), row.key) for row in suites.itertuples()]
