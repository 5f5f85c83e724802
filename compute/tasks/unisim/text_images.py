"""Questions about images and texts: which image fits a text, which text fits an image (UniSim-Bench Table 1)."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from pathlib import PurePosixPath
from random import Random

from compute.tasks.unisim.files import Files
from compute.tasks.unisim.image_pairs import agiqa_prompts, rows
from compute.tasks.unisim.samples import Sample, shuffled
from compute.types import BadInput

HPDV2_DAMAGED = ("00006811.jpg", "00168743.jpg", "00331911.jpg", "00310087.jpg")
AGIQA_LEAST_ALIGNMENT = 1.0
COCO_LEAST_VOTES = 3
COCO_TABLES = ("all_captions_extended.csv", "expert_worker_results_extended.csv")
# Columns of votes -> columns of captions, in the two tables of model captions.
COCO_MODELS = {
    "OFA": "OFA_Huge",
    "GIT": "GIT_Large",
    "Our": "Ensemble",
    "ExpNet-v2": "ExpansionNet_v2",
    "BLIP-2": "BLIP_2",
    "ViT-GPT2": "ViT_GPT2",
}
POLARIS_HIGHEST_SCORE = 0.5


def imagereward(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns the best- and the worst-ranked image of each validation prompt."""
    from io import BytesIO

    import pyarrow.parquet as pq

    table = pq.read_table(BytesIO(files.read("metadata-validation.parquet"))).to_pylist()
    prompts = defaultdict(list)
    for row in table:
        prompts[str(row["prompt_id"])].append(row)
    # Numbered archives, whose names may or may not be part of an image's path.
    folders = [folder for folder in files.by_folder if folder.startswith("images/validation")]
    samples = []
    for prompt, images in sorted(prompts.items()):
        best, worst = (choose(images, key=lambda row: row["rank"]) for choose in (min, max))
        if best["rank"] != worst["rank"]:
            names = [
                _existing(files, path, *(f"{folder}/{PurePosixPath(path).name}" for folder in folders))
                for path in (best["image_path"], worst["image_path"])
            ]
            samples.append(shuffled(random, prompt, *names, reference=best["prompt"]))
    return samples


def _existing(files: Files, *names: str) -> str:
    """Returns the first name for which the data set has a file, else the first name."""
    return next((name for name in names if name in files.members), names[0])


def hpdv2(files: Files, random: Random, count: int, *, alternatives: int = 2, split: str = "test") -> list[Sample]:
    """Returns random images of a test prompt, as many as `alternatives`; the one that people rank first is correct
    (Figure 4: 2 to 8).

    The training split consists of pairs; all are returned, with the preferred image as the answer.
    """
    prompts = [
        row
        for row in _json(files, f"hpdv2/{split}.json")
        if not set(HPDV2_DAMAGED) & set(row["image_path"]) and len(row["image_path"]) >= alternatives
    ]
    samples = []
    if split == "train":
        for at, row in enumerate(prompts):
            names = [f"hpdv2/{split}/{name}" for name in row["image_path"]]
            if row["human_preference"][1]:
                names.reverse()
            samples.append(shuffled(random, str(at), *names, reference=row["prompt"]))
        return samples
    for at in range(count if prompts else 0):
        row = random.choice(prompts)
        ranked = dict(zip(row["rank"], row["image_path"], strict=True))
        ranks = sorted(random.sample(sorted(ranked), alternatives))
        names = [f"hpdv2/{split}/{ranked[rank]}" for rank in ranks]
        samples.append(shuffled(random, str(at), *names, reference=row["prompt"]))
    return samples


def agiqa(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns random pairs of a prompt's images by alignment; images with an alignment below 1 are dropped."""
    prompts = agiqa_prompts(files, "mos_align", least=AGIQA_LEAST_ALIGNMENT)
    samples = []
    while prompts and len(samples) < count:
        prompt, values = random.choice(prompts)
        pair = random.sample(list(values), 2)
        if values[pair[0]] != values[pair[1]]:
            names = [f"agiqa-3k/images/{name}" for name in sorted(pair, key=values.__getitem__, reverse=True)]
            samples.append(shuffled(random, str(len(samples)), *names, reference=prompt))
    return samples


def magicbrush(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns source and edited image: the edited one fits the instruction."""
    samples = []
    for at, row in enumerate(_json(files, f"MagicBrush/{split}.json")):
        if row["metadata"]["dataset"] == "MagicBrush-Diff" or len(row["image"]) > 2:
            continue
        parts = (PurePosixPath(path).parts for path in row["image"])
        source, target = (str(PurePosixPath(folder, split, *rest)) for folder, _, *rest in parts)
        samples.append(shuffled(random, str(at), target, source, reference=row["conversations"][1]["value"]))
    return samples


def hq_edit(files: Files, random: Random, count: int, *, asks: str, split: str = "test") -> list[Sample]:
    """Returns source and edited image with a description each; each text, or each image, is the reference for choosing
    its own of the other two.
    """
    kept = [row for row in _json(files, f"HQ-Edit/{split}.json") if row["metadata"]["dataset"] != "HQ-Edit-Diff"]
    samples = []
    for at, row in enumerate(kept):
        sides = (row["input"], row["output"]), tuple(row["image"])
        asking, asked = sides if asks == "text" else sides[::-1]
        samples += [
            Sample(name=f"{at}-{which}", reference=side, alternatives=asked, answer=which)
            for which, side in enumerate(asking)
        ]
    return samples


def cd_coco(files: Files, random: Random, count: int) -> list[Sample]:
    """Returns a caption with at least 3 votes versus each model caption without votes."""
    written, voted = (
        rows(files, _existing(files, f"coco-triplets/resources/{name}", f"resources/{name}")) for name in COCO_TABLES
    )
    captions = {row["fname"]: row for row in written}
    samples = []
    for row in voted:
        votes = {model: float(row[model]) for model in COCO_MODELS}
        if float(row["max_score"]) < COCO_LEAST_VOTES:
            continue
        name, texts = row["Image_URL"], captions[row["Image_URL"]]
        best = random.choice([model for model, some in votes.items() if some == max(votes.values())])
        for model, some in votes.items():
            if some == 0:
                samples.append(
                    shuffled(
                        random,
                        f"{name} {model}",
                        texts[COCO_MODELS[best]],
                        texts[COCO_MODELS[model]],
                        reference=f"coco-triplets/coco/images/val2014/{name}",
                    )
                )
    return samples


def polaris(files: Files, random: Random, count: int, *, split: str = "test") -> list[Sample]:
    """Returns model captions scored 0.5 or lower versus each reference caption; equal texts are dropped. For training,
    all are returned.
    """
    triples = []
    table = f"polaris/polaris_{split}.csv"
    for line in rows(files, table):
        image, references, candidate, *_ = line.values()
        score = float(list(line.values())[-1])
        try:  # a printed list of strings, read as a literal, so that nothing in it can run
            captions = list(map(str, ast.literal_eval(references)))
        except (ValueError, SyntaxError) as error:
            raise BadInput(f"{table}: {references[:60]!r} is not a list of captions") from error
        if score <= POLARIS_HIGHEST_SCORE and _folded(candidate) not in {_folded(text) for text in captions}:
            triples += [(image, caption, candidate) for caption in captions]
    drawn = random.sample(triples, min(count, len(triples))) if split == "test" else triples
    return [
        shuffled(random, f"{at} {image}", good, bad, reference=f"polaris/images/{image}")
        for at, (image, good, bad) in enumerate(drawn)
    ]


def _folded(text: str) -> str:
    return text.lower().replace(".", "").replace("\n", "")


def _json(files: Files, name: str) -> list[dict]:
    try:
        return json.loads(files.text(name))
    except json.JSONDecodeError as error:
        raise BadInput(f"{files.repo}: {name} is not JSON ({error})") from error
