"""A plan executed: what is encoded and how often, what fails alone, what a killed run leaves. Models are stand-ins."""

import json
import weakref
from dataclasses import replace
from functools import partial

import pytest

from compute import tasks
from compute.content import items
from compute.database import store
from compute.engine import plan, run, run_folders
from compute.models.adapter import Hardware
from compute.types import CannotDo, NotHere
from tests.compute.small_bench import CATALOG, KEYS, MODELS, TASKS, changed, data, square

NEAR = data(TASKS[0])


def with_bad(content, row=5):
    """The items of unisim/near with one image replaced."""
    column = NEAR.alternatives[0]
    files = [column.read(at) for at in range(len(column))]
    files[row] = content
    return replace(NEAR, alternatives=(items.images(files, of="unisim/near, first"), *NEAR.alternatives[1:]))


def test_every_distinct_item_is_encoded_once_over_all_tasks_and_runs(world, execute):
    [first] = execute(only=("unisim/near",))
    outcomes = execute()
    assert [one.state for one in outcomes] == ["stored"] + ["made"] * 6 and outcomes[0].stored == first.stored
    prompts = 3  # a quality's one prompt and its two opposite ones, which the procedure brings along
    execute()
    assert (world.encoded, world.loaded) == (len(KEYS) + prompts, 2)


def test_what_is_bad_or_not_here_fails_its_task_and_no_other(world, execute):
    world.changed["unisim/near"] = with_bad(b"no image")
    world.changed["unisim/odd"] = NotHere("odd.tar is not here: hf download made/odd")
    world.changed["unisim/said"] = ValueError("a bug of a loader")
    said = []
    outcomes = execute(report=said.append)
    failed = {one.job.name: one for one in outcomes if one.state == "failed"}
    assert sum(one.state == "made" for one in outcomes) == 4 and len(said) == 7
    near = failed.pop("unisim/near")
    assert {name: one.reason for name, one in failed.items()} == {
        "unisim/odd": "odd.tar is not here: hf download made/odd",
        "unisim/said": "ValueError: a bug of a loader",
    }
    assert near.trace is None
    assert all(word in near.reason for word in ("unisim/near, first, image 5", "--skip-bad-items", "skip_bad=True"))
    known = {"model": "small/dim", "task": "unisim/near", "fingerprint": near.job.fingerprint}
    folder = run_folders.folder(world.folder / "results", **known)
    note = json.loads((folder / run_folders.FAILED).read_text())
    assert note["error"] == near.reason and not (folder / run_folders.MARK).exists()
    del world.changed["unisim/near"]
    assert execute(only=("unisim/near",))[0].state == "made" and not (folder / run_folders.FAILED).exists()


@pytest.mark.parametrize("model", ["small/dim", "small/gauge"])
def test_bad_items_are_left_out_on_request_and_the_coverage_is_said(world, execute, model):
    """Such a run serves only those who allow it: without, it is made again, fails, and the earlier score stays."""
    world.changed["unisim/near"] = with_bad(square((1, 2, 3))[:40])
    near = partial(execute, model, only=("unisim/near",))
    [outcome] = near(skip_bad=True)
    run = outcome.stored.run
    assert (run.status, outcome.stored.coverage, outcome.stored.scores[0].n) == ("partial", 11 / 12, 11)
    assert len(run.settings["left_out"]) == 1 and "unisim/near, first, image 5" in run.settings["left_out"][0]
    assert "item 5" not in set(store.read_parquet(outcome.stored.folder / run_folders.ITEMS)["item"])
    assert near(skip_bad=True)[0].state == "stored"
    [failed] = near()
    assert failed.state == "failed" and failed.reason.endswith("the score made earlier stays")
    del world.changed["unisim/near"]
    assert [near(skip_bad=skip)[0].stored.run.status for skip in (False, True)] == ["complete"] * 2


def test_weights_that_are_not_here_are_looked_for_once_and_stored_work_goes_on(world, execute):
    execute(only=("unisim/near",))
    world.missing = "model.safetensors is not here: hf download small/dim"
    before = world.loaded
    near, *others = execute(again=True)
    assert (near.job.name, near.state) == ("unisim/near", "made")
    assert {(one.state, "hf download" in one.reason) for one in others} == {("failed", True)}
    assert world.loaded == before + 1


def test_a_model_that_cannot_after_all_is_left_out(world, execute):
    """An aptitude that only the procedure knows of: no failure."""
    bench = world.bench()

    def refuse(subject, data, options):
        raise CannotDo("many vectors an item")

    procedures = {**bench.procedures, "odd_one_out": replace(bench.procedures["odd_one_out"], run=refuse)}
    skipped = [one for one in execute(bench=changed(bench, procedures=procedures)) if one.state == "skipped"]
    assert [(one.job.name, one.reason) for one in skipped] == [("unisim/odd", "many vectors an item")]


def test_items_are_loaded_once_for_all_models_and_a_model_is_freed_before_the_next_is_loaded(world, execute):
    bench, loaded, alive = world.bench(), [], []

    def load(task, options):
        loaded.append(task.key)
        return bench.load(task, options)

    def subject(row):
        assert not any(one() for one in alive)
        found = bench.subject(row)
        alive.append(weakref.ref(found))
        return found

    world.changed["unisim/odd"] = with_bad(b"its error must not hold the model either")
    models = ("small/eye", "small/vision", "small/gauge")
    execute(*models, bench=changed(bench, load=load, subject=subject))
    assert sorted(loaded) == sorted(task.key for task in TASKS) and len(alive) >= len(models)


def test_what_a_model_only_compares_is_not_embedded(world):
    row = replace(MODELS[3], key="small/both", abilities=("embed_image", "compare"), modalities=("image", "text"))
    catalog, bench = replace(CATALOG, models=(*MODELS, row)), world.bench()
    only = ["unisim/near", "unisim/said"]
    run.execute(plan.make(catalog, suite="small", models=[row.key], tasks=only, bench=bench), bench=bench)
    assert world.encoded == len({key for column in tasks.columns(NEAR) for key in column.keys.tolist()})


def test_fewer_items_than_the_catalogue_counts_are_said(world, execute):
    near = partial(execute, "small/gauge", only=("unisim/near",))
    assert near()[0].stored.run.settings["catalogue_items"] is None
    world.changed["unisim/near"] = tasks.without(NEAR, {bytes(NEAR.reference.keys[0])})
    said = []
    [outcome] = near(again=True, report=said.append)
    assert outcome.stored.run.settings["catalogue_items"] == 12 and "11 items here, 12 in the catalogue" in said[0]


def test_exact_ties_are_counted_and_said_where_they_decide_many_items(world, execute):
    """Three of twelve items show the same image twice; a run without any says nothing."""
    first, second = NEAR.alternatives
    same = items.images([(first if row < 3 else second).read(row) for row in range(12)], of="unisim/near, second")
    world.changed["unisim/near"] = replace(NEAR, alternatives=(first, same))
    lines = []
    runs = [one.stored for one in execute("small/gauge", only=("unisim/near", "unisim/odd"), report=lines.append)]
    assert [run_folders.read(one.folder).tied for one in runs] == [0.25, 0.0]
    assert ["25.0% decided by exact ties" in line for line in lines] == [True, False]


def test_a_run_records_the_precision_that_its_model_ran_in(world, execute):
    """A comparer takes float32 where the device's usual precision is less, and the run says so."""
    bench = changed(world.bench(), hardware=Hardware(device="cpu", dtype="bfloat16", chosen=False))
    outcomes = execute("small/gauge", "small/eye", only=("unisim/near",), bench=bench)
    assert [one.stored.run.dtype for one in outcomes] == ["float32", "bfloat16"]
