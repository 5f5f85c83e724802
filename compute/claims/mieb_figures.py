"""MIEB: the printed cells behind each category average, and how the tables' short names meet."""

from __future__ import annotations

from functools import cache

import pandas as pd

from compute.catalog.published import numbers, read_table
from compute.types import BadInput

Part = tuple[int, tuple[str, ...]]  # a table's number and the columns taken from it

CLUSTERING = ("CIFAR10", "CIFAR100", "ImageNet10", "ImageNetDog15", "TinyImageNet")
VISION_CENTRIC = (
    "CVBenchCount",
    "CVBenchDepth",
    "CVBenchDistance",
    "CVBenchRelation",
    "BLINKIT2IMultiChoice",
    "BLINKIT2TMultiChoice",
)
STS_ENGLISH = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS17", "STS-b")
STS17_PAIRS = ("ko-ko", "ar-ar", "en-ar", "en-de", "en-tr", "es-en", "es-es", "fr-en", "it-en", "nl-en")
STSB_LANGUAGES = ("de", "es", "fr", "it", "nl", "pl", "pt", "ru", "zh")
DOCUMENTS = (
    "ArxivQA",
    "DocVQA",
    "InfoVQA",
    "Shift Project",
    "Syn.DocQA AI",
    "Syn.DocQA Energy",
    "Syn.DocQA Gov.",
    "Syn.DocQA Health.",
    "Tabfquad",
    "Tatdqa",
)
PROBE_COARSE = ("CIFAR10", "DTD", "EuroSAT", "FER2013", "GTSRB", "MNIST", "PatchCamelyon", "STL10")
PROBE_FINE = (
    "Birdsnap",
    "Caltech101",
    "CIFAR100",
    "Country211",
    "FGVCAircraft",
    "Food101",
    "Imagenet1k",
    "OxfordFlowers",
    "OxfordPets",
    "RESISC45",
    "StanfordCars",
    "SUN397",
    "UCF101",
)
ZERO_SHOT_COARSE = (
    "CIFAR10",
    "CLEVR",
    "CLEVRCount",
    "DTD",
    "EuroSAT",
    "FER2013",
    "GTSRB",
    "MNIST",
    "PatchCamelyon",
    "RenderedSST2",
    "STL10",
)
ZERO_SHOT_FINE = (
    "Birdsnap",
    "Caltech101",
    "CIFAR100",
    "Country211",
    "FGVCAircraft",
    "Food101",
    "Imagenet1k",
    "OxfordPets",
    "RESISC45",
    "StanfordCars",
    "SUN397",
    "UCF101",
)
COMPOSITION = (
    "AROCocoOrder",
    "AROFlickrOrder",
    "AROVisualAttribution",
    "AROVisualRelation",
    "SugarCrepe",
    "Winoground",
    "ImageCoDe",
)

# Table 22, column -> the cells it averages; Clz. Coarse leaves VOC2007 out, as its heading (8) says
TABLE_22: dict[str, tuple[Part, ...]] = {
    "Clus. (5)": ((9, CLUSTERING),),
    "Compo. (7)": ((20, COMPOSITION),),
    "Vis. STS (en) (7)": ((12, STS_ENGLISH),),
    "Doc. (10)": ((15, DOCUMENTS),),
    "Clz. Coarse (8)": ((16, PROBE_COARSE),),
    "Clz. Fine (13)": ((17, PROBE_FINE),),
    "ZS. Coarse (11)": ((18, ZERO_SHOT_COARSE),),
    "ZS. Fine (12)": ((19, ZERO_SHOT_FINE),),
    "Vision Centric (6)": ((10, VISION_CENTRIC),),
}

# Table 2, upper half: all tasks of a category
FULL: dict[str, tuple[Part, ...]] = {
    "Clus.": ((9, CLUSTERING),),
    "ZS.": ((18, ZERO_SHOT_COARSE), (19, ZERO_SHOT_FINE)),
    "LP.": ((16, (*PROBE_COARSE, "VOC2007")), (17, PROBE_FINE)),
    "Cmp.": ((20, COMPOSITION),),
    "VC.": ((10, VISION_CENTRIC),),
    "Doc.": ((15, DOCUMENTS),),
    "vSTS (en)": ((12, STS_ENGLISH),),
}

# Table 2, lower half: the tasks ticked as MIEB-lite in Tables 6 to 8
LITE: dict[str, tuple[Part, ...]] = {
    "Rtrv.": (
        (
            21,
            (
                "CIRRIT2I",
                "CUB200I2I",
                "Fashion200kI2T",
                "HatefulMemesI2T",
                "InfoSeekIT2T",
                "NIGHTSI2I",
                "OVENIT2T",
                "RP2kI2I",
                "VQA2IT2T",
                "VisualNewsI2T",
                "WebQAT2IT",
            ),
        ),
    ),
    "Clus.": ((9, ("ImageNetDog15", "TinyImageNet")),),
    "ZS.": (
        (18, ("FER2013",)),
        (
            19,
            (
                "CIFAR100",
                "Country211",
                "FGVCAircraft",
                "Food101",
                "OxfordPets",
                "StanfordCars",
            ),
        ),
    ),
    "LP.": (
        (16, ("DTD", "EuroSAT", "GTSRB", "PatchCamelyon")),
        (17, ("Country211", "OxfordPets", "RESISC45", "SUN397")),
    ),
    "Cmp.": ((20, tuple(name for name in COMPOSITION if name != "SugarCrepe")),),
    "VC.": ((10, tuple(name for name in VISION_CENTRIC if name != "BLINKIT2TMultiChoice")),),
    "Doc.": ((15, ("DocVQA", "InfoVQA", "Shift Project", "Syn.DocQA AI", "Tabfquad", "Tatdqa")),),
    "vSTS (en)": ((12, ("STS13", "STS15")),),
}

# Table 2's short names, as Table 22 spells them
SHORT = {
    "Voyage-multimodal-3": "voyage-multimodal-3",
    "E5-V": "royokong/e5-v",
    "siglip-base-patch16-256(m)": "google/siglip-base-patch16-256-multilingual",
    "CLIP-ViT-bigG-14-laion2B": "laion/CLIP-ViT-bigG-14-laion2B-39B-b160k",
    "CLIP-ViT-H-14-laion2B": "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "CLIP-ViT-g-14-laion2B": "laion/CLIP-ViT-g-14-laion2B-s34B-b88K",
    "CLIP-ViT-L-14-laion2B": "laion/CLIP-ViT-L-14-laion2B-s32B-b82K",
    "CLIP-ViT-L-14-DataComp.XL": "laion/CLIP-ViT-L-14-DataComp.XL-s13B-b90K",
    "CLIP-ViT-B-16-DataComp.XL": "laion/CLIP-ViT-B-16-DataComp.XL-s13B-b90K",
    "clip-vit-large-patch14": "openai/clip-vit-large-patch14",
    "VLM2Vec-LoRA": "TIGER-Lab/VLM2Vec-LoRA",
    "VLM2Vec-Full": "TIGER-Lab/VLM2Vec-Full",
}


def long_name(short: str) -> str:
    """A model name of Table 2 as Tables 9 to 22 spell it. Raises BadInput for a name that Table 22 lacks."""
    name = SHORT.get(short, f"google/{short}" if short.startswith("siglip") else short)
    if name not in printed(22).index:
        raise BadInput(f"Table 2 names {short!r}, which Table 22 does not print: add it to SHORT in mieb_figures.py")
    return name


@cache
def printed(table: int) -> pd.DataFrame:
    """A table of MIEB as text, indexed by the printed model name."""
    return read_table(f"mieb-table-{table}").set_index("model")


@cache
def figures(table: int) -> pd.DataFrame:
    """A table's numeric columns as floats in printed units, indexed by model; NaN where unreadable."""
    frame = printed(table)
    return numbers(frame, columns=[name for name in frame.columns if name not in ("group", "Model Type")])


def half(group: str) -> pd.DataFrame:
    """One half of Table 2 as text, indexed by model: `MIEB Full` or `MIEB-lite`."""
    frame = printed(2)
    return frame[frame["group"].str.startswith(group)]


def mean_of(parts: tuple[Part, ...]) -> pd.Series:
    """Mean over the named cells for every model; NaN for a model that lacks a cell in any of the tables."""
    wide = pd.concat([figures(table)[list(names)].add_prefix(f"{table} ") for table, names in parts], axis=1)
    return wide.mean(axis=1, skipna=False)


def across_languages() -> pd.Series:
    """Visual STS outside English: the mean of the two task means of Tables 13 and 14, for every model."""
    return (mean_of(((13, STS17_PAIRS),)) + mean_of(((14, STSB_LANGUAGES),))) / 2


def value(series: pd.Series, model: str) -> float | None:
    """A model's entry, None where the model or the number is missing."""
    found = series.get(model)
    return None if found is None or pd.isna(found) else float(found)
