"""Step time of training beside a bare forward and backward of the same batch: python -m tests.bench.bench_training

A CLIP with random weights at ViT-B/32's size (--size l14: ViT-L/14 at 336 pixels), LoRA as in the paper's plan. The
reference puts the same images and texts through the same modules and calls backward, nothing else: no optimiser, no
schedule, no preparing of images, no log. Ours is the whole step, images (JPEG files of --side pixels, as photographs
have them) decoded and prepared while the step before runs, on CUDA in bfloat16 where there is a device. Steps follow
one another as in a training: they wait where images are not prepared as fast as they are taken. Nothing is prepared
beside the reference. Both take turns; of each the quickest turn's mean is printed.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

from compute.models.adapter import Hardware
from compute.training import loop, towers
from compute.training.examples import TASKS, Examples
from compute.training.plan import TuningPlan
from compute.training.run_folder import RunFolder
from tests.compute.models import checkpoints
from tests.compute.training import small_training

MOST = 1.25  # times the reference
TURNS = 3
SIZES = {
    "b32": {"vision": (768, 3072, 12, 12, 224, 32), "text": (512, 2048, 12, 8), "projection": 512},
    "l14": {"vision": (1024, 4096, 24, 16, 336, 14), "text": (768, 3072, 12, 12), "projection": 768},
}


def checkpoint(folder: Path, size: str) -> Path:
    """A random CLIP of that size in the hub's layout."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    folder.mkdir()
    checkpoints.clip_tokens(folder)
    shape = SIZES[size]
    keys = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size", "patch_size")
    vision = dict(zip(keys, shape["vision"], strict=True))
    text = dict(zip(keys, shape["text"], strict=False))
    side, last = vision["image_size"], 2 * 256 + 5 - 1
    ends = {"bos_token_id": last - 1, "eos_token_id": last, "pad_token_id": last, "vocab_size": last + 1}
    torch.manual_seed(0)
    config = CLIPConfig(
        projection_dim=shape["projection"],
        vision_config=vision,
        text_config={**text, **ends, "max_position_embeddings": 16},
    )
    CLIPModel(config).save_pretrained(folder)
    checkpoints.image_processor(folder, "CLIPImageProcessor", crop=True)
    settings = folder / "preprocessor_config.json"
    settings.write_text(settings.read_text().replace(f": {checkpoints.SIDE}", f": {side}"))
    return folder


def main() -> None:
    """Prints the seconds of both and their ratio; exits with 1 above MOST."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=tuple(SIZES), default="b32")
    parser.add_argument("--batch", type=int, default=0, help="examples of each task; default: 32 on CUDA, 4 on a CPU")
    parser.add_argument("--steps", type=int, default=0, help="of a turn; default: 60 on CUDA, 3 on a CPU")
    parser.add_argument("--side", type=int, default=512, help="pixels of an image's side")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = arguments.batch or (32 if device == "cuda" else 4)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    # Before the clock starts all that processes may have prepared ahead is used up.
    steps, first_steps = (arguments.steps or 60, 40) if device == "cuda" else (arguments.steps or 3, 1)
    plan = replace(TuningPlan(), batch_size=batch, samples=batch * (first_steps + steps), warm_up=1)
    with tempfile.TemporaryDirectory() as folder:
        base = towers.load(
            checkpoints.row(checkpoint(Path(folder) / "base", arguments.size), "clip"),
            hardware=Hardware(device=device, dtype="float32"),
        )
        run = loop.Tuning(base, plan, RunFolder(path=Path(folder) / "run", identity={}))
    base.training(True)
    sets = photographs(side=arguments.side, count=batch)
    first = loop.batch_of(base, sets, plan, 0)

    def ours() -> float:
        run.state.step = 0
        made = loop.prepared(base, sets, plan)

        def step() -> None:
            run.step(next(made))
            run.state.step += 1

        for _ in range(first_steps):
            step()
        return mean_seconds(step, count=steps, device=device)

    def bare() -> float:
        def passes() -> None:
            with run.autocast():
                vectors = torch.cat([base.image_vectors(first.images), base.text_vectors(first.texts)])
            sum((vectors[rows[:, 0]] * vectors[rows[:, 1]]).sum() for rows in first.rows.values()).backward()
            base.module.zero_grad()

        passes()
        return mean_seconds(passes, count=steps, device=device)

    turns = [(ours(), bare()) for _ in range(TURNS)]
    seconds = dict(zip(("ours", "bare"), map(min, zip(*turns, strict=True)), strict=True))
    ratio = seconds["ours"] / seconds["bare"]
    images = len(first.images["pixel_values"])
    print(
        f"{arguments.size} on {device} in {loop.precision(base, plan)}, {images} images a step, JPEG files of "
        f"{arguments.side} x {arguments.side} pixels: "
        f"step {seconds['ours']:.3f} s, bare forward and backward {seconds['bare']:.3f} s, ratio {ratio:.2f} "
        f"(at most {MOST})"
    )
    if ratio > MOST:
        raise SystemExit(1)


def photograph(seed: int, *, side: int) -> bytes:
    """A JPEG file of a smooth picture, which takes about as long to decode as a photograph."""
    coarse = np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype(np.uint8)
    target = io.BytesIO()
    Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC).save(target, "JPEG", quality=90)
    return target.getvalue()


def photographs(*, side: int, count: int) -> list[Examples]:
    """Examples of every task whose images are such files."""
    with mock.patch.object(small_training, "picture", partial(photograph, side=side)):
        return [small_training.examples(task, count=count) for task in TASKS]


def mean_seconds(call: Callable[[], None], *, count: int, device: str) -> float:
    """Seconds of one of so many calls, the device's work included."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(count):
        call()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begun) / count


if __name__ == "__main__":
    main()
