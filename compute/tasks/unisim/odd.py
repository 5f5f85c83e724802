"""Odd one out: two images of one macro-class and one of another (UniSim-Bench section 3 and Appendix A)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from random import Random

from compute.io.tables import read_csv
from compute.paths import CATALOG
from compute.tasks import parquet
from compute.tasks.parquet import Table
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Look, Sample, shuffled
from compute.types import BadInput


def imagenet(files: Files, random: Random, count: int) -> list[Sample]:
    """Draws from ImageNet's validation images: two macro-classes, then a class by weight and an image of it, separately
    for each image.

    Images are drawn independently, as in the public code: both images of a pair may have the same class and, rarely, be
    the same image.
    """
    class_folders = files.folders("imagenet/val")
    if len(class_folders) != 1000:
        raise BadInput(
            f"imagenet/val has {len(class_folders)} folders of images, not one for each of ImageNet's 1000 "
            "classes. Unpack the validation set into a folder a class"
        )
    # The benchmark's public list. A weight is the number of times it lists the class: 119 of the 199 terrestrial
    # animals twice.
    table = read_csv(CATALOG / "imagenet_macro_classes.csv", columns=("macro_class", "imagenet_index", "weight"))
    classes = defaultdict(dict)
    for macro, index, weight in zip(table["macro_class"], table["imagenet_index"], table["weight"], strict=True):
        classes[macro][int(index)] = float(weight)

    def image(macro: str) -> str:
        weights = classes[macro]
        (index,) = random.choices(list(weights), weights=list(weights.values()))
        return random.choice(files.within(class_folders[index]))

    samples = []
    for at in range(count):
        pair, single = random.sample(sorted(classes), 2)
        samples.append(shuffled(random, str(at), image(single), image(pair), image(pair)))
    return samples


def cifar(files: Files, random: Random, count: int) -> list[Sample]:
    """Draws from CIFAR-100's test images: two of one coarse class and one of another; names are row numbers."""
    coarse = cifar_coarse_classes()
    (labels,) = _cifar(files).values("fine_label")
    groups = defaultdict(list)
    for row, label in enumerate(labels):
        groups[coarse[label]].append(str(row))
    usable = sorted((group for group, members in groups.items() if len(members) > 1), key=str)
    if len(usable) < 2:
        raise BadInput("An odd one out needs two classes of two images each: some of the data set's files are missing")
    samples = []
    for at in range(count):
        pair, single = random.sample(usable, 2)
        names, odd = random.sample(groups[pair], 2), random.randrange(3)
        names.insert(odd, random.choice(groups[single]))
        samples.append(Sample(name=str(at), alternatives=tuple(names), answer=odd))
    return samples


def cifar_images(files: Files, *, cache: Path | None) -> Look:
    """Returns a function that turns row numbers into columns of images."""
    column = _cifar(files).images("img", cache=cache)
    return lambda rows, _: column.take([int(row) for row in rows])


def _cifar(files: Files) -> Table:
    return parquet.table(files.folder, repo=files.repo, split="test")


def cifar_coarse_classes() -> tuple[int, ...]:
    """Returns the coarse class of each of CIFAR-100's fine classes, in the order of their names (Krizhevsky 2009)."""
    return tuple(map(int, read_csv(CATALOG / "cifar100_coarse_classes.csv")["coarse_class"]))
