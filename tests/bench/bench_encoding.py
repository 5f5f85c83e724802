"""Encoding images from disk beside its parts in the same run: python -m tests.bench.bench_encoding

JPEG files are drawn, then three things are timed in turns, on every device here: the whole pipeline (read, decode,
preprocess, forward, store), the bare forward pass on tensors already in memory, and reading, decoding and preprocessing
alone on all cores. Weights are random: speed does not depend on them. The pipeline must reach 85% of the slower part.
Where both run on the same cores they cannot overlap, and the most that is possible is 1 / (1 / forward + 1 / decoding):
printed as `ideal`.

Then short texts, prompts of ImageNet's classes, through ViT-B/32's text tower on one core: each at its own length
beside all at 77 tokens, in the batches of a pass. They must be FASTER times as fast, and no value off by OFF.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from compute.content.decoding import decode
from compute.content.items import Column, content_key
from compute.features import encoding
from compute.features.store import FeatureStore
from compute.features.subject import BATCH, LoadedSubject
from compute.io.tables import read_csv
from compute.models.adapter import Hardware
from compute.models.encoders.open_clip_text import text_tower
from compute.models.encoders.towers import ImageTower, TextTower, Towers
from compute.paths import CATALOG
from compute.types import Model

REACH = 0.85
FASTER, OFF = 5.0, 1e-5


class Encoder:
    """An architecture of OpenCLIP, or a net so small that decoding is the limit, under one preprocessing."""

    def __init__(self, name: str, hardware: Hardware) -> None:
        import open_clip
        import torch

        torch.manual_seed(0)
        self.torch, self.settings = torch, {"architecture": name}
        known = "ViT-B-32" if name == "small" else name
        model, _, preprocess = open_clip.create_model_and_transforms(known, pretrained=None)
        self.visual, self.preprocess = model.visual, preprocess
        run = model.visual
        if name == "small":
            run = torch.nn.Sequential(
                torch.nn.Conv2d(3, 64, 16, 16),
                torch.nn.GELU(),
                torch.nn.AdaptiveAvgPool2d(4),
                torch.nn.Flatten(),
                torch.nn.Linear(1024, 64),
            )
        run = run.to(hardware.device, getattr(torch, hardware.dtype)).eval()
        self.towers = Towers(
            name=name,
            settings=self.settings,
            hardware=hardware,
            image=ImageTower(ready=lambda image: {"pixels": preprocess(image)}, run=lambda batch: run(batch["pixels"])),
        )
        self.made = 0

    def prepare(self, modality: str, item: Any) -> Any:
        return self.towers.prepare(modality, item)

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray:
        self.made += len(prepared)
        return self.towers.embed(modality, prepared)


def drawn(folder: Path, count: int, *, seed: int = 0) -> list[Path]:
    """JPEG files of 500 x 375 pixels, as large on disk as photographs are: smooth shapes under fine grain."""
    draw = np.random.default_rng(seed)
    paths = []
    for number in range(count):
        coarse = Image.fromarray(draw.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize((500, 375), Image.BICUBIC)
        grain = draw.normal(0, 9, (375, 500, 1))
        picture = Image.fromarray((np.asarray(coarse) + grain).clip(0, 255).astype(np.uint8))
        paths.append(folder / f"{seed}-{number:05}.jpg")
        picture.save(paths[-1], "JPEG", quality=90)
    return paths


def column(paths: Sequence[Path]) -> Column:
    """The files as a column that reads them when needed."""
    keys = np.array([content_key(path.read_bytes()) for path in paths], dtype="S32")
    return Column(
        modality="image", keys=keys, read=lambda row: paths[row].read_bytes(), name=lambda row: paths[row].name
    )


def seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def compare(name: str, hardware: Hardware, paths: Sequence[Path], *, turns: int) -> bool:
    """Times the three in turns and prints the medians; whether the pipeline reaches its share."""
    model = Encoder(name, hardware)
    torch, count, threads = model.torch, len(paths), encoding.workers()
    batch = BATCH[hardware.device][0]
    images = column(paths)
    everything: list[Any] = []

    def forward() -> None:
        for start in range(0, count, batch):
            model.embed("image", everything[start : start + batch])

    def decoding() -> None:
        cores = torch.get_num_threads()
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            everything[:] = pool.map(lambda path: model.prepare("image", decode(path.read_bytes())), paths)
        torch.set_num_threads(cores)

    def pipeline() -> None:
        with tempfile.TemporaryDirectory() as folder:
            subject(Path(folder), model, hardware).prepare([images])

    decoding()
    model.embed("image", everything[:batch])
    parts = {"forward": forward, "decoding": decoding, "pipeline": pipeline}
    times: dict[str, list[float]] = {part: [] for part in parts}
    for _ in range(turns):
        for part, do in parts.items():
            times[part].append(seconds(do))
    spent = {part: np.array(values) for part, values in times.items()}
    slower = max("forward", "decoding", key=lambda part: np.median(spent[part]))
    ideal = spent["forward"] + spent["decoding"] if hardware.device == "cpu" else spent[slower]
    # Of each turn on its own, so that other work on the machine weighs on all three alike.
    share = float(np.median(spent[slower] / spent["pipeline"]))
    rates = "".join(f"{count / np.median(spent[part]):>10.1f}" for part in parts)
    print(
        f"{hardware.device:6}{name:10}{count:>7}{rates}{count / np.median(ideal):>9.1f}{share:>9.0%}"
        f"{np.median(ideal / spent['pipeline']):>9.0%}  {'ok' if share >= REACH else 'BELOW'}",
        flush=True,
    )
    return share >= REACH


def subject(folder: Path, model: Encoder, hardware: Hardware) -> LoadedSubject:
    row = Model(
        key=f"random/{model.settings['architecture']}", title="Random", weights="random", abilities=("embed_image",)
    )
    return LoadedSubject(
        row,
        store=FeatureStore(folder),
        hardware=hardware,
        load=lambda row, *, hardware: model,
        identity=lambda row, *, hardware: {"architecture": row.key, "device": hardware.device},
    )


def short_texts(count: int, *, turns: int) -> bool:
    """Times both ways in turns on one core, and compares their vectors; whether the faster reaches its limits."""
    import open_clip
    import torch

    torch.manual_seed(0)
    cpu = Hardware(device="cpu", dtype="float32")
    model = open_clip.create_model("ViT-B-32", pretrained=None).eval()
    tokenizer = open_clip.get_tokenizer("ViT-B-32")

    def tokens(text: str) -> list[int]:
        return tokenizer([text])[0].tolist()

    ways = {
        "77 tokens": TextTower(ready=tokens, run=lambda ids, mask: model.encode_text(ids), pad=0),
        "own length": text_tower(model, tokens=tokens, limit=tokenizer.context_length),
    }
    table = read_csv(CATALOG / "class_names.csv", columns=("task", "name"))
    names = table[table.task == "Imagenet1kZeroShot"].name
    texts = [f"a photo of a {name}." for name in names[:: len(names) // count][:count]]
    texts.sort(key=len)  # as a pass does
    threads, batch = torch.get_num_threads(), BATCH["cpu"][0]
    torch.set_num_threads(1)
    times: dict[str, list[float]] = {way: [] for way in ways}
    vectors: dict[str, np.ndarray] = {}
    for _ in range(turns):
        for way, tower in ways.items():
            towers = Towers(name=way, settings={}, hardware=cpu, text=tower)
            prepared = [towers.prepare("text", text) for text in texts]
            began = time.perf_counter()
            parts = [towers.embed("text", prepared[start : start + batch]) for start in range(0, count, batch)]
            times[way].append(time.perf_counter() - began)
            vectors[way] = np.concatenate(parts)
    torch.set_num_threads(threads)
    slow, fast = (np.array(times[way]) for way in ways)
    ratio, off = float(np.median(slow / fast)), float(np.abs(np.subtract(*vectors.values())).max())
    fine = ratio >= FASTER and off < OFF
    print(
        f"{count} short texts on one core: {count / np.median(slow):.1f}/s at 77 tokens, "
        f"{count / np.median(fast):.1f}/s at their own length: {ratio:.2f} x (at least {FASTER:g}), "
        f"largest difference {off:.1e} (below {OFF:g})  {'ok' if fine else 'BELOW'}",
        flush=True,
    )
    return fine


def main() -> None:
    """Print every comparison; ends with 1 where one is below its share."""
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--images", type=int, default=64, help="for the large model on a CPU; others take more")
    given.add_argument("--turns", type=int, default=9)
    given = given.parse_args()
    encoding.share_cores()
    import torch

    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads of {os.cpu_count()} cores, OMP_WAIT_POLICY "
        f"{os.environ['OMP_WAIT_POLICY']}, images a second"
    )
    print(
        f"{'':6}{'':10}{'images':>7}{'forward':>10}{'decoding':>10}{'pipeline':>10}{'ideal':>9}{'of lower':>9}"
        f"{'of ideal':>9}"
    )
    cuda = torch.cuda.is_available()
    with tempfile.TemporaryDirectory() as folder:
        paths = drawn(Path(folder), given.images * (40 if cuda else 6))
        cpu = Hardware(device="cpu", dtype="float32")
        fine = [
            compare("ViT-B-32", cpu, paths[: given.images], turns=given.turns),
            compare("small", cpu, paths, turns=given.turns),
        ]
        if cuda:
            gpu = Hardware(device="cuda", dtype="bfloat16")
            fine += [compare(name, gpu, paths, turns=given.turns) for name in ("ViT-B-32", "ViT-L-14", "small")]
        fine.append(short_texts(128, turns=given.turns))
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
