"""Runs on one's own pairs from the manifest to the run folder, with a stand-in judge behind a real server process."""

from dataclasses import replace

import pandas as pd
import pytest

from compute.catalog import shipped
from compute.catalog.own import suite_records
from compute.engine import plan, run, run_folders
from compute.engine.workspace import RunSettings, workbench
from tests.compute.models.chat_server import running
from tests.compute.tasks.pairbench.images import folder_of, manifest_of, suite_of

PAIRS = 4 * 3  # of a split
ASKED = PAIRS * 2 * 2  # both orders under both conditions
JUDGE = "gemini-1.5-flash"


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    folder = folder_of(tmp_path_factory.mktemp("photographs"), 4)
    return manifest_of(folder, folder / "photographs.parquet", "cj")


@pytest.fixture
def server(monkeypatch, tmp_path):
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "results" / "answers"))
        yield server


@pytest.fixture
def execute(manifest, tmp_path):
    """Runs some models on the suite of the manifest."""
    suite = suite_of(manifest, tmp_path / "results")
    known, _ = suite_records.extended(shipped(), [suite])

    def executed(*models, metrics=(), **settings):
        bench = workbench(
            RunSettings(results=tmp_path / "results", device="cpu", **settings),
            data=None,
            files={suite.digest: suite.data[0]},
        )
        tasks = [
            replace(task, metrics=metrics or task.metrics) for task in known.tasks if suite.suite.key in task.suites
        ]
        planned = plan.make(replace(known, tasks=tuple(tasks)), suite=suite.suite.key, models=models, bench=bench)
        return run.execute(planned, bench=bench)

    return executed


def items(outcome):
    return pd.read_parquet(outcome.stored.folder / run_folders.ITEMS)


def score(outcome, metric):
    return next(each.value for each in outcome.stored.scores if (each.metric, each.subset) == (metric, "default"))


def test_a_judge_is_asked_both_orders_and_nothing_twice(execute, server):
    [outcome] = execute(JUDGE)
    assert outcome.state == "made", outcome.reason
    assert server.requests() == ASKED and max(server.messages.values()) == 1
    frame = items(outcome)
    assert len(frame) == 2 * PAIRS and frame[["forward", "reverse"]].notna().all(axis=None)
    assert score(outcome, "relax_sym") == 1.0  # the stand-in is symmetric
    found = outcome.stored.run.settings["found"]
    assert {part["asked"] for part in found.values()} == {2 * PAIRS} and found["sensitive"]["refused"] == 0

    # Only the metrics change: the answers are there.
    [again] = execute(JUDGE, metrics=("mmscore", "relax_sym"))
    assert again.state == "made" and again.stored.run.fingerprint != outcome.stored.run.fingerprint
    assert {each.metric for each in again.stored.scores} == {"mmscore", "relax_sym"}
    assert score(again, "mmscore") == score(outcome, "mmscore")
    assert server.requests() == ASKED


def test_questions_that_never_got_through_are_no_answers_and_asked_again(execute, server):
    """Every sixth message is lost, 8 of 48: their pairs are in no metric, and the run is partial until they are in."""
    server.control(lost=6)
    [outcome] = execute(JUDGE)
    assert outcome.state == "made", outcome.reason
    stored, frame = outcome.stored, items(outcome)
    lost = 2 * PAIRS - len(frame)
    assert 4 <= lost <= 8 and stored.run.status == "partial"
    assert stored.run.error == "8 questions could not be asked: the same command asks them again"
    assert stored.coverage == pytest.approx(len(frame) / (2 * PAIRS))
    assert frame[["forward", "reverse"]].notna().all(axis=None) and score(outcome, "relax_sym") == 1.0
    shares = {**frame["subset"].value_counts() / PAIRS, "default": stored.coverage}
    assert all(each.coverage == pytest.approx(shares[each.subset]) for each in stored.scores)

    server.control()
    [whole] = execute(JUDGE)
    assert server.requests() == 8
    assert (whole.state, whole.stored.run.status, whole.stored.run.error) == ("made", "complete", "")
    assert whole.stored.coverage == 1 and len(items(whole)) == 2 * PAIRS
    assert execute(JUDGE)[0].state == "stored"


def test_how_answers_are_read_makes_another_run_of_a_judge_alone(execute, server):
    [usual], [lenient] = execute(JUDGE), execute(JUDGE, options=("reader=lenient",))
    settings = lenient.stored.run.settings
    assert (settings["variant"], settings["procedure"]["reading"]["reader"]) == ("reader=lenient", "lenient")
    assert settings["found"]["sensitive"]["added"] == 0
    assert usual.stored.run.fingerprint != lenient.stored.run.fingerprint
    assert server.requests() == ASKED
    [first], [same] = execute("ssim"), execute("ssim", options=("reader=lenient",))
    assert same.state == "stored" and "reading" not in first.stored.run.settings["procedure"]
