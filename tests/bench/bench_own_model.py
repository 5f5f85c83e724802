"""`compute.evaluate` of a model in memory beside a loop over the same items: python -m tests.bench.bench_own_model

JPEG files are drawn, as triplets of an odd-one-out task, so that every image is used once. A ViT-B/32 of open_clip with
random weights (speed does not depend on them) is evaluated on them, and called in a loop over the same files, decoded
and transformed alike and put through in batches of the same size. Both run in turns, in this process, the model on one
thread, by processor time: other programs on the machine count for neither. A first round pays what is done once a
process (imports, the catalogue) and does not count.

What a model costs before its first item, digest and check, does not grow with the items and is measured by itself.
The whole may take OVER more than the loop, in the median of the rounds; with few images (--images 255) the digest and
the check alone take more, and the last line says what is left without them.
"""

from __future__ import annotations

import argparse
import csv
import io
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import compute
from compute.models.own.placement import hardware_of
from compute.models.own.wrapping import wrap

OVER = 0.05
BATCH = 32


def drawn(folder: Path, count: int, *, side: int) -> list[Path]:
    """`count` JPEG files of smooth noise, and `triplets.csv` beside them, which uses each once."""
    paths = []
    for at in range(count):
        rng = np.random.default_rng(at)
        small = Image.fromarray(rng.integers(0, 255, (side // 16, side // 12, 3), dtype=np.uint8))
        stream = io.BytesIO()
        small.resize((side * 4 // 3, side), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=90)
        paths.append(folder / f"{at}.jpg")
        paths[-1].write_bytes(stream.getvalue())
    with (folder / "triplets.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["member_1", "member_2", "member_3", "odd"])
        for start in range(0, count, 3):
            table.writerow([*(path.name for path in paths[start : start + 3]), 1 + start // 3 % 3])
    return paths


def direct(model: Any, transform: Any, paths: list[Path]) -> np.ndarray:
    """(n, d): what a script of one's own would do."""
    import torch

    vectors = []
    with torch.inference_mode():
        for start in range(0, len(paths), BATCH):
            images = [transform(Image.open(path).convert("RGB")) for path in paths[start : start + BATCH]]
            vectors.append(model.encode_image(torch.stack(images)).numpy())
    return np.concatenate(vectors)


def main() -> int:
    """Prints both times and their ratio; 1 where it is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--images", type=int, default=1020, help="divisible by 3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", type=int, default=480, help="pixels of the images' shorter side")
    options = parser.parse_args()
    import open_clip
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, _, transform = open_clip.create_model_and_transforms("ViT-B-32", pretrained=None)
    model.eval()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "images"
        folder.mkdir()
        paths = drawn(folder, options.images, side=options.side)
        direct(model, transform, paths[:BATCH])
        ratios, growing = [], []
        for number in range(options.rounds + 1):
            began = time.process_time()
            scores = compute.evaluate(
                model,
                data=folder / "triplets.csv",
                results=Path(scratch) / str(number),
                batch_size=BATCH,
                progress=False,
            )
            ours = time.process_time() - began
            if len(scores.runs) != 1:
                raise SystemExit(f"{len(scores.runs)} runs were made, not 1")
            began = time.process_time()
            direct(model, transform, paths)
            theirs = time.process_time() - began
            began = time.process_time()
            wrap(model, hardware=hardware_of(model))
            fixed = time.process_time() - began
            ratios.append(ours / theirs - 1)
            growing.append((ours - fixed) / theirs - 1)
            print(
                f"{'first ' if not number else ''}round: evaluate {ours:.2f} s, loop {theirs:.2f} s of processor time "
                f"for {options.images} images: {ratios[-1]:+.1%}, of it digest and check {fixed:.2f} s",
                flush=True,
            )
    median = statistics.median(ratios[1:])
    print(f"evaluate takes {median:+.1%} over the loop (median of {options.rounds}; allowed {OVER:+.0%})")
    print(f"without digest and check, which do not grow with the images: {statistics.median(growing[1:]):+.1%}")
    return int(median > OVER)


if __name__ == "__main__":
    sys.exit(main())
