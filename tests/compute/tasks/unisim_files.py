"""Writes small copies of UniSim-Bench's data sets in their own layouts and column names."""

from __future__ import annotations

import csv
import json
import pickle
import shutil
import tarfile
from pathlib import Path

import datasets
import numpy as np
from PIL import Image

from compute.tasks.unisim import CIFAR, REPO
from tests.compute.tasks import hub_files

BAPPS = ("cnn", "color", "deblur", "frameinterp", "superres", "traditional")


def picture(path: Path, value: int = 0) -> None:
    """A small image known by its colour, in the format its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (10, 10), (value % 256, value // 256 % 256, len(path.name))).save(path)


def table(path: Path, names: list[str], *lines: tuple) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([names, *lines])


def nights(root: Path) -> None:
    names = [
        "id",
        "left_vote",
        "right_vote",
        "votes",
        "ref_path",
        "left_path",
        "right_path",
        "prompt",
        "split",
        "is_imagenet",
    ]
    lines = [
        (at, 1 - at % 2, at % 2, votes, f"ref/{at}.png", f"distort/{at}_0.png", f"distort/{at}_1.png", "p", split, True)
        for at, (votes, split) in enumerate([(6, "test"), (7, "test"), (5, "test"), (9, "train")])
    ]
    table(root / "nights/data.csv", names, *lines)
    for at, line in enumerate(lines):
        for place, name in enumerate(line[4:7]):
            picture(root / "nights" / name, 10 * at + place)


def bapps(root: Path) -> None:
    for subset in BAPPS:
        for at in range(14):
            place = root / "bapps/val" / subset
            for part in ("ref", "p0", "p1"):
                picture(place / part / f"{at:06d}.png", at)
            (place / "judge").mkdir(exist_ok=True)
            np.save(place / "judge" / f"{at:06d}.npy", np.array([0.8 if at == 1 else 0.2], dtype=np.float32))


def pieapp(root: Path) -> None:
    (root / "pie_app").mkdir(parents=True)
    (root / "pie_app/test_reference_list.txt").write_text("scene1.png\n")
    names = [" ref. image", " distorted image A", " distorted image B", " preference for A"]
    lines = [
        ("scene1.png", "a.png", "b.png", 0.9),
        ("scene1.png", "a.png", "c.png", 0.5),
        ("scene1.png", "scene1.png", "c.png", 0.9),
        ("scene1.png", "b.png", "c.png", 0.1),
    ]
    table(root / "pie_app/labels/test/scene1_pairwise_labels.csv", names, *lines)
    picture(root / "pie_app/reference_images/test/scene1.png", 1)
    for at, name in enumerate("abc"):
        picture(root / "pie_app/distorted_images/test/scene1" / f"{name}.png", 50 + at)


def kadid(root: Path) -> None:
    for image in range(73, 82):
        for distortion in range(1, 26):
            for severity in range(1, 6):
                path = root / "kadid10k/images" / f"I{image:02d}_{distortion:02d}_{severity:02d}.png"
                picture(path, image * 100 + distortion)


def koniq(root: Path) -> None:
    names = [f"{at}.jpg" for at in range(1, 5)]
    table(
        root / "koniq10k/koniq10k_distributions_sets.csv",
        ["image_name", "MOS", "set"],
        *[(name, at * 10, "test" if at < 3 else "training") for at, name in enumerate(names)],
    )
    attributes = ["brightness", "contrast", "colorfulness", "sharpness"]
    table(
        root / "koniq10k/koniq10k_indicators.csv",
        ["image_id", *attributes],
        *[(at, 1 / at, at, at, at) for at in range(1, 5)],
    )
    for at, name in enumerate(names):
        picture(root / "koniq10k/1024x768" / name, 40 * at)


def pipal(root: Path) -> None:
    picture(root / "PIPAL/Val_Ref/A0001.bmp", 1)
    lines = [f"A0001_0{at}.bmp,{1600 if at < 6 else 1200}\n" for at in range(8)]
    (root / "PIPAL/val_label.txt").write_text("".join([*lines, "B0001_00.bmp,1000\n"]))
    for at in range(8):
        picture(root / "PIPAL/Val_Dist" / f"A0001_0{at}.bmp", at)


def sice(root: Path) -> None:
    for part, scenes in (("Dataset_Part1", range(10)), ("Dataset_Part2", range(10))):
        for scene in scenes:
            for at in range(3):
                picture(root / "sice" / part / f"{scene:03d}" / f"{at}.jpg", 40 * at)
    picture(root / "sice/Dataset_Part1/Label/000.JPG", 1)


def agiqa(root: Path) -> None:
    names = ["name", "prompt", "adj1", "adj2", "style", "mos_quality", "std_quality", "mos_align", "std_align"]
    lines = [(f"{prompt}{at}.jpg", prompt, "", "", "", at, 0, at / 2, 0) for prompt in "xy" for at in range(5)]
    table(root / "agiqa-3k/data.csv", names, *lines)
    for line in lines:
        picture(root / "agiqa-3k/images" / line[0], 40 * int(line[5]))


def hpdv2(root: Path) -> None:
    rows = [
        {
            "prompt": f"prompt {at}",
            "image_path": [f"{at}_{place}.jpg" for place in range(9)],
            "rank": [(place + at) % 9 for place in range(9)],
        }
        for at in range(3)
    ]
    rows.append({"prompt": "damaged", "image_path": ["00006811.jpg", "x.jpg"], "rank": [0, 1]})
    (root / "hpdv2").mkdir(parents=True)
    (root / "hpdv2/test.json").write_text(json.dumps(rows))
    for row in rows[:3]:
        for at, name in enumerate(row["image_path"]):
            picture(root / "hpdv2/test" / name, at)


def magicbrush(root: Path) -> None:
    def row(kind: str, *images: str) -> dict:
        return {
            "metadata": {"dataset": kind},
            "image": list(images),
            "conversations": [{"value": "?"}, {"value": "make it red"}],
        }

    rows = [
        row("MagicBrush", "MagicBrush/train/a.png", "MagicBrush/train/b.png"),
        row("MagicBrush-Diff", "MagicBrush/train/a.png", "MagicBrush/train/b.png"),
        row("MagicBrush", *[f"MagicBrush/train/{name}.png" for name in "abc"]),
    ]
    (root / "MagicBrush").mkdir(parents=True)
    (root / "MagicBrush/test.json").write_text(json.dumps(rows))
    for at, name in enumerate("ab"):
        picture(root / "MagicBrush/test" / f"{name}.png", at)


def hq_edit(root: Path) -> None:
    rows = [
        {
            "metadata": {"dataset": kind},
            "image": ["HQ-Edit/images/a.png", "HQ-Edit/images/b.png"],
            "input": "a cat",
            "output": "a dog",
        }
        for kind in ("HQ-Edit", "HQ-Edit-Diff")
    ]
    for at, name in enumerate("ab"):
        picture(root / "HQ-Edit/images" / f"{name}.png", at)
    (root / "HQ-Edit/test.json").write_text(json.dumps(rows))


def cd_coco(root: Path) -> None:
    votes = ["OFA", "GIT", "Our", "ExpNet-v2", "BLIP-2", "ViT-GPT2"]
    said = ["OFA_Huge", "GIT_Large", "Ensemble", "ExpansionNet_v2", "BLIP_2", "ViT_GPT2"]
    place = root / "coco-triplets"
    table(
        place / "resources/expert_worker_results_extended.csv",
        ["Image_URL", "max_score", *votes],
        ("one.jpg", 3, 3, 0, 0, 1, 1, 1),
        ("two.jpg", 2, 2, 0, 0, 0, 0, 0),
    )
    table(
        place / "resources/all_captions_extended.csv",
        ["fname", *said],
        *[(name, *[f"{model} of {name}" for model in said]) for name in ("one.jpg", "two.jpg")],
    )
    for at, name in enumerate(("one.jpg", "two.jpg")):
        picture(place / "coco/images/val2014" / name, at)


def polaris(root: Path) -> None:
    table(
        root / "polaris/polaris_test.csv",
        ["img", "refs", "cand", "score"],
        ("a.jpg", "['A cat.', 'A pet.']", "a car", 0.25),
        ("a.jpg", "['A dog.']", "a dog", 0.0),
        ("a.jpg", "['A dog.']", "a cow", 0.75),
    )
    picture(root / "polaris/images/a.jpg", 1)


def landmarks(root: Path) -> None:
    for name in ("roxford5k", "rparis6k"):
        place = root / "retrieval/revisitop" / name
        truth = {
            "imlist": ["a", "b", "c", "d"],
            "qimlist": ["q", "r"],
            "gnd": [
                {"bbx": [0, 0, 5, 5], "easy": np.array([0]), "hard": np.array([1]), "junk": np.array([3])},
                {"bbx": [0, 0, 5, 5], "easy": [2], "hard": [], "junk": []},
            ],
        }
        for at, image in enumerate("abcdqr"):
            picture(place / "jpg" / f"{image}.jpg", at)
        (place / f"gnd_{name}.pkl").write_bytes(pickle.dumps(truth, protocol=2))


BUILDERS = {
    "nights": nights,
    "bapps": bapps,
    "pie_app": pieapp,
    "kadid10k": kadid,
    "koniq10k": koniq,
    "PIPAL": pipal,
    "sice": sice,
    "agiqa-3k": agiqa,
    "hpdv2": hpdv2,
    "MagicBrush": magicbrush,
    "HQ-Edit": hq_edit,
    "coco-triplets": cd_coco,
    "polaris": polaris,
    "retrieval": landmarks,
}


def write(root: Path, *names: str, packed: bool = False) -> Path:
    """The named data sets below `root`, as folders or as one tar each."""
    place = root / REPO
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        BUILDERS[name](place)
        if packed:
            pack(place, name)
    return place


def pack(place: Path, name: str) -> None:
    """Puts a data set's folder into `<name>.tar`."""
    with tarfile.open(place / f"{name}.tar", "w") as archive:
        archive.add(place / name, arcname=name)
    shutil.rmtree(place / name)


def cifar(root: Path) -> None:
    """CIFAR-100's test split as the hub has it: two images of every fine class."""
    rows = datasets.Dataset.from_dict(
        {"img": [hub_files.image(at) for at in range(200)], "fine_label": [at % 100 for at in range(200)]}
    )
    hub_files.write(root / CIFAR, {("default", "test"): rows})
