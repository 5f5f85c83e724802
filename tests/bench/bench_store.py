"""A million stored vectors: bytes, how fast they are written, opened and looked up.

python -m tests.bench.bench_store [--items 1000000] [--width 768] [--dtype float16] [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from compute.features import passes
from compute.features.store import EmbeddingCache

LOOKED_UP = 1000  # random items


def keys_of(count: int) -> np.ndarray:
    """(count,) S32: hexadecimal digits that look random and are distinct, as content keys are."""
    mixed = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # odd: no two have the same product
    digits = np.stack([mixed, mixed ^ np.uint64(0x5DEECE66D)], axis=1).astype(">u8").tobytes().hex().encode()
    return np.frombuffer(digits, dtype="S32")


def main() -> None:
    """Writes shards as a pass does, merges them as at its end, reads in another cache, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    draw, keys = np.random.default_rng(0), keys_of(options.items)
    every, wanted = np.sort(keys), keys[draw.integers(0, options.items, LOOKED_UP)]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        times = [time.perf_counter()]
        cache = EmbeddingCache(Path(folder))
        with cache.locked(tell=print):
            for start in range(0, options.items, passes.SHARD):
                part = every[start : start + passes.SHARD]
                vectors = draw.standard_normal((len(part), options.width), dtype=np.float32)
                cache.append(part, vectors.astype(options.dtype))
            cache.merge()
        times.append(time.perf_counter())
        cache = EmbeddingCache(Path(folder))
        for read in (lambda: None, lambda: cache.vectors(wanted[:1]), lambda: cache.vectors(wanted)):
            read()
            times.append(time.perf_counter())
        assert cache.has(keys).all()
        times.append(time.perf_counter())
        sizes = [file.stat().st_size for file in Path(folder).iterdir()]
    print(f"{options.items:,} x {options.width} {options.dtype}: {sum(sizes) / 1e9:.3f} GB in {len(sizes)} files")
    names = ("written", "opened", "first item", f"{LOOKED_UP:,} random items", "which are stored")
    print("; ".join(f"{name}: {1e3 * step:,.1f} ms" for name, step in zip(names, np.diff(times), strict=True)))


if __name__ == "__main__":
    main()
