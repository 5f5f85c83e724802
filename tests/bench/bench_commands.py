"""Processor seconds of commands, each beside a reference: python -m tests.bench.bench_commands

The least of the repeats, which take turns. Times without repeats are of one process's first call.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import compute
from compute.database.build import build
from compute.models.metrics import pixels
from tests.compute.models.checkpoints import CPU
from tests.compute.models.metrics.test_pixels import ROW, luma, reference_ssim

REPEATS = 3
COMMAND = ("-m", "compute")


def program(*words):
    """A call that runs a Python program, for `cost`."""

    def run():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run


def here(call):
    """A call in this process, for `cost`."""

    def run():
        began = time.process_time()
        call()
        return time.process_time() - began

    return run


def row(name, own, beside, reference, *, repeats=REPEATS):
    """Prints the least processor time of both."""
    first, second = np.min([(own(), reference()) for _ in range(repeats)], axis=0)
    print(f"{name:34}{first:>7.2f} s   {beside:34}{second:>7.2f} s   x {first / second:.2f}", flush=True)


def main():
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "scores.csv"
        lines = [f"m{at}," + ",".join(map(str, scores)) for at, scores in enumerate(rng.random((12, 8)).round(3))]
        table.write_text("\n".join(["model,a,b,c,d,e,f,g,h", *lines]))
        images = [
            Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)).resize((384, 288)) for _ in range(41)
        ]
        for at in range(600):
            side = folder / ("reference", "generated")[at % 2]
            side.mkdir(exist_ok=True)
            Image.fromarray(rng.integers(0, 255, (128, 128, 3), dtype=np.uint8)).save(side / f"{at}.png")
        row("--help", program(*COMMAND, "--help"), "import typer", program("-c", "import typer"))
        numbers = program("-c", "import pandas, scipy.special")
        row("rank --help", program(*COMMAND, "rank", "--help"), "import pandas, scipy.special", numbers)
        row("rank, 12 models", program(*COMMAND, "rank", str(table)), "import pandas, scipy.special", numbers)
        sets = ["--reference", str(folder / "reference"), "--generated", f"g={folder / 'generated'}"]
        how = ["--backbones", "tiny", "--no-store", "--results"]
        frechet = (program(*COMMAND, "frechet", *sets, *how, str(folder / f"{at}"))() for at in range(REPEATS))
        row("frechet, 600 PNGs", lambda: next(frechet), "import torch", program("-c", "import torch"))
        pairs = list(zip(images, images[1:], strict=False))
        by_scikit = here(lambda: [reference_ssim(*map(luma, pair)) for pair in pairs])
        for load in (pixels.load_ssim, pixels.load_ms_ssim):
            metric = load(ROW, CPU, None)
            row(
                f"{metric.title}, 40 pairs",
                here(lambda m=metric: m.compare(*zip(*pairs, strict=True))),
                "SSIM by scikit-image",
                by_scikit,
            )
        results, database = folder / "results", folder / "own.duckdb"
        build(database, results=results)
        compute.evaluate("tiny", suite="mini", tasks=["mini/image-choice"], results=results)
        after = here(lambda: build(database, results=results))
        row(
            "build after a run",
            after,
            "a whole build",
            here(lambda: build(folder / "new.duckdb", results=results)),
            repeats=1,
        )


if __name__ == "__main__":
    main()
