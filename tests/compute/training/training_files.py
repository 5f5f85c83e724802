"""Writes small training splits of UniSim's data sets, in the layouts of the public data, beside the evaluated ones."""

from __future__ import annotations

import json
from pathlib import Path

from tests.compute.tasks import unisim_files
from tests.compute.tasks.unisim_files import picture, table


def pieapp(root: Path) -> None:
    (root / "pie_app/train_reference_list.txt").write_text("scene2.png\n")
    names = [
        " ref. image",
        " distorted image A",
        " distorted image B",
        " raw preference",
        " processed preference for A",
    ]
    lines = [
        ("scene2.png", "a.png", "b.png", 0, 0.9),
        ("scene2.png", "a.png", "c.png", 0, 0.45),
        ("scene2.png", "scene2.png", "c.png", 0, 0.9),
        ("scene2.png", "b.png", "c.png", 0, 0.2),
    ]
    table(root / "pie_app/labels/train/scene2_pairwise_labels.csv", names, *lines)
    picture(root / "pie_app/reference_images/train/scene2.png", 301)
    for at, name in enumerate("abc"):
        picture(root / "pie_app/distorted_images/train/scene2" / f"{name}.png", 350 + at)


def hpdv2(root: Path) -> None:
    rows = [
        {"prompt": f"a {at}", "image_path": [f"{at}0.jpg", f"{at}1.jpg"], "human_preference": [1 - at % 2, at % 2]}
        for at in range(6)
    ]
    rows.append({"prompt": "damaged", "image_path": ["00006811.jpg", "x.jpg"], "human_preference": [1, 0]})
    (root / "hpdv2/train.json").write_text(json.dumps(rows))
    for at, row in enumerate(rows[:6]):
        for place, name in enumerate(row["image_path"]):
            picture(root / "hpdv2/train" / name, 400 + 10 * at + row["human_preference"][place])


def magicbrush(root: Path) -> None:
    def row(kind: str, *images: str) -> dict:
        return {
            "metadata": {"dataset": kind},
            "image": list(images),
            "conversations": [{"value": "?"}, {"value": "make it blue"}],
        }

    rows = [
        row("MagicBrush", "MagicBrush/train/c.png", "MagicBrush/train/d.png"),
        row("MagicBrush-Diff", "MagicBrush/train/c.png", "MagicBrush/train/d.png"),
    ]
    (root / "MagicBrush/train.json").write_text(json.dumps(rows))
    for at, name in enumerate("cd"):
        picture(root / "MagicBrush/train" / f"{name}.png", 500 + at)


def hq_edit(root: Path) -> None:
    rows = [
        {
            "metadata": {"dataset": kind},
            "image": ["HQ-Edit/images/c.png", "HQ-Edit/images/d.png"],
            "input": "a tree",
            "output": "a bush",
        }
        for kind in ("HQ-Edit", "HQ-Edit-Diff")
    ]
    (root / "HQ-Edit/train.json").write_text(json.dumps(rows))
    for at, name in enumerate("cd"):
        picture(root / "HQ-Edit/images" / f"{name}.png", 520 + at)


def polaris(root: Path) -> None:
    table(
        root / "polaris/polaris_train.csv",
        ["img", "refs", "cand", "score"],
        ("b.jpg", "['A bird.', 'A wing.']", "a boat", 0.25),
        ("b.jpg", "['A dog.']", "a cow", 0.75),
    )
    picture(root / "polaris/images/b.jpg", 540)


def kadid(root: Path) -> None:
    for image in range(1, 73):
        for distortion in range(1, 26):
            for severity in range(1, 6):
                path = root / "kadid10k/images" / f"I{image:02d}_{distortion:02d}_{severity:02d}.png"
                path.write_bytes(path.name.encode())  # never shown: 9,000 pictures would take seconds


def pipal(root: Path) -> None:
    picture(root / "PIPAL/Train_Ref/C0001.bmp", 600)
    (root / "PIPAL/Train_Label").mkdir()
    lines = [f"C0001_0{at}.bmp,{1600 if at < 1 else 1200}\n" for at in range(3)]
    (root / "PIPAL/Train_Label/C0001.txt").write_text("".join(lines))
    for at in range(3):
        picture(root / "PIPAL/Dist_Imgs" / f"C0001_0{at}.bmp", 610 + at)


BUILDERS = {
    "nights": lambda root: None,  # one table holds all splits
    "pie_app": pieapp,
    "hpdv2": hpdv2,
    "MagicBrush": magicbrush,
    "HQ-Edit": hq_edit,
    "polaris": polaris,
    "kadid10k": kadid,
    "PIPAL": pipal,
}


def write(root: Path, *names: str, packed: bool = False) -> Path:
    """Evaluated and training splits of the named data sets, by default of all, as folders or as one tar each."""
    folder = unisim_files.write(root, *(names or BUILDERS))
    for name in names or BUILDERS:
        BUILDERS[name](folder)
        if packed:
            unisim_files.pack(folder, name)
    return folder
