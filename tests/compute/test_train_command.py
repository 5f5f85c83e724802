"""`train` and `compute.train`: from a base to a folder that runs like any model, and what is refused at once."""

from __future__ import annotations

import json
from functools import partial

import pytest

import compute
from compute import paths
from compute.catalog import shipped
from compute.models.own import checkpoints as own_checkpoints
from compute.tasks import mini
from compute.training import drawn, evaluation, leaks, splits
from compute.types import BadInput, CannotWrite, NotHere, UnknownKey
from tests.compute.commands import assert_refused, command
from tests.compute.models import checkpoints
from tests.compute.tasks import unisim_files
from tests.compute.tasks.files import put

FAST = "--option batch_size=2 --option warm_up=1 --option evaluate_every=2 --option save_every=1"


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    """Results in the test's own folder; few items, drawn as ever, to measure by and to compare with."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    few = partial(mini.TASKS["mini/quality"], seed=drawn.VALIDATION, count=8)
    monkeypatch.setattr(drawn, "validation", lambda *, core: {"mini/quality": {"default": few()}} if core else {})
    rows = [shipped().task("mini/quality")]
    suite_tasks = evaluation.suite_tasks
    monkeypatch.setattr(evaluation, "suite_tasks", lambda suite: rows if suite == "mini" else suite_tasks(suite))
    monkeypatch.setattr(leaks, "evaluated_tasks", lambda catalog: rows)


train = command("train")


def test_a_tuned_model_is_a_folder_that_runs_like_any_other(tmp_path):
    out = tmp_path / "my tuned"
    line = f"--base tiny --out '{out}' {FAST} --steps"
    made = train(f"{line} 3")
    assert made.exit_code == 0, made.output
    lines = made.output.splitlines()
    assert lines[-1].endswith(f" --models '{out}'")
    card, page = ((out / name).read_text(encoding="utf-8") for name in ("README.md", "training.html"))
    assert "| **Core** |" in card and "1 evaluated tasks" in card
    assert "<svg" in page
    (tmp_path / "any").touch()
    modes = {file.stat().st_mode for file in out.iterdir() if file.is_file()}
    assert modes == {(tmp_path / "any").stat().st_mode}, "as any file that is written here, also for others to read"
    ran = command("run --suite mini --tasks mini/quality")(f"--models '{out}' --results {tmp_path}/r")
    assert ran.exit_code == 0 and "mini/quality" in ran.output, ran.output
    again = train(f"{line} 3")
    assert again.exit_code == 0 and "nothing was trained" in again.output
    assert_refused(train(f"{line} 4"), BadInput, "samples was 6 and is 8")
    clip = checkpoints.clip(tmp_path / "clip")
    assert_refused(train(f"--base {clip} --out '{out}' --steps 3 {FAST}"), BadInput, "another base")


def test_from_python_the_result_has_its_curves_and_table(tmp_path):
    """An adapter over a base; what no file of it states, such as what precedes each text, is repeated."""
    folder = checkpoints.clip(tmp_path / "clip")
    plan = {"tune": "lora", "batch_size": 2, "samples": 4, "warm_up": 1, "learning_rate": 1e-2, "evaluate_every": 1}
    train = partial(compute.train, folder, out=tmp_path / "tuned", tasks="image-choice", options=plan, save="adapter")
    tuned = train()
    assert (tuned.steps, len(tuned.losses), [each.step for each in tuned.measurements]) == (2, 2, [0, 1, 2])
    assert set(tuned.losses[0]) == {"image-choice", "distill", "total"}
    assert [row.key for row in tuned.changes] == ["core", "mini/quality"]
    assert own_checkpoints.from_folder(tmp_path / "tuned").row.adapter == "clip"
    stored = json.loads((tmp_path / "tuned" / "training" / "plan.json").read_text())
    assert stored["plan"]["learning_rate"] == 1e-2 and stored["base"]["revision"].startswith("files-")
    again = train()
    assert again.measurements == tuned.measurements and again.seconds == tuned.seconds


def test_the_training_splits_of_table_5_train_and_choose(tmp_path, monkeypatch):
    """By the paper's plan; a changed image, of what is trained on or of what chooses, is another run."""
    unisim_files.write(tmp_path / "data", "nights", "pie_app", "hpdv2", training=True)
    evaluated = ("unisim/nights", "unisim/pieapp-2afc", "unisim/pieapp-iqa")
    monkeypatch.setattr(leaks, "evaluated_tasks", lambda catalog: [shipped().task(key) for key in evaluated])
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.5)
    line = f"--base {checkpoints.clip(tmp_path / 'clip')} --suite unisim --out {tmp_path}/out --data {tmp_path}/data"
    line += f" --steps 2 --offline {FAST} --datasets image-choice=nights,pieapp --datasets image-for-text=hpdv2"
    line += " --datasets text-for-image= --datasets quality=pieapp"
    made = train(line)
    assert made.exit_code == 0, made.output
    assert "3 evaluated tasks" in made.output and evaluation.DRAWN_OOD in made.output
    training = tmp_path / "out" / "training"
    plan, finished = (json.loads((training / name).read_text()) for name in ("plan.json", "finished.json"))
    assert plan["plan"]["learning_rate"] == 5e-6 and plan["plan"]["weight_decay"] == 0.35  # the paper's
    assert plan["data"] and plan["validation"] and {row["key"] for row in finished["changes"]} >= set(evaluated)
    assert "nothing was trained" in train(line).output
    for name, part in (("10.jpg", "validation"), ("00.jpg", "data")):
        path = tmp_path / "data" / "saraghznfri/unisim_data/hpdv2/train" / name
        before = path.read_bytes()
        put(path.parent, {name: 999})
        assert_refused(train(line), BadInput, f"another {part}", "image-for-text from hpdv2")
        path.write_bytes(before)


def test_an_evaluated_image_stops_the_run_by_name(tmp_path, monkeypatch):
    evaluated = leaks.EvaluatedImages(
        images={drawn.training(seed=0, count=1)[3][0].alternatives[0].key(): "an item"}, tasks=("t",), missing=()
    )
    monkeypatch.setattr(leaks, "evaluated_images", lambda *_, **__: evaluated)
    refused = train(f"--base tiny --out {tmp_path}/out --steps 1 --option batch_size=144 --tasks quality")
    assert_refused(refused, BadInput, "drawn-scenes-training, damages 0", "is an item")
    assert not list((tmp_path / "out").glob("*.safetensors"))


@pytest.mark.parametrize(
    ("line", "error", "word"),
    [
        ("--base tinny --out {out}", UnknownKey, "tiny"),
        ("--base tiny --out {out} --suite pairbench", BadInput, "mini"),
        ("--base tiny --out {out} --suite unisim --offline", NotHere, "pie_app/ from"),
        ("--base tiny --out {out} --steps 2 --option samples=5", BadInput, "samples"),
        ("--base tiny --out {file}/sub", CannotWrite, "{file}/sub"),
        ("--base tiny --out {out} --save onnx", BadInput, "adapter"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_first_step(tmp_path, line, error, word):
    (tmp_path / "file").write_text("x")
    places = {"out": tmp_path / "out", "file": tmp_path / "file"}
    assert_refused(train(line.format(**places)), error, word.format(**places))
    assert not (tmp_path / "out" / "training" / "losses.jsonl").exists()
