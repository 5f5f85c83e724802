"""Encoding by 1 to N workers beside this process alone: python -m tests.bench.bench_scaling --workers 2

JPEG files are drawn and encoded by a network of random weights, one thread a process: by the local engine, by processes
on this machine, and by Ray actors. What is timed begins when the first worker holds the model. Then the parts of one
worker's time (reading and decoding; the model), and what handing out costs: the round trip of a shard that is stored
already. From these it says what bounds one worker, and how many workers the process that hands out can feed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from compute.engine.workers.assigning import limit_threads

BATCH, SHARD = 16, 32
NETWORK = "LIKENESS_BENCH_NETWORK"  # `small` or a name of open_clip's, for the workers too


@cache
def model() -> Any:
    """One a process."""
    from compute.models.adapter import Hardware
    from tests.bench.bench_encoding import Encoder

    return Encoder(os.environ.get(NETWORK, "small"), Hardware(device="cpu", dtype="float32"))


def load_items(folder: Path, task: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The files as three columns of one task."""
    from tests.bench.bench_encoding import column
    from tests.compute.engine import remade_bench

    paths = sorted(folder.glob("*.jpg"))
    whole = len(paths) // 3 * 3  # an item has three images
    return {"default": remade_bench.choices([column(paths[start:whole:3]) for start in range(3)])}


def load(row: Any, *, hardware: Any) -> Any:
    return model()


def bench(images: Path, *, features: Path, device: str = "cpu") -> Any:
    """What every process of a run makes for itself."""
    from tests.compute.engine import remade_bench

    return remade_bench.bench(
        features=features,
        device=device,
        batch_size=BATCH,
        load=load,
        load_items=partial(load_items, images),
        recipe=partial(bench, images, features=features),
    )


def rate(images: Path, workers: Any) -> tuple[float, float]:
    """Images a second of one run, and the seconds that handing out one stored shard takes (0 without workers)."""
    from compute.engine import plan, run
    from compute.features import passes
    from tests.compute.small_bench import CATALOG

    passes.SHARD = SHARD
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        made = bench(images, features=root / "features")
        planned = plan.make(
            CATALOG, suite="small", models=["small/eye"], tasks=["unisim/near"], bench=made, results=root / "results"
        )
        (outcome,) = run.execute(planned, bench=made, results=root / "results", workers=workers)
        if outcome.stored is None:
            sys.exit(outcome.reason)
        (done,) = outcome.stored.run.settings["encodings"]
        return done["encoded"] / done["seconds"], 0.0 if workers is None else trip(planned, made, root, workers)


def trip(planned: Any, made: Any, root: Path, workers: Any) -> float:
    """Seconds a shard that need not be encoded takes from here to a worker and back, one after the other."""
    from collections import Counter

    import numpy as np

    from compute.content.items import content_key
    from compute.engine.execution import Execution
    from compute.features.passes import PlannedShard

    job = planned.jobs[0]
    execution = Execution(
        bench=made, results=root, skip_bad=False, pictures=0, report=lambda line: None, uses=Counter()
    )
    keys = np.array([content_key(str(at)) for at in range(2048)], dtype="S32")
    shards = [PlannedShard(keys=keys, pending=np.zeros(len(keys), dtype=bool))] * 200
    with workers.crew(job.model, [job], execution) as crew:
        crew.encoders.settings()
        list(crew.encoders.encode("image", shards[:20], BATCH))
        began = time.perf_counter()
        list(crew.encoders.encode("image", shards, BATCH))
        return (time.perf_counter() - began) / len(shards)


def alone(images: Path) -> tuple[float, float]:
    """Images a second that are read, decoded and preprocessed, and that the model takes, each by itself."""
    from compute.content.decoding import decode

    paths = sorted(images.glob("*.jpg"))[: 4 * BATCH]
    model()  # loaded before anything is timed
    began = time.process_time()
    ready = [model().prepare("image", decode(path.read_bytes())) for path in paths]
    decoding = len(paths) / (time.process_time() - began)
    model().embed("image", ready[:BATCH])
    began = time.process_time()
    for start in range(0, len(ready), BATCH):
        model().embed("image", ready[start : start + BATCH])
    return decoding, len(paths) / (time.process_time() - began)


def typical(measured: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The median of the rates of several turns, and that of their seconds a shard."""
    rates, trips = zip(*measured, strict=True)
    return statistics.median(rates), statistics.median(trips)


def main(options: Sequence[str] | None = None) -> None:
    """Prints the table, and what bounds it."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="up to so many")
    arguments.add_argument("--images", type=int, help="default: 1,536, or more for many workers")
    arguments.add_argument("--network", default="small", help="small, where decoding takes the most time, or ViT-B-32")
    arguments.add_argument("--turns", type=int, default=3, help="the median of so many is shown")
    given = arguments.parse_args(options)
    if given.workers < 1 or given.turns < 1:
        arguments.error("--workers and --turns are at least 1")
    least = given.workers * SHARD
    if given.images is None:
        given.images = max(1536, least)
    if given.images < least:
        arguments.error(
            f"--images {given.images} are too few: {given.workers} workers need {least:,}, a shard of {SHARD} each"
        )
    limit_threads(1)
    os.environ[NETWORK] = given.network
    from compute.engine.workers.processes import DeviceProcesses
    from compute.engine.workers.ray_cluster import RayCluster
    from tests.bench.bench_encoding import drawn

    counts = sorted({1, given.workers} | {2**at for at in range(10) if 2**at <= given.workers})
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder)
        drawn(images, given.images)
        decoding, forward = alone(images)
        print(f"{'':24}{'images/s':>10}{'of local':>10}{'a shard handed out':>22}", flush=True)

        def turns(make: Callable[[], Any]) -> tuple[float, float]:
            measured = []
            for _ in range(given.turns):
                workers = make()
                measured.append(rate(images, workers))
                if isinstance(workers, RayCluster):
                    workers.close()
            return typical(measured)

        base = turns(lambda: None)[0]
        print(f"{'local':24}{base:10.1f}{1:10.2f}", flush=True)
        trips = []
        for title, make in (
            ("processes", lambda count: DeviceProcesses(["cpu"] * count)),
            ("ray", lambda count: RayCluster(workers=count)),
        ):
            for count in counts:
                value, one = turns(partial(make, count))
                trips.append(one)
                print(
                    f"{title + f', {count} workers':24}{value:10.1f}{value / base:10.2f}{1000 * one:19.1f} ms",
                    flush=True,
                )
    part = 1 / forward / (1 / forward + 1 / decoding)
    slower = "the model" if part >= 0.5 else "reading and decoding"
    print(
        f"One worker: the model alone {forward:.1f} images/s, reading and decoding alone {decoding:.1f}/s of processor "
        f"time: {slower} takes {max(part, 1 - part):.0%}. Handing out a shard of 2,048 items takes "
        f"{1000 * max(trips):.1f} ms at most: of workers that encode 1,000 items/s each, one process feeds "
        f"{2048 / 1000 / max(trips):,.0f}"
    )


if __name__ == "__main__":
    from tests.bench import bench_scaling  # by its name, as workers import it

    bench_scaling.main()
