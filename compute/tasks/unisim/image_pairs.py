"""Questions about images: nearer to a reference, better quality, brighter and so on (UniSim-Bench Table 1).

Each function draws samples from one data set's files and annotations; rules: FACTS of the published numbers.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import PurePosixPath
from random import Random

import numpy as np

from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample, looker, shuffled
from compute.types import BadInput

BAPPS_SUBSETS = ("cnn", "color", "deblur", "frameinterp", "superres", "traditional")
BAPPS_SHARE = 0.15
KADID_IMAGES = {"train": range(1, 73), "test": range(73, 82)}
KADID_DISTORTIONS, KADID_SEVERITIES = range(1, 26), range(1, 6)
KADID_PAIRS = 5  # per training image and distortion, so that there are as many pairs as distorted images
PIPAL_REFERENCE_SCORE, PIPAL_REFERENCES = 1500, 5
# References, distorted images, and scores by split; the scores of `train` are in one file per reference.
PIPAL_FILES = {"train": ("Train_Ref", "Dist_Imgs", "Train_Label"), "test": ("Val_Ref", "Val_Dist", "val_label.txt")}
SICE_SHARE, SICE_SCALE = 0.1, 0.2


def rows(files: Files, name: str) -> list[dict[str, str]]:
    """Reads a CSV as dictionaries, with surrounding blanks of names and values removed."""
    lines = csv.DictReader(io.StringIO(files.text(name)))
    return [{(key or "").strip(): (value or "").strip() for key, value in line.items()} for line in lines]


def nights(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns a split's rows with at least 6 votes; the correct alternative is the one that people voted for."""
    return [
        Sample(
            name=row["ref_path"],
            reference=f"nights/{row['ref_path']}",
            answer=int(float(row["right_vote"])),
            alternatives=(f"nights/{row['left_path']}", f"nights/{row['right_path']}"),
        )
        for row in rows(files, "nights/data.csv")
        if row["split"] == split and float(row["votes"]) >= 6
    ]


def bapps(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns the first 15% of each validation subset; the answer is the rounded share of votes for the second."""
    samples = []
    for subset in BAPPS_SUBSETS:
        folder = f"bapps/val/{subset}"
        votes = files.within(f"{folder}/judge")
        for path in votes[: int(len(votes) * BAPPS_SHARE)]:
            name = PurePosixPath(path).stem
            try:
                vote = float(np.load(io.BytesIO(files.read(path)), allow_pickle=False).ravel()[0])
            except (ValueError, IndexError, EOFError) as error:
                raise BadInput(f"{path} is not an array of numbers") from error
            samples.append(
                Sample(
                    name=f"{subset}/{name}",
                    reference=f"{folder}/ref/{name}.png",
                    alternatives=(f"{folder}/p0/{name}.png", f"{folder}/p1/{name}.png"),
                    answer=round(vote),
                )
            )
    return samples


def _pieapp(files: Files, split: str) -> list[tuple[str, str, str, str, float]]:
    """Returns (scene, reference, A, B, preference for A) with a clear preference and without the reference among the
    alternatives.
    """
    column = "preference for A" if split == "test" else "processed preference for A"
    comparisons = []
    for line in files.text(f"pie_app/{split}_reference_list.txt").split():
        scene = line.removesuffix(".png")
        for row in rows(files, f"pie_app/labels/{split}/{scene}_pairwise_labels.csv"):
            first, second, preference = row["distorted image A"], row["distorted image B"], row[column]
            if row["ref. image"] in (first, second) or 0.4 <= float(preference) <= 0.6:
                continue
            comparisons.append((scene, row["ref. image"], first, second, float(preference)))
    return comparisons


def pieapp(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns questions of which of two distorted images is nearer to the reference."""
    return [
        Sample(
            name=f"{first}/{second}",
            reference=f"pie_app/reference_images/{split}/{reference}",
            alternatives=tuple(f"pie_app/distorted_images/{split}/{scene}/{name}" for name in (first, second)),
            answer=0 if preference > 0.5 else 1,
        )
        for scene, reference, first, second, preference in _pieapp(files, split)
    ]


def pieapp_quality(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns the reference versus each distorted image: the reference is always better.

    For training, each comparison yields the reference versus one of its two images, which matches the number in Table
    5.
    """
    pairs = [
        (f"pie_app/reference_images/{split}/{reference}", f"pie_app/distorted_images/{split}/{scene}/{name}")
        for scene, reference, first, second, _ in _pieapp(files, split)
        for name in ((first, second) if split == "test" else (random.choice((first, second)),))
    ]
    drawn = random.sample(pairs, min(count, len(pairs))) if split == "test" else pairs
    return [shuffled(random, f"{at}", good, bad) for at, (good, bad) in enumerate(drawn)]


def kadid(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns two severities of one distortion of one image; the milder is better. The data set has no splits: the
    benchmark evaluates the last 9 of 81 images.
    """
    if split == "test":
        chosen = (
            (random.choice(KADID_IMAGES[split]), random.choice(KADID_DISTORTIONS), random.sample(KADID_SEVERITIES, 2))
            for _ in range(count)
        )
    else:
        pairs = list(combinations(KADID_SEVERITIES, 2))
        chosen = (
            (image, distortion, pair)
            for image in KADID_IMAGES[split]
            for distortion in KADID_DISTORTIONS
            for pair in random.sample(pairs, KADID_PAIRS)
        )
    samples = []
    for at, (image, distortion, pair) in enumerate(chosen):
        names = [f"kadid10k/images/I{image:02d}_{distortion:02d}_{severity:02d}.png" for severity in sorted(pair)]
        samples.append(shuffled(random, str(at), *names))
    return samples


def koniq(files: Files, random: Random, count: int, *, attribute: str) -> list[Sample]:
    """Returns two random test images; the one with the higher value of the attribute (`MOS` for quality) is correct."""

    tested = [row for row in rows(files, "koniq10k/koniq10k_distributions_sets.csv") if row["set"] == "test"]
    if attribute == "MOS":
        values = {row["image_name"]: float(row["MOS"]) for row in tested}
    else:
        every = {row["image_id"]: float(row[attribute]) for row in rows(files, "koniq10k/koniq10k_indicators.csv")}
        values = {row["image_name"]: every[str(int(row["image_name"].removesuffix(".jpg")))] for row in tested}
    return _scored_pairs(values, random, count, folder="koniq10k/1024x768")


def _scored_pairs(values: dict[str, float], random: Random, count: int, *, folder: str) -> list[Sample]:
    names = sorted(values)
    pairs = []
    if len(set(values.values())) < 2:
        return pairs
    while len(pairs) < count:
        first, second = random.sample(names, 2)
        if values[first] != values[second]:  # equal scores have no right answer
            good, bad = sorted((first, second), key=values.__getitem__, reverse=True)
            pairs.append(shuffled(random, str(len(pairs)), f"{folder}/{good}", f"{folder}/{bad}"))
    return pairs


def pipal(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns each low-scored image versus its reference and the images that score 1500 or more, at most 5 of them."""
    references, distorted, labels = PIPAL_FILES[split]
    whole = "" if split == "train" else files.text(f"PIPAL/{labels}")
    pairs = []
    for path in files.within(f"PIPAL/{references}"):
        scene = PurePosixPath(path).stem
        scores = [line.split(",") for line in (whole or files.text(f"PIPAL/{labels}/{scene}.txt")).split()]
        own = [(name, float(score)) for name, score in scores if scene in name]
        good = [path, *(f"PIPAL/{distorted}/{name}" for name, score in own if score >= PIPAL_REFERENCE_SCORE)]
        bad = [f"PIPAL/{distorted}/{name}" for name, score in own if score < PIPAL_REFERENCE_SCORE]
        pairs += [(better, worse) for better in good[:PIPAL_REFERENCES] for worse in bad]
    return [shuffled(random, str(at), better, worse) for at, (better, worse) in enumerate(pairs)]


def sice(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns all pairs of a scene's exposures whose mean grey levels differ by at least one level, for the first 10%
    of the scenes.
    """
    from PIL import Image, ImageStat

    scenes = [
        scene
        for part in ("Dataset_Part1", "Dataset_Part2")
        for scene in files.folders(f"sice/{part}")
        if PurePosixPath(scene).name != "Label"
    ]
    samples = []
    for scene in scenes[: max(1, int(len(scenes) * SICE_SHARE))]:
        levels = {}
        for name in files.within(scene):
            with Image.open(io.BytesIO(files.read(name))) as image:
                levels[name] = int(ImageStat.Stat(image.convert("L")).mean[0])
        names = list(levels)
        samples += [
            shuffled(random, f"{first} {second}", *sorted((first, second), key=levels.__getitem__, reverse=True))
            for at, first in enumerate(names)
            for second in names[at + 1 :]
            if levels[first] != levels[second]
        ]
    return samples


def _smaller(data: bytes) -> bytes:
    """Returns an exposure reduced to a fifth of each side, as for the published numbers."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        size = (int(image.width * SICE_SCALE), int(image.height * SICE_SCALE))
        buffer = io.BytesIO()
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(buffer, format="PNG")
        return buffer.getvalue()


smaller = partial(looker, change=_smaller)


def agiqa_prompts(files: Files, column: str, *, least: float = -math.inf) -> list[tuple[str, dict[str, float]]]:
    """Returns sorted prompts with the values of their images, if at least `least`; only prompts whose values differ."""
    prompts = defaultdict(dict)
    for row in rows(files, "agiqa-3k/data.csv"):
        if float(row[column]) >= least:
            prompts[row["prompt"]][row["name"]] = float(row[column])
    return [(prompt, values) for prompt, values in sorted(prompts.items()) if len(set(values.values())) > 1]


def agiqa_quality(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns random pairs of one prompt's images, by perceptual quality."""
    usable = [values for _, values in agiqa_prompts(files, "mos_quality")]
    drawn = [
        _scored_pairs(random.choice(usable), random, 1, folder="agiqa-3k/images")[0] for _ in range(count) if usable
    ]
    return [replace(sample, name=str(at)) for at, sample in enumerate(drawn)]
