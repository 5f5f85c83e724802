"""A million stored vectors: bytes, how fast they are written, opened and looked up.

    python -m tests.bench.bench_store [--items 1000000] [--width 768] [--dtype float16] [--folder DIR]

Each step is a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from compute.features import passes
from compute.features.store import EmbeddingCache

LOOKED_UP = 1000  # random items


def keys_of(start: int, count: int) -> np.ndarray:
    """(count,) S32: hexadecimal digits that look random and are distinct, as content keys are."""
    numbers = np.arange(start, start + count, dtype=np.uint64)
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)  # odd: no two numbers have the same product
    digits = np.stack([mixed, mixed ^ np.uint64(0x5DEECE66D)], axis=1).astype(">u8").tobytes().hex().encode()
    return np.frombuffer(digits, dtype="S32")


def batches(items: int, width: int, dtype: str) -> Iterator[np.ndarray]:
    """Vectors (up to passes.SHARD, width), another random block a shard."""
    draw = np.random.default_rng(0)
    for start in range(0, items, passes.SHARD):
        yield draw.standard_normal((min(passes.SHARD, items - start), width), dtype=np.float32).astype(dtype)


def write(folder: Path, items: int, width: int, dtype: str) -> None:
    """Shards as a pass writes them, merged as at its end."""
    cache, every = EmbeddingCache(folder / "image"), np.sort(keys_of(0, items))
    with cache.locked(tell=print):
        for at, vectors in enumerate(batches(items, width, dtype)):
            start = at * passes.SHARD
            cache.append(every[start : start + len(vectors)], vectors)
        cache.merge()


def read(folder: Path, items: int, width: int, dtype: str) -> dict[str, float]:
    """Seconds to open, to the first item, and to LOOKED_UP random ones."""
    wanted = keys_of(0, items)[np.random.default_rng(1).integers(0, items, LOOKED_UP)]
    began = time.perf_counter()
    cache = EmbeddingCache(folder / "image")
    opened = time.perf_counter()
    cache.vectors(wanted[:1])
    first = time.perf_counter()
    cache.vectors(wanted)
    many = time.perf_counter()
    return {"open": opened - began, "first": first - opened, "many": many - first}


def has(folder: Path, items: int, width: int, dtype: str) -> dict[str, float]:
    """Seconds to find out which of all items are stored, as a pass begins."""
    cache, every = EmbeddingCache(folder / "image"), keys_of(0, items)
    began = time.perf_counter()
    assert cache.has(every).all()
    return {"has": time.perf_counter() - began}


STEPS = {"write": write, "read": read, "has": has}


def step(name: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """One step in a process of its own: what it measured, its seconds and its memory beside Python and numpy."""
    words = [str(options.items), str(options.width), options.dtype]
    command = [sys.executable, "-m", "tests.bench.bench_store", "--step", name, str(folder), *words]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_step(name: str, folder: str, items: str, width: str, dtype: str) -> None:
    """Prints what a step measured as JSON."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    measured = STEPS[name](Path(folder), int(items), int(width), dtype) or {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({**measured, "seconds": time.perf_counter() - began, "peak_mb": peak / 1024}))


def main() -> None:
    """Writes, reads and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-store-", dir=options.folder))
    try:
        made, found, held = (step(name, folder, options) for name in STEPS)
        files = list((folder / "image").iterdir())
        print(
            f"{options.items:,} x {options.width} {options.dtype}: "
            f"{sum(file.stat().st_size for file in files) / 1e9:.3f} GB in {len(files)} files, "
            f"written in {made['seconds']:.1f} s (peak {made['peak_mb']:.0f} MB); "
            f"opened in {found['open'] * 1e3:.1f} ms, first item {found['first'] * 1e3:.1f} ms, "
            f"{LOOKED_UP:,} random items {found['many'] * 1e3:.0f} ms (peak {found['peak_mb']:.0f} MB); "
            f"which are stored: {held['has']:.1f} s"
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        run_step(*sys.argv[2:])
    else:
        main()
