"""Run folders: whole or absent, read back as written, damaged ones named."""

from __future__ import annotations

import hashlib
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from compute.database import store
from compute.engine import run_folders as runs
from compute.engine.run_folders import ITEMS, MARK, SCORES
from compute.types import BadInput, Run, Score

SETTINGS = {"model": {"adapter": "clip"}, "options": {"k": 2}}


def run(**changes: object) -> Run:
    given = {
        "id": "computed/m/x/t/abc",
        "model": "m/x",
        "task": "b/t",
        "origin": "computed",
        "fingerprint": "abc",
        "settings": SETTINGS,
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": 1.5,
        "device": "cpu",
    }
    return Run(**{**given, **changes})


def score(value: float = 0.5, **changes: object) -> Score:
    return Score(
        **{
            "run": "computed/m/x/t/abc",
            "subset": "default",
            "metric": "accuracy",
            "value": value,
            "n": 4,
            "stderr": 0.25,
            **changes,
        }
    )


def evidence(count: int = 3) -> pd.DataFrame:
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


def test_a_run_is_read_back_as_it_was_written(tmp_path):
    kept = runs.write(
        tmp_path,
        run=run(),
        scores=[score(), score(0.75, metric="nmi", stderr=None, n=None)],
        items=runs.table({"default": evidence()}),
    )
    assert kept.folder == tmp_path / "m__x" / "b__t" / "abc"
    assert sorted(path.name for path in kept.folder.iterdir()) == sorted([SCORES, ITEMS, MARK])
    assert runs.read(kept.folder) == kept == runs.find(tmp_path, model="m/x", task="b/t", fingerprint="abc")
    assert list(runs.every(tmp_path)) == [kept.folder]
    scores = store.read_parquet(kept.folder / SCORES)
    assert scores["value"].tolist() == [0.5, 0.75] and scores["stderr"].isna().tolist() == [False, True]


def test_the_items_of_a_run_keep_their_columns(tmp_path):
    kept = runs.write(tmp_path, run=run(), scores=[score()], items=runs.table({"default": evidence()}))
    with duckdb.connect() as plain:
        rows = plain.execute(
            "SELECT item, subset, expected, answer, correct, value, accuracy, detail "
            f"FROM '{kept.folder / ITEMS}' ORDER BY item"
        ).fetchall()
    assert [row[:7] for row in rows] == [
        ("i0", "default", "A", "B", True, -1.0, 0.0),
        ("i1", "default", "A", "B", None, 0.0, 0.5),
        ("i2", "default", "A", "B", False, 1.0, 1.0),
    ]
    assert json.loads(rows[0][7]) == {"images": ["k1", "k2"], "scores": [0.5, None]}


def test_items_of_several_subsets_are_told_apart():
    frame = runs.table({"en": evidence(2), "de": evidence(1)})
    assert frame[["item", "subset"]].values.tolist() == [["en/i0", "en"], ["en/i1", "en"], ["de/i0", "de"]]
    with pytest.raises(BadInput, match="'i0' twice"):
        runs.table({"default": pd.concat([evidence(), evidence()])})


def test_an_earlier_run_goes_before_the_new_one_is_written(tmp_path, monkeypatch):
    """Killed in between, there must be no mark over the new items."""
    first = runs.write(tmp_path, run=run(), scores=[score()], items=runs.table({"default": evidence()}))
    monkeypatch.setattr(store, "write_parquet", lambda path, *, frame: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        runs.write(tmp_path, run=run(), scores=[score()], items=runs.table({"default": evidence()}))
    assert not (first.folder / MARK).exists() and list(runs.every(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (MARK, b""),
        (MARK, b"{}"),
        (MARK, b"null"),
        (ITEMS, b"PAR1"),
        (SCORES, b"PAR1 cut short"),
        (ITEMS, None),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, name, content):
    folder = runs.write(tmp_path, run=run(), scores=[score()], items=runs.table({"default": evidence()})).folder
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(BadInput, match="m__x/b__t/abc.*run again"):
        runs.read(folder)
    assert runs.find(tmp_path, model="m/x", task="b/t", fingerprint="abc") is None


def test_the_fingerprint_is_of_the_content_not_of_its_order():
    """Reference: hashlib over JSON written by hand."""
    by_hand = hashlib.blake2b(b'{"a":[1,2],"b":{"c":"d","e":0.5}}', digest_size=10).hexdigest()
    assert runs.fingerprint({"b": {"e": np.float64(0.5), "c": b"d"}, "a": (1, 2)}) == by_hand
    assert runs.fingerprint({"a": 1}) != runs.fingerprint({"a": "1"}) != runs.fingerprint({"a": True})
    with pytest.raises(TypeError, match="object"):
        runs.fingerprint({"a": object()})


def test_the_headline_is_the_whole_or_the_mean_of_the_parts(tmp_path):
    parts = [score(0.4, subset="en"), score(0.8, subset="de"), score(0.1, subset="en", metric="nmi")]
    kept = runs.StoredRun(run=run(), scores=tuple(parts), folder=tmp_path)
    assert runs.headline(kept).value == pytest.approx(0.6) and runs.headline(kept).n == 8
    assert runs.headline(kept).stderr == pytest.approx(np.mean([one.stderr for one in parts[:2]]))
    whole = runs.StoredRun(run=run(), scores=(parts[0], score(0.7)), folder=tmp_path)
    assert runs.headline(whole).value == 0.7
