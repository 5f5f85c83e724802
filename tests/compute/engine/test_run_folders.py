"""Run folders: whole or absent, read back as written; what is damaged or no run can hold is left out and named."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from compute.database import store
from compute.engine import run_folders as runs
from compute.engine.run_folders import ITEMS, MARK, SCORES
from compute.io import files
from compute.types import BadInput, Run, Score

RUN = Run(
    id="computed/m/x/t/abc",
    model="m/x",
    task="b/t",
    origin="computed",
    fingerprint="abc",
    settings={"model": {"adapter": "clip"}, "options": {"k": 2}},
    started="2026-01-01T00:00:00+00:00",
    seconds=1.5,
    device="cpu",
)
KEY = {"model": "m/x", "task": "b/t", "fingerprint": "abc"}


def score(value=0.5, metric="accuracy", **changes):
    return Score(run=RUN.id, metric=metric, value=value, **{"subset": "default", "n": 4, "stderr": 0.25} | changes)


SECOND = score(0.75, "cosine_spearman", subset="en", stderr=None, n=None)


def evidence(count=3):
    return pd.DataFrame(
        {
            "item": [f"i{row}" for row in range(count)],
            "expected": ["A"] * count,
            "answer": ["B"] * count,
            "correct": pd.Series([True, None, False] * count, dtype=object)[:count],
            "value": np.linspace(-1, 1, count),
            "accuracy": np.linspace(0, 1, count),
            "detail": [{"images": [b"k1", "k2"], "scores": np.array([0.5, np.nan], dtype=np.float32)}] * count,
        }
    )


def write(root):
    return runs.write(root, run=RUN, scores=[score(), SECOND], items=runs.table({"default": evidence()}))


@pytest.fixture
def kept(tmp_path):
    return write(tmp_path / "results")


@pytest.fixture
def folder(kept):
    return kept.folder


def test_a_run_is_read_back_as_it_was_written(kept, tmp_path):
    root = tmp_path / "results"
    assert kept.folder == root / "m__x" / "b__t" / "abc" and list(runs.every(root)) == [kept.folder]
    assert sorted(path.name for path in kept.folder.iterdir()) == sorted([SCORES, ITEMS, MARK])
    assert runs.read(kept.folder) == kept == runs.find(root, **KEY)
    scores = store.read_parquet(kept.folder / SCORES)
    assert scores["value"].tolist() == [0.5, 0.75] and scores["stderr"].isna().tolist() == [False, True]


def test_the_items_of_a_run_keep_their_columns(folder):
    with duckdb.connect() as plain:
        columns = "item, subset, expected, answer, correct, value, accuracy, detail"
        rows = plain.execute(f"SELECT {columns} FROM '{folder / ITEMS}' ORDER BY item").fetchall()
    assert [row[:7] for row in rows] == [
        ("i0", "default", "A", "B", True, -1.0, 0.0),
        ("i1", "default", "A", "B", None, 0.0, 0.5),
        ("i2", "default", "A", "B", False, 1.0, 1.0),
    ]
    assert json.loads(rows[0][7]) == {"images": ["k1", "k2"], "scores": [0.5, None]}


def test_an_earlier_run_goes_before_the_new_one_is_written(folder, monkeypatch):
    """Killed in between, there must be no mark over the new items."""
    monkeypatch.setattr(store, "write_parquet", lambda path, *, frame: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write(folder.parents[2])
    assert not (folder / MARK).exists() and list(runs.every(folder.parents[2])) == []


def changed(folder, name, value):
    """Sets `field`, `settings.field` or `score.field` in the folder's run.json."""
    record = json.loads((folder / MARK).read_text())
    part, _, field = name.rpartition(".")
    {"": record, "settings": record["settings"], "score": record["scores"][0]}[part][field] = value
    (folder / MARK).write_text(json.dumps(record))


SCORE = {"subset": "default", "metric": "accuracy", "value": 0.5}


@pytest.mark.parametrize(
    "name, value, reason",
    [
        (MARK, b"", "damaged"),
        (MARK, b"{}", "damaged"),
        (MARK, b"null", "no object"),
        (MARK, b" " * (files.MAX_RECORD + 1), "MB"),
        (ITEMS, b"PAR1", "not a whole"),
        (SCORES, b"PAR1 cut short", "not a whole"),
        (ITEMS, None, "No such file"),
        ("score.stderr", 3, "stderr"),
        ("score.lower_bound", -0.5, "lower_bound"),
        ("score.low", 0.4, "interval"),
        ("score.subset", "x" * 201, "subset"),
        ("score.run", "another", "run"),
        ("scores", [], "scores"),
        ("scores", [SCORE] * 2, "two of its scores"),
        ("scores", [SCORE | {"low": 0.6, "high": 0.4}], "interval"),
        ("status", "failed", "status"),
        ("model", "another/model", "another model"),
        ("started", "tomorrow", "started"),
        ("error", "\ud800", "half a character"),
        ("colour", "red", "colour"),
        ("settings.coverage", 7, "coverage"),
        ("settings.encodings", [{"encoded": 3, "seconds": "x"}], "seconds"),
    ],
)
def test_what_is_damaged_or_no_run_holds_is_refused_and_named(folder, name, value, reason):
    if value is None:
        (folder / name).unlink()
    elif isinstance(value, bytes):
        (folder / name).write_bytes(value)
    else:
        changed(folder, name, value)
    with pytest.raises(BadInput, match="m__x/b__t/abc.*run again") as raised:
        runs.read(folder)
    assert reason in str(raised.value) and len(str(raised.value)) < 400
    assert runs.find(folder.parents[2], **KEY) is None


@pytest.mark.parametrize(
    "stated, field, read",
    [
        ({"score.value": 1.0000000000000002}, "value", 1.0),  # a sum of floats may end just beyond a bound
        ({"score.low": 0.1, "score.high": 0.4}, "high", 0.4),  # an interval may leave the value out
        ({"settings.coverage": 0.5, "score.coverage": None}, "coverage", 0.5),
        ({"started": "2026-01-01T05:00:00+09:00"}, "started", "2025-12-31T20:00:00+00:00"),
    ],
)
def test_what_is_read_otherwise_than_it_is_stated(folder, stated, field, read):
    for name, value in stated.items():
        changed(folder, name, value)
    found = runs.read(folder)
    assert getattr(found.run if field == "started" else found.scores[0], field) == read


@pytest.mark.parametrize("name", ["", MARK, SCORES, ITEMS])
def test_a_link_out_of_the_results_is_refused_and_one_within_is_not(folder, tmp_path, name):
    inside, outside = folder.parents[2] / "other" / "b__t" / "abc", tmp_path / "outside" / "m__x" / "b__t" / "abc"
    place = folder / name
    for target in (inside, outside):
        target.parent.mkdir(parents=True)
        place.resolve().rename(target)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        if target == inside:
            assert runs.read(folder).run == RUN
    with pytest.raises(BadInput, match="link"):
        runs.read(folder)


def test_another_machines_clock_may_run_ahead():
    """By hours; a run of the future proper does not win for ever, which the database's tests show."""
    for hours, late in ((2, False), (48, True)):
        started = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")
        run = Run(id="", model="", task="", started=started)
        assert runs.StoredRun(run=run, scores=(), folder=Path("x")).is_of_the_future == late


def test_the_fingerprint_is_of_the_content_not_of_its_order():
    """Reference: hashlib over JSON written by hand."""
    by_hand = hashlib.blake2b(b'{"a":[1,2],"b":{"c":"d","e":0.5}}', digest_size=10).hexdigest()
    assert runs.fingerprint({"b": {"e": np.float64(0.5), "c": b"d"}, "a": (1, 2)}) == by_hand
    assert runs.fingerprint({"a": 1}) != runs.fingerprint({"a": "1"}) != runs.fingerprint({"a": True})
    with pytest.raises(TypeError, match="object"):
        runs.fingerprint({"a": object()})


def test_the_headline_is_the_whole_or_the_mean_of_the_parts():
    parts = (score(0.4, subset="en"), score(0.8, subset="de", stderr=0.15), score(0.1, "nmi", subset="en"))
    mean = runs.headline(runs.StoredRun(run=RUN, scores=parts, folder=Path("x")))
    assert (mean.value, mean.n, mean.stderr) == (pytest.approx(0.6), 8, pytest.approx(0.2))
    assert runs.headline(runs.StoredRun(run=RUN, scores=(parts[0], score(0.7)), folder=Path("x"))).value == 0.7
