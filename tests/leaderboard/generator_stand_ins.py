"""A suite of one's own generators with made-up figures, stored as the command stores it: nothing is a measurement."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from compute.content import items
from compute.content.items import Column, content_key
from compute.engine.generators import backbones, store
from compute.engine.generators.frechet import GeneratorComparison
from compute.engine.generators.set_metrics import SetFeatures, figures
from compute.paths import COMPUTED
from compute.tasks.generators.pairing import PromptedSets
from compute.tasks.generators.sources import ImageSet
from compute.tasks.mini.album import png
from leaderboard.data.database import Database
from tests.compute.tasks import drawn_generators as drawn
from tests.leaderboard import stand_ins

PROMPTS = 60
SUITE, NAME = "generators-pictures", "pictures"
GENERATORS = ("good", "same", "worse", "worst")
SHIFTS = (0.0, 0.0, 0.5, 1.5)  # of their features from the reference's


def make(results: Path, *, human: dict[str, float] | None = None) -> str:
    """Stores the suite under `results`; its key. Pictures are drawn, features are random numbers."""
    rng = np.random.default_rng(0)
    real = rng.normal(size=(PROMPTS, 4))
    sets = {"reference": real} | {
        name: real + shift + 0.6 * rng.normal(size=real.shape) for name, shift in zip(GENERATORS, SHIFTS, strict=True)
    }
    texts = tuple(prompt.text for prompt in drawn.all_prompts()[:PROMPTS])
    scores = {name: rng.normal(size=PROMPTS) * 0.1 - shift for name, shift in zip(GENERATORS, SHIFTS, strict=True)}
    features = SetFeatures(
        generated=GENERATORS,
        prompts=texts,
        images={"tiny": sets},
        texts={"tiny": rng.normal(size=(PROMPTS, 3))},
        scores={"clipscore": scores},
    )
    metrics = ("fd", "cfred", "kid", "clipscore")
    chosen = backbones.Backbones(
        image=("tiny",), cfred=("tiny",), text=("tiny",), clip="tiny", cmmd="tiny", metrics=metrics
    )
    names = tuple(f"{row:04}" for row in range(PROMPTS))
    images = {"reference": drawn.reference_image}
    images |= {
        name: lambda row, key=key: drawn.image(key, row) for name, key in zip(GENERATORS, drawn.STRENGTHS, strict=True)
    }
    parts = [ImageSet(name=name, ids=names, images=_column(image)) for name, image in images.items()]
    comparison = GeneratorComparison(
        sets=PromptedSets(
            ids=names,
            prompts=items.texts(texts, of="prompts"),
            texts=texts,
            reference=parts[0],
            generated=tuple(parts[1:]),
            warnings=(),
        ),
        chosen=chosen,
        features=features,
        figures=figures(features, chosen=chosen),
        settings={"tiny": {}},
    )
    rates = {name: ("human_rate", value) for name, value in (human or {}).items()}
    suite, _ = store.store(comparison, name=NAME, file=Path("pictures.csv"), results=results, human=rates)
    return suite


def _column(image) -> Column:
    made = [png(image(row)) for row in range(PROMPTS)]
    return Column(
        modality="image",
        keys=np.array([content_key(data) for data in made], dtype="S32"),
        read=made.__getitem__,
        name=lambda row: f"image {row}",
    )


def opened(folder: Path, *, human: dict[str, float] | None = None) -> Database:
    """The database of `make` in this folder."""
    make(folder / "results", human=human)
    return Database(database(folder, results=folder / "results"))


def database(folder: Path, *, results: Path) -> Path:
    """The shipped figures with the shipped runs of drawn generators alone, and the runs under `results`."""
    computed = folder / "computed"
    for path in COMPUTED.glob("mini__*"):
        shutil.copytree(path, computed / path.name)
    return stand_ins.database(folder, results=results, models=(), computed=computed)
