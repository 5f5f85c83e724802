"""Computed runs in the database: which are shown, what is left out and said, how many items, and when it is stale."""

import shutil

import pandas as pd
import pytest

from compute import paths
from compute.database import build, store
from compute.engine import run_folders, thumbnails
from compute.types import Run, Score

CLIP, OTHER = "openai/clip-vit-base-patch32", "laion/clip-vit-b-32-laion2b-s34b-b79k"


def keep(
    root,
    *,
    model=CLIP,
    task="unisim/nights",
    mark="a",
    value=0.5,
    count=3,
    items=None,
    metric="accuracy",
    subset="default",
    **changes,
):
    """One run folder with `count` items, or these."""
    given = {"settings": {"variant": changes.pop("variant", "")}, "started": "2026-01-01T00:00:00+00:00", **changes}
    key = f"computed/{model}/{task}/{mark}"
    run = Run(id=key, model=model, task=task, origin="computed", fingerprint=mark, **given)
    usual = {
        "item": [f"item {row}" for row in range(count)],
        "expected": "A",
        "answer": "B",
        "correct": pd.Series([False] * count, dtype=object),
        "value": -0.5,
        "detail": [{"images": [f"{row:032x}"]} for row in range(count)],
    }
    score = Score(run=key, subset=subset, metric=metric, value=value, n=count, stderr=0.1)
    table = run_folders.table({"default": pd.DataFrame(items or usual)})
    return run_folders.write(root, run=run, items=table, scores=[score])


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Builds from the test's own folder and asks the database."""
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "assets" / "computed")

    def ask(sql):
        report = build.build(tmp_path / "own.duckdb", results=tmp_path / "results")
        with store.connect(report.path) as connection:
            return report, connection.execute(sql).fetchall()

    return ask


def test_runs_of_tasks_that_are_no_more_stay_and_are_counted_in_a_sentence(without_imports, made, tmp_path):
    kept = [keep(tmp_path / "results", task=task) for task in ("mini/pages", "mini/counting", "unisim/nights")]
    kept.append(keep(tmp_path / "results", task="mini/pages", mark="b"))
    report, rows = made("SELECT task FROM runs WHERE origin = 'computed'")
    (problem,) = report.problems
    assert rows == [("unisim/nights",)] and problem.startswith("3 runs ") and "mini/counting, mini/pages" in problem
    assert all((run.folder / run_folders.MARK).is_file() for run in kept)


def test_after_a_run_only_what_rests_on_runs_is_made_again(made, tmp_path, monkeypatch):
    def rows(path):
        with store.connect(path) as connection:
            return {name: sorted(map(repr, connection.table(name).fetchall())) for name in store.TABLES}

    count = "SELECT count(*) FROM runs"
    keep(tmp_path / "results", mark="old", started="2026-01-01", value=0.9)
    keep(tmp_path / "results", mark="again")
    keep(tmp_path / "results", model=OTHER)
    made(count)
    claims = build.all_claims
    monkeypatch.setattr(build, "all_claims", lambda: pytest.fail("the claims have not changed"))
    keep(tmp_path / "results", mark="new", started="2026-02-01", value=0.1)
    keep(tmp_path / "results", mark="again", value=0.2, count=5)
    shutil.rmtree(tmp_path / "results" / "openai__clip-vit-base-patch32" / "unisim__nights" / "old")
    report, _ = made(count)
    assert report.computed == 3
    monkeypatch.setattr(build, "all_claims", claims)
    whole = build.build(tmp_path / "whole.duckdb", results=tmp_path / "results")
    assert rows(report.path) == rows(whole.path)
    assert (report.runs, report.claims) == (whole.runs, whole.claims)
    (paths.COMPUTED / "changed.json").parent.mkdir(parents=True, exist_ok=True)
    (paths.COMPUTED / "changed.json").write_text("{}")
    monkeypatch.setattr(build, "all_claims", lambda: [])
    assert made(count)[0].claims == 0


def test_of_many_items_every_model_shows_the_same(without_imports, made, tmp_path, monkeypatch):
    monkeypatch.setattr(run_folders, "PAGE_ITEMS", 20)
    keep(tmp_path / "results", count=90)
    keep(tmp_path / "results", model=OTHER, count=80)
    _, rows = made("SELECT run, list(item ORDER BY item) FROM items GROUP BY run")
    assert [len(items) for _, items in rows] == [20, 20]
    both = [set(items) for _, items in rows]
    assert set(run_folders.page_items([f"item {row}" for row in range(90)], most=20)) in both
    assert len(both[0] & both[1]) > 12  # all but those of the ten that one lacks


def test_thumbnails_of_both_roots_stand_once_each(without_imports, made, tmp_path):
    keep(tmp_path / "results")
    for root, keys in (("results", ["k1", "k2"]), ("assets/computed", ["k2", "k3"])):
        path = thumbnails.path(tmp_path / root, "unisim/nights")
        path.parent.mkdir(parents=True)
        store.write_parquet(path, frame=pd.DataFrame({"image": keys, "webp": [key.encode() for key in keys]}))
    other = thumbnails.path(tmp_path / "results", "unisim/pipal")  # of a task without a run
    store.write_parquet(other, frame=pd.DataFrame({"image": ["k9"], "webp": [b"k9"]}))
    _, rows = made("SELECT task, image, webp FROM thumbnails ORDER BY image")
    assert rows == [("unisim/nights", key, key.encode()) for key in ("k1", "k2", "k3")]
