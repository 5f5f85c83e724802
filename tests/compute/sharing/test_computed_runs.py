"""Which runs of a model are fit to be shared."""

from dataclasses import replace

import pytest

from compute.catalog import shipped
from compute.sharing import computed_runs, model_card
from compute.types import BadInput, Suite
from tests.compute.sharing import results


def test_one_run_a_task_the_newest_complete_one_of_all_folders(tmp_path):
    older, newer = tmp_path / "older", tmp_path / "newer"
    results.store(older, "unisim/nights", fingerprint="1" * 20, started="2026-01-01T00:00:00+00:00")
    results.store(newer, "unisim/nights", fingerprint="2" * 20, started="2026-02-01T00:00:00+00:00")
    results.store(newer, "unisim/nights", fingerprint="3" * 20, started="2026-03-01T00:00:00+00:00", status="partial")
    results.store(older, "mieb/cifar10")
    results.store(older, "unisim/bapps", model="openai/clip-vit-base-patch16")
    found = results.gathered(older, newer)
    assert {run.task.key: run.stored.run.fingerprint[0] for run in found.runs} == {
        "unisim/nights": "2",
        "mieb/cifar10": "f",
    }
    assert found.left_out == ()


def test_partial_runs_are_named_and_left_out(tmp_path):
    results.store(tmp_path, "unisim/nights", status="partial")
    with pytest.raises(BadInput, match="partial"):
        results.gathered(tmp_path)
    results.store(tmp_path, "unisim/bapps")
    found = results.gathered(tmp_path)
    assert [run.task.key for run in found.runs] == ["unisim/bapps"]
    assert len(found.left_out) == 1 and "unisim/nights: its run is partial" in found.left_out[0]


def test_synthetic_runs_wait_for_their_mark(tmp_path):
    results.store(tmp_path, "mini/image-choice")
    with pytest.raises(BadInput, match="--synthetic"):
        results.gathered(tmp_path)
    [run] = results.gathered(tmp_path, synthetic=True).runs
    assert run.synthetic and run.dataset == ""
    results.store(tmp_path, "unisim/bapps")
    found = results.gathered(tmp_path)
    assert [one.task.key for one in found.runs] == ["unisim/bapps"] and "--synthetic" in found.left_out[0]


def test_damaged_runs_and_those_of_unknown_tasks_are_named(tmp_path):
    run = results.store(tmp_path, "unisim/bapps")
    damaged = results.store(tmp_path, "unisim/nights")
    (damaged.folder / "run.json").write_text("{")
    unknown = run.folder.parents[1] / "other__task" / run.folder.name
    run.folder.parent.mkdir(exist_ok=True)
    unknown.parent.mkdir()
    import shutil

    shutil.copytree(run.folder, unknown)
    found = results.gathered(tmp_path)
    assert [one.task.key for one in found.runs] == ["unisim/bapps"]
    assert len(found.left_out) == 2 and all("unisim__nights" in e or "other__task" in e for e in found.left_out)


def test_a_private_suite_that_a_shipped_task_is_part_of_is_not_named(tmp_path):
    suite = Suite(key="own-secret", title="Secret", benchmark="own", aggregate="task-mean", description="")
    tasks = [
        replace(task, suites=(*task.suites, suite.key)) if task.key == "unisim/nights" else task
        for task in shipped().tasks
    ]
    catalog = replace(shipped(), tasks=tuple(tasks), suites=(*shipped().suites, suite))
    results.store(tmp_path, "unisim/nights", catalog=catalog)
    for own in (False, True):
        found = computed_runs.gather(catalog.model(results.MODEL), roots=(tmp_path,), catalog=catalog, own=own)
        assert (suite in model_card.suites_of(found, catalog=catalog)) == own
