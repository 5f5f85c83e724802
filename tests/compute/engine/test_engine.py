"""A plan executed: what is encoded and how often, what fails alone, what a killed run leaves. Models are stand-ins."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compute import tasks
from compute.content import items
from compute.database import store
from compute.engine import run_folders, thumbnails
from compute.engine.run import Outcome
from compute.models.adapter import Hardware
from compute.types import NotHere
from tests.compute.small_bench import TASKS, World, data, executed, square

Execute = Callable[..., list[Outcome]]


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
    assert [one.state for one in both] == ["stored", "made"] and both[0].stored == first[0].stored
    new = {key for column in tasks.columns(data(TASKS[4])) for key in column.keys.tolist()} - {
        key for column in tasks.columns(data(TASKS[0])) for key in column.keys.tolist()
    }
    assert world.encoded == before + len(new)
    execute(only=("unisim/near", "unisim/odd"))
    assert (world.encoded, world.loaded) == (before + len(new), 2)


def test_a_score_is_the_share_that_is_right(execute: Execute) -> None:
    """Reference: colours compared by hand; the metric stand-in measures the distance of first pixels."""
    [outcome] = [one for one in execute("small/gauge", only=("unisim/near",)) if one.job.model.key == "small/gauge"]
    whole = data(TASKS[0])
    pixel = [
        [np.array(_pixel(column.read(row))) for row in range(12)] for column in (whole.reference, *whole.alternatives)
    ]
    right = [
        np.abs(pixel[0][row] - pixel[1 + whole.answer[row]][row]).sum()
        < np.abs(pixel[0][row] - pixel[2 - whole.answer[row]][row]).sum()
        for row in range(12)
    ]
    [score] = outcome.stored.scores
    assert (score.value, score.n, score.subset, score.metric) == (np.mean(right), 12, "default", "accuracy")
    stored = store.read_parquet(outcome.stored.folder / run_folders.ITEMS).set_index("item").loc[list(whole.names)]
    assert stored["correct"].tolist() == right


def _pixel(image: bytes) -> tuple[int, int, int]:
    from compute.content import decoding

    return tuple(int(one) for one in decoding.decode(image).getpixel((0, 0)))


def test_a_run_says_how_it_was_made(world: World, execute: Execute) -> None:
    outcome = execute(only=("unisim/near",))[0]
    run, settings = outcome.stored.run, outcome.stored.run.settings
    assert (run.model, run.task, run.procedure, run.origin) == ("small/dim", "unisim/near", "choice", "computed")
    assert (run.device, run.dtype, run.seed, run.status, run.error) == ("cpu", "float32", 3, "complete", "")
    assert run.started.endswith("+00:00") and run.seconds > 0 and len(run.code) == 16
    assert settings["adapter"] == {"pixel": "first"} and settings["coverage"] == 1 and settings["items"] == 12
    assert set(settings["timings"]) == {"items", "encode", "procedure"}
    assert [(one["encoded"], one["stored"]) for one in settings["encodings"]] == [(world.encoded, 0)]
    assert run.fingerprint == outcome.job.fingerprint == outcome.stored.folder.name
    assert run_folders.read(outcome.stored.folder) == outcome.stored


def test_a_bad_image_fails_its_task_and_no_other(world: World, execute: Execute) -> None:
    world.changed["unisim/near"] = with_bad("unisim/near", b"no image")
    said: list[str] = []
    outcomes = execute(report=said.append)
    failed = [one for one in outcomes if one.state == "failed"]
    assert [one.job.name for one in failed] == ["unisim/near"]
    assert "unisim/near, first, image 5" in failed[0].reason and "--skip-bad-items" in failed[0].reason
    assert "skip_bad=True" in failed[0].reason and failed[0].trace is None
    assert sum(one.state == "made" for one in outcomes) == 6 and len(said) == 7
    folder = run_folders.folder(
        world.folder / "results", model="small/dim", task="unisim/near", fingerprint=failed[0].job.fingerprint
    )
    note = json.loads((folder / run_folders.FAILED).read_text())
    assert note["error"] == failed[0].reason and not (folder / run_folders.MARK).exists()
    del world.changed["unisim/near"]
    assert execute(only=("unisim/near",))[0].state == "made" and not (folder / run_folders.FAILED).exists()


@pytest.mark.parametrize("model", ["small/dim", "small/gauge"])
def test_bad_items_are_left_out_on_request_and_the_coverage_is_said(world: World, execute: Execute, model: str) -> None:
    world.changed["unisim/near"] = with_bad("unisim/near", square((1, 2, 3))[:40])
    outcome = execute(model, only=("unisim/near",), skip_bad=True)[0]
    run = outcome.stored.run
    assert (run.status, outcome.stored.coverage, outcome.stored.scores[0].n) == ("partial", 11 / 12, 11)
    assert len(run.settings["left_out"]) == 1 and "unisim/near, first, image 5" in run.settings["left_out"][0]
    assert "item 5" not in set(store.read_parquet(outcome.stored.folder / run_folders.ITEMS)["item"])


def test_data_that_is_not_here_fails_its_task_and_no_other(world: World, execute: Execute) -> None:
    world.changed["unisim/odd"] = NotHere("odd.tar is not here: hf download made/odd")
    world.changed["unisim/said"] = ValueError("a bug of a loader")
    outcomes = execute()
    assert {one.job.name: one.reason for one in outcomes if one.state == "failed"} == {
        "unisim/odd": "odd.tar is not here: hf download made/odd",
        "unisim/said": "ValueError: a bug of a loader",
    }
    assert sum(one.state == "made" for one in outcomes) == 5


def test_weights_that_are_not_here_are_looked_for_once_and_stored_work_goes_on(world: World, execute: Execute) -> None:
    execute(only=("unisim/near",))
    world.missing = "model.safetensors is not here: hf download small/dim"
    before = world.loaded
    outcomes = execute(again=True)
    assert {one.job.name: one.state for one in outcomes} == {
        job: "made" if job == "unisim/near" else "failed" for job in (one.job.name for one in outcomes)
    }
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
    assert [(one.job.name, one.reason) for one in outcomes if one.state == "skipped"] == [
        ("unisim/odd", "many vectors an item")
    ]


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


def test_a_run_with_left_out_items_serves_only_those_who_allow_it(world: World, execute: Execute) -> None:
    """Leaving out is a policy: without it the run is made again, fails, and the earlier score stays."""
    world.changed["unisim/near"] = with_bad("unisim/near", square((1, 2, 3))[:40])
    assert execute("small/dim", only=("unisim/near",), skip_bad=True)[0].state == "made"
    assert execute("small/dim", only=("unisim/near",), skip_bad=True)[0].state == "stored"
    failed = execute("small/dim", only=("unisim/near",))[0]
    assert failed.state == "failed" and failed.reason.endswith("the score made earlier stays")
    del world.changed["unisim/near"]
    assert execute("small/gauge", only=("unisim/near",), skip_bad=True)[0].state == "made"
    assert execute("small/gauge", only=("unisim/near",))[0].state == "stored"


def test_fewer_items_than_the_catalogue_counts_are_said(world: World, execute: Execute) -> None:
    whole = data(TASKS[0])
    assert execute("small/gauge", only=("unisim/near",))[0].stored.run.settings["catalogue_items"] is None
    world.changed["unisim/near"] = tasks.without(whole, {bytes(whole.reference.keys[0])})
    said: list[str] = []
    outcome = execute("small/gauge", only=("unisim/near",), again=True, report=said.append)[0]
    assert outcome.stored.run.settings["catalogue_items"] == 12 and "11 items here, 12 in the catalogue" in said[0]


def test_exact_ties_are_counted_and_said_where_they_decide_many_items(world: World, execute: Execute) -> None:
    """Three of twelve items show the same image twice; a run without any says nothing."""
    whole, lines = data(TASKS[0]), []
    first, second = whole.alternatives
    same = items.images([(first if row < 3 else second).read(row) for row in range(12)], of="unisim/near, second")
    world.changed["unisim/near"] = replace(whole, alternatives=(first, same))
    only = ("unisim/near", "unisim/odd")
    near, odd = execute("small/gauge", only=only, report=lines.append)
    assert (near.stored.run.settings["tied"], odd.stored.run.settings["tied"]) == (0.25, 0.0)
    assert ["25.0% decided by exact ties" in line for line in lines] == [True, False]
    assert run_folders.find(
        world.folder / "results", model="small/gauge", task="unisim/near", fingerprint=near.stored.run.fingerprint
    ).tied == pytest.approx(0.25)


def test_a_run_records_the_precision_that_its_model_ran_in(world: World) -> None:
    """A comparer takes float32 where the device's usual precision is less, and the run says so."""
    usual = Hardware(device="cpu", dtype="bfloat16", chosen=False)
    outcomes = executed(
        world, "small/gauge", "small/eye", only=("unisim/near",), bench=replace(world.bench(), hardware=usual)
    )
    found = {one.job.model.key: one.stored.run.dtype for one in outcomes}
    assert (found["small/gauge"], found["small/eye"]) == ("float32", "bfloat16")
