"""`tradeoff` and `ablate` end to end on a small random CLIP: a step a training, few items to measure by."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compute import drafts, paths
from compute.__main__ import app
from compute.interface import tradeoff as interface
from compute.interface.train import train
from compute.training.unisim import held_out
from compute.training.unisim.checkpoints import StepMeasurement
from compute.training.unisim.data import leaks, mini, splits
from compute.training.unisim.evaluation import HeldOutTask
from compute.types import BadInput, NotHere, UnknownKey
from tests.compute.commands import assert_refused
from tests.compute.models import checkpoints
from tests.compute.tasks import unisim_files
from tests.compute.training.unisim.data import training_files

TASKS = {"mini/quality": "core", "mini/brightness": "ood"}
OPTIONS = ["batch_size=2", "samples=4", "warm_up=1", "learning_rate=1e-2", "evaluate_every=1", "save_every=1"]
VALIDATION_ITEMS, EVALUATION_ITEMS = held_out.validation_items, held_out.evaluation_items


@pytest.fixture(scope="module")
def items() -> dict[str, list[HeldOutTask]]:
    """Eight items of each task: to choose a checkpoint by, and as the suite's own."""
    draw = {"mini/quality": mini.CORE["mini/quality"], "mini/brightness": mini.OOD["mini/brightness"]}
    rows = {task.key: task for task in held_out.suite_tasks("mini")}
    return {
        seed: [HeldOutTask(task=rows[key], data={"default": draw[key](seed=seed, count=8)}) for key in TASKS]
        for seed in ("validation", "own")
    }


@pytest.fixture(autouse=True)
def small(items: dict[str, list[HeldOutTask]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results in the test's own folder, and few items."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "computed")
    monkeypatch.setattr(held_out, "validation_items", lambda suite, parts: items["validation"])
    monkeypatch.setattr(held_out, "evaluation_items", lambda suite, *, source: (items["own"], {}))
    every = leaks.evaluated_tasks
    monkeypatch.setattr(leaks, "evaluated_tasks", lambda catalog: [row for row in every(catalog) if row.key in TASKS])


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random base."""
    return checkpoints.clip(tmp_path_factory.mktemp("base") / "clip")


def gain(side: str, before: StepMeasurement | None, after: StepMeasurement | None) -> float:
    return getattr(after, side) - getattr(before, side)


def test_every_method_is_trained_and_interpolation_is_what_train_gives(clip: Path, tmp_path: Path) -> None:
    """Every row's figures are those of the training below `out`, which `train` takes for its own."""
    compared = partial(interface.tradeoff, clip, out=tmp_path / "out", seeds=(3,), options=OPTIONS)
    rows = compared(methods={"interpolate": (0.5,), "distill": (1.0,)})
    assert [row.name for row in rows] == ["none", "interpolate 0.5", "distill 1"]
    for row in rows:
        lines: list[str] = []
        tuned = train(
            clip,
            out=tmp_path / "out" / f"{row.name.replace(' ', '-')}-seed-3",
            options=[*OPTIONS, "seed=3", f"keep={row.keep}", f"strength={row.strength}"],
            report=lines.append,
        )
        assert any("nothing was trained" in line for line in lines)
        assert row.core.mean == pytest.approx(gain("core", tuned.before, tuned.after), abs=1e-12)
        assert row.ood.mean == pytest.approx(gain("ood", tuned.before, tuned.after), abs=1e-12)
    assert "distill 1" in (tmp_path / "out" / "tradeoff.html").read_text(encoding="utf-8")
    printed: list[str] = []
    again = compared(methods={"interpolate": (0.5,), "distill": (1.0,)}, report=printed.append)
    assert [row.name for row in again] == [row.name for row in rows]
    assert sum("nothing was trained" in line for line in printed) == 3


def test_the_training_splits_of_table_5_are_compared_on_the_suite_and_chosen_by_drawn_items(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command, with the data options of `train`. Nothing is trained where one side could not be measured."""
    monkeypatch.setattr(held_out, "validation_items", VALIDATION_ITEMS)
    monkeypatch.setattr(held_out, "evaluation_items", EVALUATION_ITEMS)
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.5)
    training_files.write(tmp_path / "data", "hpdv2")
    words = ["tradeoff", "--base", str(clip), "--suite", "unisim", "--data", str(tmp_path / "data"), "--seeds", "0,1"]
    words += ["--methods", "features=1", "--steps", "1", "--out", str(tmp_path / "out"), "--offline"]
    for named in ("image-choice=", "image-for-text=hpdv2", "text-for-image=", "quality="):
        words += ["--datasets", named]
    words += [word for option in ("batch_size=2", "warm_up=1") for word in ("--option", option)]
    refused = CliRunner().invoke(app, words)
    assert_refused(refused, NotHere, "needs the out-of-distribution items of unisim")
    assert not (tmp_path / "out").exists()
    unisim_files.write(tmp_path / "data", "sice")
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    assert held_out.DRAWN_OOD in made.output and "features 1: out of distribution " in made.output
    for text in (made.output, (tmp_path / "out" / "tradeoff.html").read_text(encoding="utf-8")):
        assert "A method becomes the default when" in text and "nan" not in text
        assert "are of drawn items, synthetic" in text.partition("A method becomes the default when")[2]
    assert len(list((tmp_path / "out").glob("*/training/finished.json"))) == 4


@pytest.mark.parametrize("compare", [interface.tradeoff, interface.ablate])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seeds": ()}, "at least one"),
        ({"seeds": (0, 0)}, "different whole numbers"),
        ({"seeds": (0, -1)}, "from 0"),
        ({"options": ["seed=7"]}, "name seeds"),
        ({"options": ["strength=7"]}, "cannot be common"),
    ],
)
def test_seeds_and_options_that_cannot_be_are_refused_before_any_training(
    tmp_path: Path, compare: Callable, more: dict, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        compare("tiny", out=tmp_path / "out", **more)
    assert not (tmp_path / "out").exists()


def test_the_ablation_takes_no_data(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["tradeoff", "--ablation", "--out", str(tmp_path), "--methods", "distill=1"])
    assert_refused(refused, BadInput, "leave out --methods")
    for more in (["--suite", "unisim"], ["--datasets", "quality="], ["--data", str(tmp_path)]):
        refused = CliRunner().invoke(app, ["tradeoff", "--ablation", "--out", str(tmp_path / "out"), *more])
        assert_refused(refused, BadInput, "--ablation is of drawn data sets")


def test_trainings_of_another_base_or_plan_are_refused(clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    compared = partial(interface.tradeoff, out=out, seeds=(0,), methods={"interpolate": (0.5,)})
    compared(clip, options=OPTIONS)
    before = (out / "tradeoff.html").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="another plan: samples was 4 and is 6"):
        compared(clip, options=[option.replace("samples=4", "samples=6") for option in OPTIONS])
    with pytest.raises(BadInput, match="another base model"):
        compared("tiny", options=OPTIONS)
    with pytest.raises(UnknownKey):
        compared("no-such-model", options=OPTIONS)
    assert (out / "tradeoff.html").read_text(encoding="utf-8") == before


def test_a_folder_in_which_another_process_trains_is_refused(clip: Path, tmp_path: Path) -> None:
    training = tmp_path / "out" / "training"
    training.mkdir(parents=True)
    with drafts.reserved(training / "lock") as is_free:
        assert is_free
        with pytest.raises(BadInput, match="Another process is training"):
            train(clip, out=tmp_path / "out", options=OPTIONS)
    assert not (training / "losses.jsonl").exists()


def test_the_ablation_trains_on_one_two_and_three_domains(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = interface.ablate(clip, out=tmp_path / "out", seeds=(0,), options=OPTIONS)
    assert [(row.strength, row.seeds) for row in rows] == [(1, 1), (2, 1), (3, 1)]
    assert len(list((tmp_path / "out").glob("*/training/finished.json"))) == 3
    for count in (1, 2, 3):
        plan = json.loads((tmp_path / "out" / f"{count}-data-sets-seed-0" / "training" / "plan.json").read_text())
        assert len({(part["task"], part["contents"]) for part in plan["data"]}) == len(plan["data"]) == count + 3
    assert not (tmp_path / "results" / "keys").exists()  # drawn images are compared when they are drawn
    again = partial(interface.ablate, clip, out=tmp_path / "out", seeds=(0,))
    assert [row.core.mean for row in again(options=OPTIONS)] == [row.core.mean for row in rows]
    with pytest.raises(BadInput, match="another plan"):
        again(options=[option.replace("learning_rate=1e-2", "learning_rate=1e-3") for option in OPTIONS])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "distill"], "names no strength: write interpolate="),
        (["--methods", "distill=x"], "'x' is no strength"),
        (["--methods", "distill=3,distill=3"], "names a strength of distill twice"),
        (["--methods", "distil=3"], "Did you mean 'distill'"),
        (["--methods", "interpolate=2"], "from 0 to 1"),
        (["--seeds", "0,a"], "'a' is no seed"),
        (["--seeds", "0,0"], "Seeds are different whole numbers"),
        (["--seeds", ","], "at least one"),
        (["--steps", "2", "--option", "samples=9"], "give one"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(tmp_path: Path, words: list[str], message: str) -> None:
    refused = CliRunner().invoke(app, ["tradeoff", "--out", str(tmp_path / "out"), *words])
    assert_refused(refused, BadInput, message)
    assert not (tmp_path / "out").exists()
