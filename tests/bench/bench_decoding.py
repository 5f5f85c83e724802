"""What decoding visitors' images in processes of their own costs: python -m tests.bench.bench_decoding [--repeats 9]

Each file is decoded in this process and by the pool in turn, so that both meet the same machine. A line a file: seconds
by the clock and of processor time, medians of all repeats, and the most memory that the child ever held.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image

from compute.live import inputs
from compute.live.decoder import DecoderPool

SHARE, MARGIN = 1.15, 0.020  # goals: of the time in process for 40 megapixels, and seconds more for a small one


def photograph(width: int, height: int) -> Image.Image:
    """Smooth colours with a little noise: a JPEG of 40 megapixels has 5 MB."""
    rng = np.random.default_rng(0)
    coarse = Image.fromarray(rng.integers(0, 256, (40, 64, 3), dtype=np.uint8))
    return coarse.resize((width, height), Image.Resampling.BICUBIC)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def files() -> dict[str, bytes]:
    """By a name; all are within the limits of an upload."""
    large = photograph(8000, 5000)
    flat = large.quantize(64).convert("RGB")
    clear = flat.copy()
    clear.putalpha(flat.getchannel(0))
    return {
        "JPEG, 40 MP": saved(large, "JPEG", quality=90),
        "PNG, 40 MP": saved(flat, "PNG", compress_level=6),
        "PNG with alpha, 24 MP": saved(clear.resize((6000, 4000), 0), "PNG", compress_level=6),
        "WebP, 19 MP": saved(flat.reduce(2).resize((5400, 3500)), "WEBP", quality=30, method=0),
        "JPEG, 12 MP": saved(photograph(4000, 3000), "JPEG", quality=90),
        "JPEG, 512 px": saved(photograph(512, 512), "JPEG", quality=90),
        "PNG, 512 px": saved(photograph(512, 512), "PNG"),
    }


def processor(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+)", status)[1]) * 1024 / 1e6


def timed(decode: Callable[[], object], spent: Callable[[], float]) -> tuple[float, float]:
    """Seconds by the clock and of processor time."""
    began, before = time.perf_counter(), spent()
    decode()
    return time.perf_counter() - began, spent() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    if not Path("/proc/self/status").exists():
        sys.exit("Only Linux says what a process holds")
    missed = 0
    for name, data in files().items():
        pool = DecoderPool(workers=1)
        small = saved(photograph(64, 64), "PNG")
        pool.image(small, name="x")
        pid = pool._free.queue[0].pid

        def own(data: bytes = data) -> bytes:
            return inputs.thumbnail(inputs.image(data, name="x").content)

        def pooled(data: bytes = data, pool: DecoderPool = pool) -> bytes:
            return pool.image_with_thumbnail(data, name="x")[1]

        def both(pid: int = pid) -> float:
            return time.process_time() + processor(pid)

        assert own() == pooled()
        pairs = [(timed(own, time.process_time), timed(pooled, both)) for _ in range(repeats)]
        (clock, cpu), (pool_clock, pool_cpu) = (
            [median(values) for values in zip(*side, strict=True)] for side in zip(*pairs, strict=True)
        )
        least, pool_least = (min(times[0] for times in side) for side in zip(*pairs, strict=True))
        good = pool_least <= max(SHARE * least, least + MARGIN)
        missed += not good
        print(
            f"{name:22} {len(data) / 1e6:4.1f} MB: in process {clock:.3f} s ({cpu:.3f} s of processor), pool "
            f"{pool_clock:.3f} s ({pool_cpu:.3f} s), fastest {least:.3f} and {pool_least:.3f} s; child at most "
            f"{megabytes(pid, 'VmHWM'):.0f} MB, at rest {megabytes(pid, 'VmRSS'):.0f} MB{'' if good else '  MISSED'}",
            flush=True,
        )
        pool.close()
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
