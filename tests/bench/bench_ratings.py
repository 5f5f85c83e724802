"""What every rating of a large field of judges adds to the database and to the Judges page: bytes and processor time.

Made up on the fly: judges that err at random over PairBench's splits. `python -m tests.bench.bench_ratings`, with
`--judges 20 --splits 20 --sources 500` as is usual: 1.2 million rated pairs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from compute.catalog import shipped
from compute.database import build, store
from compute.engine import run_folders
from compute.metrics.judge import CONDITIONS
from compute.types import Run, Score
from leaderboard.data.database import Database
from leaderboard.pages.judges.page import Judging

TYPES = {"identical": 10, "transformed": 8, "irrelevant": 1}


def evidence(sources: int, generator: np.random.Generator) -> pd.DataFrame:
    """One judge's run on a split, as a run folder stores it."""
    parts = {}
    for condition in CONDITIONS:
        names = [f"{source:012d}.jpg" for source in range(sources) for _ in TYPES]
        kinds, truth = list(TYPES) * sources, np.tile(list(TYPES.values()), sources)
        scores = np.clip(truth + generator.integers(-2, 3, (2, len(truth))), 1, 10).astype(float)
        templates = generator.integers(0, 5, len(truth))
        replies = ["Score: 8 Reason: They look alike, but the second is smaller.", "Score: 9 Reason: One scene, twice."]
        parts[condition] = pd.DataFrame(
            {
                "item": [f"{name}/{kind}" for name, kind in zip(names, kinds, strict=True)],
                "expected": truth.astype(str),
                "answer": [f"{one:.0f} | {other:.0f}" for one, other in scores.T],
                "value": np.abs(scores[0] - scores[1]),
                "forward": scores[0],
                "reverse": scores[1],
                "expected_score": truth.astype(float),
                "source": names,
                "type": kinds,
                "template": templates,
                "detail": [
                    {"images": [name * 2, name * 3], "problems": ["", ""], "replies": replies, "type": kind}
                    for name, kind in zip(names, kinds, strict=True)
                ],
            }
        )
    return run_folders.table(parts)


def measured(title: str, act: Callable[[], Any]) -> Any:
    """The act's result; prints the processor time that it took."""
    started = time.process_time()
    result = act()
    print(f"{title:34} {time.process_time() - started:6.1f} s of processor time", flush=True)
    return result


def main() -> None:
    """Prints the table of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"judges": 20, "splits": 20, "sources": 500}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    known, generator = shipped(), np.random.default_rng(0)
    tasks = [task for task in known.tasks if task.procedure == "judging" and "pairbench" in task.suites and task.ranked]
    judges = [model for model in known.models if model.kind == "mllm"][: options.judges]
    frames = build.catalog_frames(known)
    runs, scores, files = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks[: options.splits]:
            for judge in judges:
                run = Run(
                    id=f"computed/{judge.key}/{task.key}/bench",
                    model=judge.key,
                    task=task.key,
                    origin="computed",
                    settings={"items": 2 * options.sources * len(TYPES)},
                )
                runs.append(run)
                scores += [
                    Score(run=run.id, subset=subset, metric="mmscore", value=0.5) for subset in (*CONDITIONS, "default")
                ]
                files.append((run.id, Path(folder) / f"{len(files)}.parquet"))
                store.write_parquet(files[-1][1], frame=evidence(options.sources, generator))
        frames |= {"runs": store.frame(runs), "scores": store.frame(scores)}
        path, sizes = Path(folder) / "bench.duckdb", []
        for title, rated in {"build without ratings": (), "build with ratings": files}.items():
            measured(
                title,
                lambda rated=rated: store.write(
                    path, frames=frames, items=files, most_items=run_folders.PAGE_ITEMS, ratings=rated
                ),
            )
            sizes.append(path.stat().st_size / 2**20)
        print(f"{'size without and with':34} {sizes[0]:6.1f} and {sizes[1]:.1f} MB")
        judging = Judging(SimpleNamespace(db=Database(path)))
        pairs = measured("ratings of the suite, read", lambda: judging.pairs("pairbench"))
        print(f"{'pairs, and what they take':34} {len(pairs):,}, {pairs.memory_usage(deep=True).sum() / 2**20:.1f} MB")
        measured("all judges compared", lambda: judging.compare("pairbench", "all"))
        measured("one judge in detail", lambda: judging.diagnose("pairbench", judges[0].key, ""))


if __name__ == "__main__":
    main()
