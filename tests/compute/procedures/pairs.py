"""Small rated pairs that a test writes down."""

import numpy as np

from compute.content.items import images, texts
from compute.tasks.data import RatedPairs

TYPES = ("identical", "transformed", "irrelevant")
EXPECTED = {"identical": (10, 10), "transformed": (8, 10), "irrelevant": (1, 1)}  # sensitive, invariant


def rated_pairs(
    sources=2,
    *,
    condition="sensitive",
    transformations=("rotate",),
    second="image",
    k=5,
):
    """Three pairs a source: contents are `<source>` and `<source>/<type>`, variants `<content>#<number>`."""
    names = [f"s{source}/{kind}" for source in range(sources) for kind in TYPES]
    types = np.array([name.partition("/")[2] for name in names])
    firsts = [name.partition("/")[0] for name in names]
    variants = k if condition == "invariant" and second == "image" else 0
    return RatedPairs(
        names=tuple(names),
        first=column(firsts),
        second=column(names, modality=second),
        expected=np.array([EXPECTED[kind][condition == "invariant"] for kind in types.tolist()]),
        types=types,
        sources=np.array(firsts),
        templates=np.arange(len(names)) % 5,
        condition=condition,
        transformations=transformations,
        first_variants=tuple(column([f"{name}#{number}" for name in firsts]) for number in range(variants)),
        second_variants=tuple(column([f"{name}#{number}" for name in names]) for number in range(variants)),
    )


def column(contents, *, modality="image"):
    if modality == "text":
        return texts(contents, of="tests")
    return images([content.encode() for content in contents], of="tests")
