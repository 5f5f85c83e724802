"""A plan executed: what is encoded and how often, what fails alone, what a killed run leaves. Models are stand-ins."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compute import engine, items, runs, store, tasks
from compute.engine import Outcome
from compute.runs import thumbnails
from compute.store import ROOT
from compute.types import LikenessError, NotHere
from tests.compute.small_bench import TASKS, World, data, executed, square

Execute = Callable[..., list[Outcome]]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(folder=tmp_path)


@pytest.fixture
def execute(world: World) -> Execute:
    return lambda *models, **given: executed(world, *models, **given)


def figures(outcomes: list[Outcome]) -> dict[str, float]:
    return {f"{one.job.model.key} {one.job.name}": runs.headline(one.kept).value for one in outcomes if one.kept}


def with_bad(task: str, content: bytes, row: int = 5):
    """A task's items with one image replaced."""
    whole = data(next(one for one in TASKS if one.key == task))
    column = whole.alternatives[0]
    files = [column.read(at) for at in range(len(column))]
    files[row] = content
    return replace(whole, alternatives=(items.images(files, of=f"{task}, first"), *whole.alternatives[1:]))


def test_every_distinct_item_is_encoded_once_over_all_tasks(world: World, execute: Execute) -> None:
    outcomes = execute()
    assert {one.state for one in outcomes} == {"made"} and len(outcomes) == 7
    columns = [column for task in TASKS for column in tasks.columns(data(task))]
    distinct = {(column.modality, key) for column in columns for key in column.keys.tolist()}
    prompts = 3  # a quality's one prompt and its two opposite ones, which the procedure brings along
    assert world.encoded == len(distinct) + prompts
    assert world.loaded == 1


def test_a_second_run_with_one_more_task_encodes_only_what_is_new(world: World, execute: Execute) -> None:
    first = execute(only=("unisim/near",))
    before = world.encoded
    both = execute(only=("unisim/near", "unisim/odd"))
    assert [one.state for one in both] == ["there", "made"] and both[0].kept == first[0].kept
    new = {key for column in tasks.columns(data(TASKS[4])) for key in column.keys.tolist()} - {
        key for column in tasks.columns(data(TASKS[0])) for key in column.keys.tolist()}
    assert world.encoded == before + len(new)
    execute(only=("unisim/near", "unisim/odd"))
    assert (world.encoded, world.loaded) == (before + len(new), 2)


def test_a_score_is_the_share_that_is_right(execute: Execute) -> None:
    """Reference: colours compared by hand; the metric stand-in measures the distance of first pixels."""
    [outcome] = [one for one in execute("small/gauge", only=("unisim/near",)) if one.job.model.key == "small/gauge"]
    whole = data(TASKS[0])
    pixel = [[np.array(_pixel(column.read(row))) for row in range(12)]
             for column in (whole.reference, *whole.alternatives)]
    right = [np.abs(pixel[0][row] - pixel[1 + whole.answer[row]][row]).sum()
             < np.abs(pixel[0][row] - pixel[2 - whole.answer[row]][row]).sum() for row in range(12)]
    [score] = outcome.kept.scores
    assert (score.value, score.n, score.subset, score.metric) == (np.mean(right), 12, "default", "accuracy")
    stored = store.read_parquet(outcome.kept.folder / runs.ITEMS).set_index("item").loc[list(whole.names)]
    assert stored["correct"].tolist() == right


def _pixel(image: bytes) -> tuple[int, int, int]:
    from compute import decoding

    return tuple(int(one) for one in decoding.decode(image).getpixel((0, 0)))


def test_a_run_says_how_it_was_made(world: World, execute: Execute) -> None:
    outcome = execute(only=("unisim/near",))[0]
    run, settings = outcome.kept.run, outcome.kept.run.settings
    assert (run.model, run.task, run.procedure, run.origin) == ("small/dim", "unisim/near", "choice", "computed")
    assert (run.device, run.dtype, run.seed, run.status, run.error) == ("cpu", "float32", 3, "complete", "")
    assert run.started.endswith("+00:00") and run.seconds > 0 and len(run.code) == 16
    assert settings["adapter"] == {"pixel": "first"} and settings["coverage"] == 1 and settings["items"] == 12
    assert set(settings["timings"]) == {"items", "encode", "procedure"}
    assert [(one["encoded"], one["stored"]) for one in settings["encodings"]] == [(world.encoded, 0)]
    assert run.fingerprint == outcome.job.fingerprint == outcome.kept.folder.name
    assert runs.read(outcome.kept.folder) == outcome.kept


def test_a_bad_image_fails_its_task_and_no_other(world: World, execute: Execute) -> None:
    world.changed["unisim/near"] = with_bad("unisim/near", b"no image")
    said: list[str] = []
    outcomes = execute(say=said.append)
    failed = [one for one in outcomes if one.state == "failed"]
    assert [one.job.name for one in failed] == ["unisim/near"]
    assert "unisim/near, first, image 5" in failed[0].reason and "--skip-bad-items" in failed[0].reason
    assert sum(one.state == "made" for one in outcomes) == 6 and len(said) == 7
    folder = runs.folder(world.folder / "results", model="small/dim", task="unisim/near",
                         fingerprint=failed[0].job.fingerprint)
    note = json.loads((folder / runs.FAILED).read_text())
    assert note["error"] == failed[0].reason and not (folder / runs.MARK).exists()
    del world.changed["unisim/near"]
    assert execute(only=("unisim/near",))[0].state == "made" and not (folder / runs.FAILED).exists()


@pytest.mark.parametrize("model", ["small/dim", "small/gauge"])
def test_bad_items_are_left_out_on_request_and_the_coverage_is_said(world: World, execute: Execute, model: str) -> None:
    world.changed["unisim/near"] = with_bad("unisim/near", square((1, 2, 3))[:40])
    outcome = execute(model, only=("unisim/near",), skip_bad=True)[0]
    run = outcome.kept.run
    assert (run.status, outcome.kept.coverage, outcome.kept.scores[0].n) == ("partial", 11 / 12, 11)
    assert len(run.settings["left_out"]) == 1 and "unisim/near, first, image 5" in run.settings["left_out"][0]
    assert "item 5" not in set(store.read_parquet(outcome.kept.folder / runs.ITEMS)["item"])


def test_data_that_is_not_here_fails_its_task_and_no_other(world: World, execute: Execute) -> None:
    world.changed["unisim/odd"] = NotHere("odd.tar is not here: hf download made/odd")
    world.changed["unisim/said"] = ValueError("a bug of a loader")
    outcomes = execute()
    assert {one.job.name: one.reason for one in outcomes if one.state == "failed"} == {
        "unisim/odd": "odd.tar is not here: hf download made/odd", "unisim/said": "ValueError: a bug of a loader"}
    assert sum(one.state == "made" for one in outcomes) == 5


def test_weights_that_are_not_here_are_looked_for_once_and_stored_work_goes_on(world: World, execute: Execute) -> None:
    execute(only=("unisim/near",))
    world.missing = "model.safetensors is not here: hf download small/dim"
    before = world.loaded
    outcomes = execute(again=True)
    assert {one.job.name: one.state for one in outcomes} == {
        job: "made" if job == "unisim/near" else "failed" for job in (one.job.name for one in outcomes)}
    assert all("hf download" in one.reason for one in outcomes if one.state == "failed")
    assert world.loaded == before + 1


def test_a_model_that_cannot_after_all_is_left_out(world: World, execute: Execute) -> None:
    """An aptitude that only the procedure knows of: no failure."""
    bench = world.bench()
    from compute.types import CannotDo

    def refuse(subject, data, options):
        raise CannotDo("many vectors an item")

    procedures = {**bench.procedures, "odd_one_out": replace(bench.procedures["odd_one_out"], run=refuse)}
    outcomes = execute(bench=replace(bench, procedures=procedures))
    assert [(one.job.name, one.reason) for one in outcomes if one.state == "left out"] == [
        ("unisim/odd", "many vectors an item")]


def test_a_disk_that_fills_fails_the_run_and_not_the_others(world: World, execute: Execute,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    write = store.write_parquet

    def full(path: Path, *, frame) -> None:
        if "unisim__said" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, frame=frame)

    monkeypatch.setattr(store, "write_parquet", full)
    outcomes = execute()
    [failed] = [one for one in outcomes if one.state == "failed"]
    assert failed.job.name == "unisim/said" and "No space left" in failed.reason
    assert [one for one in runs.every(world.folder / "results") if "unisim__said" in str(one)] == []


def test_a_full_disk_under_the_encodings_fails_what_needs_them(world: World, execute: Execute,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    execute(only=("unisim/near",))
    from compute.features.store import Shelf

    def full(*given: object) -> None:
        raise LikenessError("cannot write there (No space left on device)")

    monkeypatch.setattr(Shelf, "append", full)
    outcomes = execute(again=True)
    states = {one.job.name: one.state for one in outcomes}
    assert states.pop("unisim/near") == "made" and set(states.values()) == {"failed"}


def test_an_interrupt_ends_all_and_the_rest_is_made_later(world: World, execute: Execute) -> None:
    batches = iter(range(100))

    def stop() -> None:
        if next(batches) == 6:
            raise KeyboardInterrupt

    world.before_batch = stop
    with pytest.raises(KeyboardInterrupt):
        execute()
    world.before_batch = lambda: None
    assert figures(execute()) == figures(executed(World(folder=world.folder / "undisturbed")))


KILLED = """
import os, signal, sys
from pathlib import Path
from compute import runs, store
from compute.runs import thumbnails
from small_bench import World, executed

what, at = sys.argv[2], int(sys.argv[3])
seen = 0

def count(name):
    global seen
    if name == what:
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

world = World(folder=Path(sys.argv[1]))
world.before_batch = lambda: count("batch")
write, replace = store.write_parquet, os.replace
store.write_parquet = lambda path, *, frame: (count("parquet"), write(path, frame=frame))
os.replace = lambda old, new: (count("place"), replace(old, new))
executed(world)
"""


def test_killed_at_any_moment_the_next_run_gives_the_same(tmp_path: Path) -> None:
    """SIGKILL while encoding, between a run's files, and before a file is moved into place, over the same folder."""
    for what, at in (("batch", 5), ("batch", 9), ("place", 8), ("parquet", 5), ("parquet", 5)):
        child = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "killed"), what, str(at)], cwd=ROOT,
                               capture_output=True, text=True, timeout=120,
                               env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'compute'}",
                                                  "OMP_NUM_THREADS": "1"})
        assert child.returncode == -signal.SIGKILL, child.stderr
    world = World(folder=tmp_path / "killed")
    outcomes = executed(world)
    assert {one.state for one in outcomes} == {"there", "made"}
    assert figures(outcomes) == figures(executed(World(folder=tmp_path / "undisturbed")))
    columns = [column for task in TASKS for column in tasks.columns(data(task))]
    assert world.encoded < len({key for column in columns for key in column.keys.tolist()})


def test_what_a_judge_could_not_be_asked_is_asked_again(world: World, execute: Execute) -> None:
    bench = world.bench()
    odd = bench.procedures["odd_one_out"]

    def half(subject, data, options):
        found = odd.run(subject, data, options)
        found.items.loc[:5, "accuracy"] = np.nan
        return replace(found, settings={"errors": 6})

    outcome = execute(only=("unisim/odd",), bench=replace(bench, procedures={"odd_one_out": replace(odd, run=half)}))[0]
    run = outcome.kept.run
    assert (run.status, outcome.kept.coverage, outcome.kept.scores[0].n) == ("partial", 0.5, 6)
    assert "6 questions could not be asked" in run.error
    assert execute(only=("unisim/odd",))[0].kept.run.status == "complete"


def test_items_are_loaded_once_for_all_models(world: World, execute: Execute) -> None:
    bench, loaded = world.bench(), []

    def load(task, options):
        loaded.append(task.key)
        return bench.load(task, options)

    execute("small/eye", "small/gauge", bench=replace(bench, load=load))
    assert sorted(loaded) == sorted(task.key for task in TASKS)


def test_a_model_is_freed_before_the_next_is_loaded(world: World, execute: Execute) -> None:
    import weakref

    bench, alive = world.bench(), []

    def subject(row):
        assert not any(one() for one in alive)
        found = bench.subject(row)
        alive.append(weakref.ref(found))
        return found

    world.changed["unisim/odd"] = with_bad("unisim/near", b"its error must not hold the model either")
    execute("small/eye", "small/vision", "small/gauge", bench=replace(bench, subject=subject))


def test_thumbnails_are_of_the_items_that_a_page_opens(world: World, execute: Execute) -> None:
    execute("small/vision", only=("unisim/near",))
    path = thumbnails.path(world.folder / "results", "unisim/near")
    keys = {key.decode() for column in tasks.columns(data(TASKS[0])) for key in column.keys.tolist()}
    assert set(store.read_parquet(path)["image"]) == keys


def test_pictures_that_cannot_be_kept_fail_no_run(world: World, execute: Execute,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(thumbnails, "add", full)
    said: list[str] = []
    assert {one.state for one in execute(say=said.append)} == {"made"}
    assert any("no thumbnails" in line for line in said)


def test_the_code_is_told_by_its_sources() -> None:
    assert engine.code() == engine.code() and len(engine.code()) == 16
