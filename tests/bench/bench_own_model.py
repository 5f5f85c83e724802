"""`compute.evaluate` of a model in memory beside a loop over the same items: python -m tests.bench.bench_own_model

JPEG files are drawn, as triplets of an odd-one-out task, so that every image is used once. A ViT-B/32 of open_clip with
random weights (speed does not depend on them) is evaluated on them, and called in a loop over the same files, decoded
and transformed alike and put through in batches of the same size, the model on one thread.

A machine's speed drifts by a tenth within minutes, more than what is measured. So the loop's batches are run in turn
with those of `evaluate`, one after each, and the loop's processor time is taken off the whole. A first round pays what
is done once a process (imports, the catalogue) and does not count.

What a model costs before its first item, digest and check, does not grow with the items and is told by itself. The
whole may take OVER more than the loop, in the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

import compute
from compute.models.own.wrapping import hardware_of, wrap
from tests.compute.tasks.files import put

OVER = 0.05
BATCH = 32


def drawn(folder, count, *, side):
    """`count` JPEG files of smooth noise, and `triplets.csv` beside them, which uses each once."""
    names = [f"{at}.jpg" for at in range(count)]
    for at, name in enumerate(names):
        small = np.random.default_rng(at).integers(0, 255, (side // 16, side // 12, 3), dtype=np.uint8)
        large = Image.fromarray(small).resize((side * 4 // 3, side), Image.Resampling.BICUBIC)
        large.save(folder / name, quality=90)
    rows = [(*names[start : start + 3], 1 + start // 3 % 3) for start in range(0, count, 3)]
    put(folder, {"triplets.csv": [("member_1", "member_2", "member_3", "odd"), *rows]})
    return [folder / name for name in names]


def in_turn(model, transform, paths, *, results):
    """Processor time of `evaluate`, and of what a script of one's own would do with the same files, each batch after
    one of the other."""
    import open_clip
    import torch

    encode, parts = open_clip.CLIP.encode_image, [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]
    seconds = []  # processor time of this thread, by batch of the loop; the model has one thread

    def followed(self, image, normalize=False):
        vectors = encode(self, image, normalize=normalize)
        if len(image) == BATCH and len(seconds) < len(parts):  # the check before the first item has fewer
            began = time.thread_time()
            with torch.inference_mode():
                images = [transform(Image.open(path).convert("RGB")) for path in parts[len(seconds)]]
                encode(self, torch.stack(images)).numpy()
            seconds.append(time.thread_time() - began)
        return vectors

    data = paths[0].parent / "triplets.csv"
    with mock.patch.object(open_clip.CLIP, "encode_image", followed):
        began = time.process_time()
        scores = compute.evaluate(model, data=data, results=results, batch_size=BATCH, progress=False)
        whole = time.process_time() - began
    if len(scores.runs) != 1 or len(seconds) != len(parts):
        raise SystemExit(f"{len(scores.runs)} runs were made, not 1, or {len(seconds)} batches of the loop")
    return whole - sum(seconds), sum(seconds)


def main():
    """Prints both times and their ratio; 1 where it is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--images", type=int, default=1056, help=f"divisible by 3 and by {BATCH}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", type=int, default=480, help="pixels of the images' shorter side")
    options = parser.parse_args()
    if options.images % (3 * BATCH):
        parser.error(f"--images {options.images} is not divisible by {3 * BATCH}")
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
        ratios = []
        for number in range(options.rounds + 1):
            ours, theirs = in_turn(model, transform, paths, results=Path(scratch) / str(number))
            began = time.process_time()
            wrap(model, hardware=hardware_of(model))
            fixed = time.process_time() - began
            ratios.append(ours / theirs - 1)
            print(
                f"{'first ' if not number else ''}round: evaluate {ours:.2f} s, loop {theirs:.2f} s of processor time "
                f"for {options.images} images: {ratios[-1]:+.1%}, of it digest and check {fixed:.2f} s",
                flush=True,
            )
    median = statistics.median(ratios[1:])
    print(f"evaluate takes {median:+.1%} over the loop (median of {options.rounds}; allowed {OVER:+.0%})")
    return int(median > OVER)


if __name__ == "__main__":
    sys.exit(main())
