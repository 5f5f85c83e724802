"""How often new drawn scenes, their captions and ordinary photographs are outside of the shipped calibrations.

    python -m tests.bench.bench_domains [FOLDER] [--scenes 200]

FOLDER holds photographs; without one they are those that packages carry. Scenes are drawn by another seed than those of
the calibrations. A photograph is "a drawn scene" where its score would be placed among those of drawn scenes.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import skimage.data
import sklearn.datasets
from PIL import Image

from compute import paths
from compute.analysis.domain import Calibrations, DomainCheck
from compute.calibration import drawn, files
from compute.content.items import content_key
from compute.live.inputs import Input, text
from tests.compute.live.subjects import ROWS, subject

SEED, SIDE = 7, 512
PACKAGED = ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg")  # in no calibration


def image(file: Path | io.BytesIO) -> Input:
    """As a visitor's image is read: at most SIDE pixels."""
    with Image.open(file) as stored:
        whole = stored.convert("RGB")
    whole.thumbnail((SIDE, SIDE))
    return Input(modality="image", key=content_key(whole.tobytes()), name="an image", content=whole)


def photographs(folder: Path | None) -> list[Input]:
    if folder is not None:
        return [image(path) for path in sorted(folder.rglob("*.jp*g"))]
    packaged = [Path(skimage.data.__file__).parent / name for name in PACKAGED]
    return list(map(image, [*packaged, *(Path(sklearn.datasets.__file__).parent / "images").glob("*.jpg")]))


def checked(model: str, inputs: Sequence[Input], calibrations: Calibrations) -> list[DomainCheck]:
    """Each input beside itself."""
    asked = subject(model, *inputs)
    asked.encode(inputs)
    pairing = f"{inputs[0].modality}-{inputs[0].modality}"
    return [asked.domain([one, one], pairing=pairing, calibrations=calibrations) for one in inputs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--scenes", type=int, default=200)
    asked = parser.parse_args()
    stored, domains, _ = files.every(paths.COMPUTED, models=ROWS)
    known = Calibrations(references=tuple(one.content for one in stored), domains=tuple(one.content for one in domains))
    wholes = drawn.material(scenes=asked.scenes, seed=SEED).wholes
    scenes = [image(io.BytesIO(wholes["image"].read(row))) for row in range(asked.scenes)]
    captions = [text(wholes["text"].read(row), name="a caption") for row in range(asked.scenes)]
    photos = photographs(asked.folder)
    print(f"{len(scenes)} scenes, {len(photos)} photographs")
    print(f"{'model':20} {'scenes outside':>17} {'captions outside':>17} {'photos outside':>15} {'as scenes':>17}")
    for model in sorted({each.model for each in known.references}):
        shares = [" " * 17] * 2
        for at, inputs in enumerate((scenes, captions)):
            if known.of(model, ("image-image", "text-text")[at]).references:
                found = [not check.has_percentile for check in checked(model, inputs, known)]
                shares[at] = f"{sum(found) / len(found):17.1%}"
        if known.of(model, "image-image").references:
            found = checked(model, photos, known)
            shares.append(f"{sum(each.reference is None for each in found) / len(found):15.1%}")
            shares.append(f"{sum(each.has_percentile for each in found) / len(found):17.1%}")
        print(f"{model:20}", *shares, flush=True)


if __name__ == "__main__":
    main()
