"""Commands over models of one's own: folders, the hub's, and what cannot be run, each in one line."""

import re
from functools import partial

import pytest

import compute
from compute import models
from compute.catalog.own import models as own_models
from compute.database import store
from compute.engine import run_folders, workspace
from compute.features.subject import Subject
from compute.types import BadInput, NotHere
from tests.compute.commands import assert_refused, done, likeness
from tests.compute.models import checkpoints
from tests.compute.models.chat_server import running
from tests.compute.small_bench import HARDWARE, changed


@pytest.fixture
def run(world):
    return partial(likeness, "run", "--suite", "small", "--tasks", "unisim/near", "--models")


@pytest.fixture
def checkpoint(tmp_path):
    return checkpoints.clip(tmp_path / "checkpoints" / "My Model")


def shown(world):
    """The models with computed runs in the database: key, title, weights."""
    with store.connect(world.folder / "likeness.duckdb") as connection:
        return connection.execute(
            """SELECT DISTINCT models.key, title, weights FROM runs JOIN models ON models.key = runs.model
               WHERE origin = 'computed' ORDER BY ALL"""
        ).fetchall()


def test_a_folder_is_run_recorded_and_shown(run, world, checkpoint, tmp_path):
    """And its files are watched: under the old key only the recorded ones are run, other ones are another model."""
    planned = done(run(checkpoint, "--dry-run"))
    assert "own/my-model" in planned.output
    assert own_models.recorded(world.folder / "results") == ([], [])
    result = done(run(f"{checkpoint},small/dim"))
    assert "as recorded" not in result.output
    assert "My Model is read as clip (config.json: model_type 'clip')" in result.output
    assert ("own/my-model", "My Model (own)", "My Model") in shown(world)
    ((row,), _) = own_models.recorded(world.folder / "results")
    assert row.key == "own/my-model" and row.weights == str(checkpoint)
    encoded = world.encoded
    again = run("own/my-model")  # by the key that `list models` has; a record may name any folder, so it is shown
    assert "0 runs to make" in again.output and f"Reads {checkpoint} as recorded" in again.stderr
    assert "0 runs to make" in run(checkpoint).output and world.encoded == encoded

    other = checkpoints.clip(tmp_path / "other", seed=5)
    (other / "model.safetensors").replace(checkpoint / "model.safetensors")
    assert_refused(run("own/my-model"), BadInput, "own/my-model")
    assert run(checkpoint).exit_code == 0
    assert [len(key) for key, _, _ in shown(world) if key.startswith("own/my-model")] == [12, 12 + 9]


def test_a_key_wins_over_a_folder_and_a_dot_makes_a_path(run, tmp_path, monkeypatch):
    checkpoints.clip(tmp_path / "here" / "small" / "eye")
    monkeypatch.chdir(tmp_path / "here")
    assert "is read as" not in run("small/eye", "--dry-run").output
    assert "eye is read as clip" in run("./small/eye", "--dry-run").output


def test_a_judge_is_named_by_what_its_endpoint_calls_it(run, world, monkeypatch):
    """Recorded with the host; another host's is another model."""
    assert_refused(run("endpoint:Org/Judge"), NotHere, "LIKENESS_ENDPOINT")
    monkeypatch.setattr(workspace, "Bench", lambda *, settings, **parts: with_endpoints(world.bench(settings)))
    monkeypatch.setenv("LIKENESS_ANSWERS", str(world.folder / "results" / "answers"))
    with running(model="Org/Judge") as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        result = done(run("endpoint:Org/Judge,small/dim"))
        assert "Org/Judge is asked at 127.0.0.1" in result.output
        assert result.output.count("endpoint/org-judge as a judge") == 1
        assert "as a judge" not in done(run("endpoint:Org/Judge", "--again")).output
        assert server.requests()
    assert ("endpoint/org-judge", "Org/Judge (own)", "") in shown(world)
    ((row,), _) = own_models.recorded(world.folder / "results")
    assert own_models.source_of(row).name == "Org/Judge@127.0.0.1" and row.options["model"] == "Org/Judge"
    for name in ("endpoint:Org/Judge", "endpoint/org-judge"):
        assert "0 runs to make" in run(name).output
    evaluated = compute.evaluate("endpoint:Org/Judge", suite="small", tasks=["unisim/near"], progress=False)
    stored = run_folders.read(evaluated.runs["unisim/near"].folder)
    assert evaluated.model.key == row.key and stored.run.settings["adapter"]["host"] == "127.0.0.1"
    assert_refused(run("endpoint:Org/Judge", "--family", "clip"), BadInput, "family")
    monkeypatch.setenv("LIKENESS_ENDPOINT", "https://example.org/v1")
    assert_refused(run("endpoint/org-judge"), BadInput, "127.0.0.1", "endpoint:Org/Judge")
    assert re.search(r"endpoint/org-judge-[0-9a-f]{8}\b", run("endpoint:Org/Judge", "--dry-run").output)


def with_endpoints(bench):
    """The small bench, whose judges are asked through the environment's endpoint."""

    def subject(row):
        if row.adapter != "endpoint":
            return bench.subject(row)
        return Subject(row, store=bench.store, hardware=HARDWARE, load=models.load, identity=models.identity)

    return changed(bench, subject=subject)


def test_a_file_of_code_is_not_run(run, world, tmp_path):
    (tmp_path / "my_file.py").write_text("raise SystemExit('run')")
    for text in (path := f"{tmp_path}/my_file.py", f"{path}:make_model"):
        assert_refused(run(text), BadInput, "compute.evaluate")
        assert_refused(likeness("fetch", "--models", text), BadInput, "is code")
    assert own_models.recorded(world.folder / "results") == ([], [])
