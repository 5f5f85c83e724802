"""What a `run.json` may hold: one wrong number, name or level of nesting, and the run is left out and named."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compute.engine import run_folders as runs
from compute.engine.run_folders import ITEMS, MARK, SCORES
from compute.io import files
from compute.types import BadInput
from tests.compute.engine.test_run_folders import evidence, run, score


@pytest.fixture
def folder(tmp_path):
    return runs.write(
        tmp_path / "results",
        run=run(),
        scores=[score(), score(0.75, metric="cosine_spearman", subset="en")],
        items=runs.table({"default": evidence()}),
    ).folder


def changed(folder: Path, name: str, value: Any) -> None:
    """Sets `field`, `settings.field` or `score.field` in the folder's run.json."""
    record = json.loads((folder / MARK).read_text())
    part, _, field = name.rpartition(".")
    {"": record, "settings": record["settings"], "score": record["scores"][0]}[part][field] = value
    (folder / MARK).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("score.stderr", 3, "stderr"),
        ("score.lower_bound", -0.5, "lower_bound"),
        ("score.low", 0.4, "interval"),
        ("score.subset", "x" * 201, "subset"),
        ("score.run", "another", "run"),
        ("scores", [], "scores"),
        ("status", "failed", "status"),
        ("model", "another/model", "another model"),
        ("started", "tomorrow", "started"),
        ("error", "\ud800", "half a character"),
        ("colour", "red", "colour"),
        ("settings.coverage", 7, "coverage"),
        ("settings.encodings", [{"encoded": 3, "seconds": "x"}], "seconds"),
    ],
)
def test_what_no_run_holds_is_refused(folder, name, value, reason):
    changed(folder, name, value)
    with pytest.raises(BadInput, match="m__x/b__t/abc") as raised:
        runs.read(folder)
    assert reason in str(raised.value) and len(str(raised.value)) < 400
    assert runs.find(folder.parents[2], model="m/x", task="b/t", fingerprint="abc") is None


def test_two_scores_of_one_subset_and_metric_are_refused(folder):
    record = json.loads((folder / MARK).read_text())
    changed(folder, "scores", [record["scores"][0]] * 2)
    with pytest.raises(BadInput, match="two of its scores"):
        runs.read(folder)


def test_a_sum_of_floats_may_end_just_beyond_a_bound(folder):
    changed(folder, "score.value", 1.0000000000000002)
    assert runs.read(folder).scores[0].value == 1.0


def test_a_record_too_large_to_read_is_refused(folder, monkeypatch):
    monkeypatch.setattr(files, "MAX_RECORD", 1000)
    (folder / MARK).write_text(" " * 1001)
    with pytest.raises(BadInput, match="MB"):
        runs.read(folder)


@pytest.mark.parametrize("name", [MARK, SCORES, ITEMS])
def test_a_link_out_of_the_results_is_refused_and_one_within_is_not(folder, tmp_path, name):
    outside, inside = tmp_path / "outside", folder.parents[2] / "inside"
    for target in (inside, outside):
        target.write_bytes((folder / name).read_bytes())
        (folder / name).unlink()
        (folder / name).symlink_to(target)
        if target == inside:
            assert runs.read(folder).run.id
    with pytest.raises(BadInput, match="link"):
        runs.read(folder)


def test_a_folder_that_is_a_link_out_of_the_results_is_refused(folder, tmp_path):
    outside = tmp_path / "outside" / "m__x" / "b__t" / "abc"
    outside.parent.mkdir(parents=True)
    folder.rename(outside)
    folder.symlink_to(outside)
    with pytest.raises(BadInput, match="link"):
        runs.read(folder)


def test_another_machines_clock_may_run_ahead():
    """By hours; a run of the future proper does not win for ever, which the database's tests show."""
    near = (datetime.now(UTC) + timedelta(hours=2)).isoformat(timespec="seconds")
    assert not runs.StoredRun(run=run(started=near), scores=(score(),), folder=Path("x")).is_of_the_future


def test_dates_of_all_time_zones_compare(folder):
    changed(folder, "started", "2026-01-01T05:00:00+09:00")
    assert runs.read(folder).run.started == "2025-12-31T20:00:00+00:00"


def test_an_interval_is_read_back_and_may_leave_the_value_out(folder):
    for name, value in {"score.low": 0.1, "score.high": 0.4}.items():
        changed(folder, name, value)
    first, second = runs.read(folder).scores
    assert (first.value, first.low, first.high) == (0.5, 0.1, 0.4) and second.low is second.high is None
    changed(folder, "score.low", 0.6)
    with pytest.raises(BadInput, match="interval"):
        runs.read(folder)
