"""`train --base` and `compute.train`: from a base to a folder that runs like any model, and what is refused at once."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner, Result

import compute
from compute import models, paths
from compute.__main__ import app
from compute.catalog import shipped
from compute.cli.models import _options
from compute.interface import train as interface
from compute.interface import training_report
from compute.models.own import checkpoints as own_checkpoints
from compute.tasks import unisim
from compute.training.unisim import curves, held_out, results
from compute.training.unisim.data import leaks, mini, splits
from compute.training.unisim.evaluation import Evaluator
from compute.types import BadInput, CannotDo, CannotWrite, LikenessError, NotHere, UnknownKey
from tests.compute.commands import assert_refused
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU
from tests.compute.tasks import unisim_files
from tests.compute.training.unisim import small_training
from tests.compute.training.unisim.data import training_files

FAST = ("batch_size=2", "warm_up=1", "evaluate_every=2", "save_every=1")
CORE = ("mini/image-choice", "mini/image-for-text", "mini/text-for-image", "mini/quality")


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results in the test's own folder; few items, drawn as ever, to measure by and to compare with."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "computed")
    drawn = partial(mini.CORE["mini/quality"], seed=mini.VALIDATION, count=8)
    monkeypatch.setattr(mini, "validation", lambda **_: {"mini/quality": {"default": drawn()}})
    monkeypatch.setattr(held_out, "MINI", ("mini/quality",))
    every = leaks.evaluated_tasks
    monkeypatch.setattr(leaks, "evaluated_tasks", lambda catalog: [row for row in every(catalog) if row.key in CORE])


def train(*words: str) -> Result:
    return CliRunner().invoke(app, ["train", *words])


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def options(*values: str) -> list[str]:
    return [word for value in (*FAST, *values) for word in ("--option", value)]


def test_a_tuned_model_is_a_folder_that_runs_like_any_other(tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    made = train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "3", *options())
    assert made.exit_code == 0, made.output
    lines = made.output.splitlines()
    assert any(line.startswith("Every training image") and "4 evaluated tasks" in line for line in lines), made.output
    assert any(line.startswith("Step 0 of 3: core ") for line in lines)
    assert any(line.startswith("Step 3 of 3, loss ") and "OOD not measured" in line for line in lines)
    assert lines[-1] == f"Its scores: python -m compute run --suite mini --models {out}"
    card = (out / "README.md").read_text(encoding="utf-8")
    assert re.search(r"None of \d+ training images is one of [\d,]+ images of 4 evaluated tasks", card)
    assert "The mini suite's own items" in card and "| **Core** |" in card and card.count(results.TABLE_START) == 1
    modes = {file.stat().st_mode & 0o777 for file in out.iterdir() if file.is_file()}
    assert modes == {0o666 & ~umask()}, "as any file that is written here, also for others to read"
    run = CliRunner().invoke(
        app,
        ["run", "--suite", "mini", "--tasks", "mini/quality", "--models", str(out), "--results", str(tmp_path / "r")],
    )
    assert run.exit_code == 0 and "mini/quality" in run.output, run.output
    again = train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "3", *options())
    assert again.exit_code == 0 and "is complete: nothing was trained" in again.output
    (out / "training" / "finished.json").unlink()  # as a run that was stopped
    with patch.object(interface.loop, "precision", lambda base, plan: "tf32"):
        elsewhere = train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "3", *options())
    assert_refused(elsewhere, BadInput, "began on cpu in ", "not on cpu in tf32. Go on with it there")
    other = train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "4", *options())
    assert_refused(other, BadInput, "another plan: samples was 6 and is 8")
    clip = checkpoints.clip(tmp_path / "clip")
    base = train("--base", str(clip), "--out", str(out), "--steps", "3", *options())
    assert_refused(base, BadInput, "another base model")


def test_a_folder_that_has_the_name_of_a_model_is_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is measured, and in the line that says how to run it, which also quotes it."""
    monkeypatch.chdir(tmp_path)
    checkpoints.clip(tmp_path / "tiny")
    rows = [interface.model_row(name, offline=True) for name in (Path("tiny"), "./tiny", "tiny")]
    assert rows[0] == rows[1] != rows[2]
    made = train("--base", "./tiny", "--out", "my tiny", "--steps", "1", *options())
    assert made.exit_code == 0, made.output
    assert made.output.splitlines()[-1].endswith(" --models './my tiny'")


def test_examples_of_one_s_own_are_trained_on_alone(tmp_path: Path) -> None:
    own = [small_training.examples("quality")]
    for examples, more, message in (
        ([], {}, "No training examples"),
        (own, {"suite": "unisim"}, "with the suite mini"),
        (own, {"tasks": "quality"}, "leave out tasks, datasets and data"),
        (own, {"datasets": ["quality=drawn-scenes"]}, "leave out tasks, datasets and data"),
    ):
        with pytest.raises(BadInput, match=message):
            compute.train("tiny", out=tmp_path / "out", examples=examples, **more)
    assert not (tmp_path / "out").exists()


def test_another_plan_is_refused_before_any_training_image_is_read(tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    assert train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "1", *options()).exit_code == 0
    with patch.object(mini.DrawnExamples, "keys", side_effect=AssertionError("the images were read")):
        other = train("--base", "tiny", "--suite", "mini", "--out", str(out), "--steps", "2", *options())
    assert_refused(other, BadInput, "another plan")


def test_the_training_splits_of_table_5_train_and_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No image is both trained on and a reason to store a step, and none is evaluated."""
    names = ("nights", "pie_app", "hpdv2")
    training_files.write(tmp_path / "data", *names)
    evaluated = ("unisim/nights", "unisim/pieapp-2afc", "unisim/pieapp-iqa")
    rows = [task for task in shipped().tasks if task.key in evaluated]
    monkeypatch.setattr(leaks, "evaluated_tasks", lambda catalog: rows)
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.5)
    drawn = {"mini/brightness": {"default": mini.OOD["mini/brightness"](seed=mini.VALIDATION)}}
    monkeypatch.setattr(mini, "validation", lambda *, core: {} if core else drawn)
    monkeypatch.setattr(held_out, "MINI", ("mini/brightness",))
    compared = []
    check = leaks.check
    monkeypatch.setattr(leaks, "check", lambda sets, images: (compared.append(sets), check(sets, images))[1])
    trained = []
    loop_train = interface.loop.train
    monkeypatch.setattr(
        interface.loop, "train", lambda *some, **more: (trained.append((some[1], more)), loop_train(*some, **more))[1]
    )
    words = ["--base", str(checkpoints.clip(tmp_path / "clip")), "--suite", "unisim", "--out", str(tmp_path / "out")]
    words += ["--data", str(tmp_path / "data"), "--steps", "2", "--offline", *options()]
    words += ["--datasets", "image-choice=nights,pieapp", "--datasets", "image-for-text=hpdv2"]
    words += ["--datasets", "text-for-image=", "--datasets", "quality=pieapp"]
    made = train(*words)
    assert made.exit_code == 0, made.output
    [(sets, more)] = trained
    assert more["plan"].learning_rate == 5e-6 and more["plan"].weight_decay == 0.35  # the paper's
    evaluator = more["evaluator"]
    own = {key for part in sets for key in part.keys()[:, [part.task == "image-choice", True, True]].ravel().tolist()}
    choosing = {
        key
        for part in evaluator.held_out
        if part.side == "core"
        for column in (part.data["default"].reference, *part.data["default"].alternatives)
        if column is not None and column.modality == "image"
        for key in column.keys.tolist()
    }
    assert own and choosing and not own & choosing
    seen = [{key for part in parts for key in part.keys().ravel().tolist()} for parts in compared]
    assert len(seen) == 2 and own <= seen[0] and choosing <= seen[1]
    assert "None of " in made.output and held_out.DRAWN_OOD in made.output
    assert re.search(r"Step 2 of 2, loss \S+ core \S+ \(\S+\), OOD \d", made.output), made.output
    assert "Warning: Not compared with unisim/hpdv2" not in made.output
    assert "tasks of unisim are not measured, such as" in made.output
    changes = json.loads((tmp_path / "out" / "training" / "evaluation.json").read_text())
    assert all(key in json.dumps(changes) for key in evaluated)
    assert "run --suite unisim-core" in made.output
    assert "run --suite unisim-core --models ./FOLDER" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "nothing was trained" in train(*words).output
    for name, what in (("10.jpg", "validation data"), ("00.jpg", "training data")):
        path = tmp_path / "data" / unisim.REPO / "hpdv2" / "train" / name
        before = path.read_bytes()
        unisim_files.picture(path, 999)
        assert_refused(train(*words), BadInput, f"with other {what}", "image-for-text from hpdv2")
        path.write_bytes(before)


def test_from_python_the_result_has_its_curves_and_scores_as_the_evaluator_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []
    real = Evaluator.measure

    def measure(self, embed_images):
        measured.append(real(self, embed_images))
        return measured[-1]

    monkeypatch.setattr(Evaluator, "measure", measure)
    folder = checkpoints.clip(tmp_path / "clip")
    tuned = compute.train(
        folder,
        out=tmp_path / "tuned",
        tasks="image-choice",
        options={
            "tune": "lora",
            "batch_size": 2,
            "samples": 4,
            "warm_up": 1,
            "learning_rate": 1e-2,
            "evaluate_every": 1,
        },
        save="adapter",
        track="tensorboard",
    )
    assert (tuned.steps, len(tuned.losses), tuned.stopped) == (2, 2, "")
    on_the_way = measured[: len(tuned.measurements)]  # then base and tuned model on the suite's own items
    assert [each.core for each in tuned.measurements] == [each.core for each in on_the_way]
    assert (len(on_the_way), len(measured)) == (3, 5)
    assert tuned.before.core == measured[0].core and tuned.after.step == tuned.best
    assert set(tuned.losses[0]) == {"image-choice", "distill", "total"}
    assert list((tmp_path / "tuned" / "training").rglob("events.out.tfevents.*"))
    row = own_checkpoints.from_folder(tmp_path / "tuned").row
    pictures = checkpoints.images()
    vectors = [
        encoder.embed("image", [encoder.prepare("image", picture) for picture in pictures])
        for encoder in (models.load(row, hardware=CPU), models.load(checkpoints.row(folder, "clip"), hardware=CPU))
    ]
    assert tuned.best == 0 or np.abs(vectors[0] - vectors[1]).max() > 1e-4
    plan = json.loads((tmp_path / "tuned" / "training" / "plan.json").read_text())
    assert plan["plan"]["learning_rate"] == 1e-2 and plan["base"]["revision"].startswith("files-")


def test_a_run_of_drawn_images_goes_on_only_with_what_it_was_compared_with(tmp_path: Path) -> None:
    words = ("--base", "tiny", "--suite", "mini", "--out", str(tmp_path / "out"), "--tasks", "quality", "--steps", "1")
    assert train(*words, *options()).exit_code == 0
    training = tmp_path / "out" / "training"
    (training / "finished.json").unlink()  # as a run that was stopped
    assert train(*words, *options()).exit_code == 0
    (training / "finished.json").unlink()
    (training / "evaluated.sha256").write_text("of fewer images")
    assert_refused(
        train(*words, *options()), BadInput, "compared its images with others than those that are evaluated now"
    )


def test_an_image_that_is_evaluated_stops_the_run_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training examples that are the suite's own items."""
    from compute.content.items import Column
    from compute.training.unisim.data.examples import ColumnExamples

    data = mini.mini.drawn("mini/image-choice")
    part = data if not isinstance(data, dict) else data["default"]
    columns: list[Column] = [part.reference, *part.alternatives]
    leaked = ColumnExamples(
        task="image-choice",
        dataset="leaked",
        reference=columns[0],
        alternatives=(columns[1], columns[2]),
        preferred=np.zeros(len(columns[0]), int),
    )
    monkeypatch.setattr(interface, "_sets", lambda *_, **__: ([leaked], []))
    refused = train("--base", "tiny", "--out", str(tmp_path / "out"), *options())
    assert_refused(refused, BadInput, "training images are evaluated too", "mini/image-choice")
    assert not list((tmp_path / "out").glob("*.safetensors"))


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ([], BadInput, "--base MODEL --out FOLDER"),
        (["tiny", "--base", "tiny"], BadInput, "leave out --base"),
        (["huge"], BadInput, "choose from tiny"),
        (["--base", "tiny"], BadInput, "--out checkpoints/NAME"),
        (["--base", "tinny", "--out", "{out}"], UnknownKey, "Did you mean"),
        (["--base", "tiny", "--out", "{out}", "--tasks", "qualty"], BadInput, "Did you mean 'quality'"),
        (["--base", "tiny", "--out", "{out}", "--suite", "pairbench"], BadInput, "mini"),
        (["--base", "tiny", "--out", "{out}", "--suite", "unisim", "--offline"], NotHere, "pie_app/ from"),
        (
            ["--base", "tiny", "--out", "{out}", "--suite", "unisim", "--data", "/no-such-folder"],
            NotHere,
            "<org>/<name>/",
        ),
        (["--base", "tiny", "--out", "{out}", "--data", "/no-such-folder"], NotHere, "no folder /no-such-folder"),
        (["--base", "tiny", "--out", "{out}", "--steps", "2", "--option", "samples=5"], BadInput, "give one"),
        (["--base", "tiny", "--out", "{out}", "--seed", "2", "--option", "seed=3"], BadInput, "give one of them"),
        (["--base", "tiny", "--out", "{file}/sub"], CannotWrite, "Cannot make the folder {file}/sub: Not a directory"),
        (["tiny", "--tasks", "quality"], BadInput, "--tasks applies only with --base"),
        (["huge", "--tasks", "quality"], BadInput, "choose from tiny"),
        (["tiny", "--suite", "unisim"], BadInput, "--suite applies only with --base"),
        (["tiny", "--save", "adapter"], BadInput, "--save applies only with --base"),
        (["tiny", "--option", "rank=4"], BadInput, "--option applies only with --base"),
        (["--base", "tiny", "--out", "{out}", "--datasets", "quality=pipal"], BadInput, "No data set 'pipal'"),
        (
            ["--base", "tiny", "--out", "{out}", "--tasks", "quality", "--datasets", "quality="],
            BadInput,
            "leave none of quality",
        ),
        (["--base", "tiny", "--out", "{out}", "--option", "rat=1"], BadInput, "No training option 'rat'"),
        (["--base", "tiny", "--out", "{out}", "--option", "targets=query"], BadInput, "add tune=lora"),
        (
            ["--base", "tiny", "--out", "{out}", "--option", "tune=lora", "--option", "targets=query"],
            BadInput,
            "match no layer",
        ),
        (["--base", "tiny", "--out", "{out}", "--track", "tensorbord"], BadInput, "'tensorboard'"),
        (["--base", "tiny", "--out", "{out}", "--save", "onnx"], CannotDo, "merged or adapter"),
        (["--base", "ssim", "--out", "{out}"], CannotDo, "no vision tower"),
        (["--base", "wordllama", "--out", "{out}"], CannotDo, "no vision tower"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_first_step(
    tmp_path: Path, words: list[str], error: type, message: str
) -> None:
    (tmp_path / "file").write_text("x")
    places = {"out": tmp_path / "out", "file": tmp_path / "file"}
    refused = train(*(word.format(**places) for word in words))
    assert_refused(refused, error, message.format(**places))
    assert not (tmp_path / "out" / "training" / "losses.jsonl").exists()


def test_the_tuned_model_is_measured_with_the_base_s_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no file states, such as what precedes each text, is repeated: in the table, and in the line to run it by."""
    folder = checkpoints.clip(tmp_path / "clip")
    own = {"text_prefix": "a photo of ", "normalise": True, "caution": "noise"}
    row = replace(own_checkpoints.from_folder(folder).row, options=own)
    real = interface.model_row
    monkeypatch.setattr(interface, "model_row", lambda base, **more: row if base == "prefixed" else real(base, **more))
    compared = []
    monkeypatch.setattr(
        training_report, "compared", lambda base, tuned, **more: compared.append((base, tuned)) or stored_changes()
    )
    made = train("--base", "prefixed", "--out", str(tmp_path / "tuned"), "--steps", "1", *options())
    assert made.exit_code == 0, made.output
    ((base, tuned),) = compared
    assert base is row and tuned.weights == str(tmp_path / "tuned")
    assert tuned.options == {"text_prefix": "a photo of ", "normalise": True}
    named, _, words = made.output.splitlines()[-1].partition(" --models ")[2].partition(" ")
    pairs = shlex.split(words)
    assert named == str(tmp_path / "tuned") and pairs[::2] == ["--model-option"] * 2
    assert _options(pairs[1::2]) == tuned.options
    assert f"Repeat them: `{words}`." in (tmp_path / "tuned" / "README.md").read_text(encoding="utf-8")


def stored_changes() -> list[curves.TaskChange]:
    """The table of a model that lost nothing."""
    return [
        curves.TaskChange(key=side, title=side, side=side, before=0.5, after=0.5, low=-0.1, high=0.1)
        for side in ("core", "ood")
    ]


def test_a_loss_that_is_not_finite_leaves_the_best_model_until_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the folder, to be used, with a card that says why it ended there; the same command goes on from there."""
    real, calls = interface.loop.hinge, []

    def spoilt(*vectors, preferred, margin):
        calls.append(1)
        value = real(*vectors, preferred=preferred, margin=margin)
        return value * math.nan if len(calls) > 4 * 2 else value

    monkeypatch.setattr(interface.loop, "hinge", spoilt)
    out = tmp_path / "tuned"
    words = ["--base", "tiny", "--out", str(out), "--steps", "4", *options()]
    stopped = train(*words)
    assert_refused(stopped, LikenessError, "at step 3", "What was best until then, step ", f"is a model in {out}")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "Training stopped early: The loss of image-choice is nan at step 3." in card
    assert own_checkpoints.from_folder(out).row.adapter == "clip"
    assert not (out / "training" / "finished.json").exists()
    tuned = load_file(out / "model.safetensors")
    best = sorted((out / "training").glob("best-*"))[-1]
    stored = load_file(best / "tuned.safetensors")
    assert f"What was best until then, step {int(best.name[5:])}," in " ".join(stopped.output.split())
    assert stored and all(np.array_equal(tuned[name], weight) for name, weight in stored.items())
    monkeypatch.setattr(interface.loop, "hinge", real)
    done = train(*words)
    assert done.exit_code == 0 and "Resumed after step 2 of 4" in done.output, done.output
    assert (out / "training" / "finished.json").exists()
    assert "stopped early" not in (out / "README.md").read_text(encoding="utf-8")


def test_offline_nothing_is_asked_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a base that is not here the error says so; afterwards the process is as it was."""
    from huggingface_hub import constants

    def asked(*_: object, **__: object) -> None:
        assert constants.HF_HUB_OFFLINE and os.environ["HF_HUB_OFFLINE"] == "1"
        raise NotHere("it is not here")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(interface, "model_row", asked)
    refused = train("--base", "tiny", "--out", str(tmp_path / "out"), "--offline", *options())
    assert_refused(refused, NotHere, "it is not here")
    assert not constants.HF_HUB_OFFLINE and "HF_HUB_OFFLINE" not in os.environ
