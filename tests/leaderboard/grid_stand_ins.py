"""Grids of backbones over made-up features of generators: nothing here is a measurement."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from compute.engine.generators import grid as grids
from compute.engine.generators.features import Backbones, SetFeatures
from compute.engine.generators.people import People

IMAGES = ("timm/vit_base_patch16_224.mae", "timm/vit_small_patch16_224.augreg_in1k", "mine")
TEXTS = ("open_clip/vit-b-16.datacomp_xl_s13b_b90k", "google-bert/bert-base-uncased")
GENERATORS = ("a", "b", "c", "d", "e", "f", "g")
SUITE, CELLS = "grid-rated", len(IMAGES) * len(TEXTS)


def features(seed):
    """More noise from generator to generator, which `mine` does not see."""
    rng = np.random.default_rng(seed)
    meaning = rng.normal(size=(60, 4))

    def of(noise):
        return meaning + noise * rng.normal(size=(60, 4))

    real = {image: of(1) for image in IMAGES}
    made = {
        name: {image: of(1.0 if image == "mine" else 1.2 + at / 2) for image in IMAGES}
        for at, name in enumerate(GENERATORS)
    }
    texts = {text: of(0.5) for text in TEXTS}
    return SetFeatures(generated=GENERATORS, images={"reference": real, **made}, texts=texts)


def make(results):
    """Runs of a grid that people rated (SUITE), of an unrated one, and of one with four generators (`grid-few`)."""

    def rated(count):
        ratings = tuple(0.9 - at / 10 for at in range(count))
        names = GENERATORS[:count]
        return People(metric="human_rate", names=names, ratings=ratings)

    chosen = Backbones(image=(), cfred=IMAGES, text=TEXTS)
    few = replace(features(2), generated=GENERATORS[:4])
    for name, made, people in (
        ("rated", features(0), rated(7)),
        ("unrated", features(1), None),
        ("few", few, rated(4)),
    ):
        grids.execute(made, chosen, name=name, file=Path("prompts"), results=results, people=people)
