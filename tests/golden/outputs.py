"""What must not change while the code does, as tables of text: rankings, boards, claims, runs, Fréchet distances.

Each function returns one table, a header and its rows; a number has up to six significant digits. The files beside
this one hold them as they were. They are read from the outside: the app's answers, the
command line's functions, run folders.
After a change that was meant, `python -m tests.golden.outputs` writes the files anew, in the commit that explains it.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
BOARDS = ("unisim-core", "pairbench", "mini")
# Tasks of the drawn suites that the two smallest models run in a second or two each.
RUNS = {
    "mini": ("mini/image-choice", "mini/odd-one-out", "mini/alternatives", "mini/instances", "mini/shapes"),
    "mini-pairs": ("mini/pairs-r",),
}
# A word of the reason, and its code: the sentence may be worded otherwise.
REASONS = {"needs all": "incomplete", "printed mean": "printed means", "votes": "no votes", "one task": "one task"}
Table = list[list[str]]


def text(value: Any) -> str:
    """A cell: six significant digits of a number; empty for nothing."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value + 0.0:.6g}"
    return "" if value is None else str(value)


def reason(*sentences: str) -> str:
    sentence = next(filter(None, sentences), "")
    return next((code for word, code in REASONS.items() if word in sentence), "other" if sentence else "")


@contextmanager
def site() -> Iterator[Any]:
    """A client of the app over the shipped scores."""
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from compute.database.build import build
    from leaderboard import server

    with tempfile.TemporaryDirectory() as folder:
        database = build(Path(folder) / "likeness.duckdb", results=Path(folder) / "results").path
        _, launch = server.build(database)
        served = launch["app_kwargs"]
        app = Starlette(routes=served["routes"], middleware=served["middleware"], lifespan=served["lifespan"])
        with TestClient(app) as client:
            yield client


def rankings(client: Any) -> Table:
    """Every suite's models: rank, range, class, mean and interval, and why one of them is not known."""
    fields = ("rank", "low", "high", "tie", "mean", "mean_low", "mean_high", "borda")
    rows = [["suite", "origin", "model", *fields, "reason"]]
    suites = client.get(f"/data/board/{BOARDS[0]}").json()["suites"]
    for suite in (row["key"] for row in suites):
        board = client.get(f"/data/board/{suite}").json()
        ranks = board["ranking"]
        columns = [ranks[key] for key in fields]
        for row, model in enumerate(board["rows"]):
            values = [text(column[row] if column else None) for column in columns]
            why = reason(ranks["why"][row], ranks["unknown"][row])
            rows.append([suite, model["origin"], model["model"], *values, why])
    return rows


def board(client: Any, suite: str) -> Table:
    """A suite's payload as the table draws it: the cells, a mark beside its number."""
    payload = client.get(f"/data/board/{suite}").json()
    marks = payload["marks"]
    rows = [["model", *(column["key"] for column in payload["columns"])]]
    for r, (model, cells) in enumerate(zip(payload["rows"], payload["cells"], strict=True)):
        marked = (f" [{marks[f'{r},{c}']}]" if f"{r},{c}" in marks else "" for c in range(len(cells)))
        rows.append([model["id"], *(text(cell) + mark for cell, mark in zip(cells, marked, strict=True))])
    return rows


def claims(client: Any) -> Table:
    """Every claim with what the paper prints, what was recomputed, and the verdict."""
    answer = client.get("/data/claims").json()
    at = [answer["fields"].index(name) for name in ("key", "printed", "recomputed", "verdict")]
    return [["claim", "printed", "recomputed", "verdict"], *([text(row[i]) for i in at] for row in answer["rows"])]


def runs() -> Table:
    """Scores of the drawn suites' smallest tasks, run now by the two smallest models."""
    from typer.testing import CliRunner

    from compute.__main__ import app

    rows = [["suite", "model", "task", "subset", "metric", "value", "stderr", "n"]]
    with tempfile.TemporaryDirectory() as folder:
        for suite, tasks in RUNS.items():
            words = ["run", "--suite", suite, "--tasks", ",".join(tasks), "--models", "tiny,ssim", "--offline"]
            result = CliRunner().invoke(app, [*words, "--results", f"{folder}/{suite}"])
            assert result.exit_code in (0, 1), result.output  # 1: ssim cannot run a task of texts
            for path in sorted(Path(folder, suite).glob("*/*/*/run.json")):
                run = json.loads(path.read_text())
                for score in run["scores"]:
                    values = [text(score[key]) for key in ("subset", "metric", "value", "stderr", "n")]
                    rows.append([suite, run["model"], run["task"], *values])
    return rows


def frechet() -> Table:
    """Distances of two sets of 24 images to a reference of 24, by the bundled encoder."""
    frame = distances()[["generator", "metric", "backbone", "value", "n", "low", "high", "stderr", "limit"]]
    return [list(frame.columns), *([text(value) for value in row] for row in frame.itertuples(index=False))]


def distances(count: int = 24) -> Any:
    """The table behind it, as a frame, of `count` images a set."""
    import compute

    def images(seed: int, shift: float) -> list[Image.Image]:
        random = np.random.default_rng(seed)
        y, x = np.mgrid[0:64, 0:64] / 64
        found = []
        for _ in range(count):
            colour, wave, phase = random.random(3), random.uniform(2, 9, 2), random.uniform(0, 6)
            grey = 0.5 + 0.5 * np.sin(wave[0] * x + wave[1] * y + phase)
            pixels = np.clip(grey[..., None] * colour + shift * random.random((64, 64, 3)), 0, 1)
            found.append(Image.fromarray((pixels * 255).astype(np.uint8)))
        return found

    prompts = [
        f"a {colour} {what}"
        for colour in ("red", "blue", "green", "grey")
        for what in ("wave", "field", "sky", "stone", "sea", "fire", "leaf", "rose", "sand", "snow")[: count // 4]
    ]
    with tempfile.TemporaryDirectory() as folder:
        table = compute.frechet(
            reference=images(0, 0.0),
            generated={"near": images(1, 0.05), "far": images(2, 0.6)},
            prompts=prompts,
            backbones="tiny",
            features=Path(folder),
        )
    return table.frame()


def rank(path: Path) -> Table:
    """The ranking of somebody's table."""
    import compute

    frame = compute.rank(path).frame()
    frame["reason"] = [reason(sentence) for sentence in frame["reason"]]
    return [list(frame.columns), *([text(value) for value in row] for row in frame.itertuples(index=False))]


def everything() -> dict[str, Table]:
    """Every table by its file's name."""
    with site() as client:
        found = {"rankings": rankings(client), "claims": claims(client)}
        found |= {f"board-{suite}": board(client, suite) for suite in BOARDS}
    found |= {"runs": runs(), "frechet": frechet()}
    return found | {f"rank-{path.stem}": rank(path) for path in sorted((HERE / "tables").glob("*.csv"))}


def written(table: Table) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(table)
    return file.getvalue()


def stored(name: str) -> Table:
    with (HERE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


if __name__ == "__main__":
    for name, table in everything().items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            (HERE / f"{name}.csv").write_text(written(table), encoding="utf-8")
            print(f"{name}.csv: {len(table) - 1} rows")
