"""`train` and `compute.train`: from a base to a folder that runs like any model, and what is refused at once."""

import json
import shutil
from functools import partial

import pytest

import compute
from compute import paths
from compute.catalog import shipped
from compute.models.own import checkpoints as own_checkpoints
from compute.tasks import mini
from compute.tasks.mini import choices
from compute.tasks.unisim import REPO
from compute.training import evaluation, splits
from compute.types import BadInput, CannotWrite, NotHere, UnknownKey
from tests.compute.commands import assert_refused, command, done
from tests.compute.models import checkpoints
from tests.compute.tasks import unisim_files
from tests.compute.tasks.files import put

EVALUATED = ("unisim/nights", "unisim/pieapp-2afc", "unisim/pieapp-iqa")
DATASETS = ("image-choice=nights,pieapp", "image-for-text=hpdv2", "text-for-image=", "quality=pieapp")
FAST = "--option batch_size=2 --option warm_up=1 --option evaluate_every=2 --option save_every=1"

train = command("train")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Small copies of three data sets."""
    folder = tmp_path_factory.mktemp("written")
    unisim_files.write(folder, "nights", "pie_app", "hpdv2", training=True)
    return folder


@pytest.fixture(autouse=True)
def data(written, tmp_path, monkeypatch):
    """The data sets, which the test may change, and few items to measure by and to compare with."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.5)
    monkeypatch.setattr(evaluation, "OOD", ())
    monkeypatch.setattr(splits, "evaluated_tasks", lambda: [shipped().task(key) for key in EVALUATED])
    return shutil.copytree(written, tmp_path / "data") / REPO


def line(tmp_path, base="tiny", out="out"):
    given = " ".join(f"--datasets {each}" for each in DATASETS)
    return f"--base {base} --out '{tmp_path / out}' --data {tmp_path}/data --offline {given} {FAST}"


def test_a_tuned_model_is_a_folder_that_runs_like_any_other(tmp_path, monkeypatch):
    """By the paper's plan; out of distribution is measured by drawn items."""
    monkeypatch.setitem(choices.DRAWN, "sharpness", (*choices.DRAWN["sharpness"][:2], 6))
    few = {"default": choices.choice("sharpness")}
    monkeypatch.setattr(mini, "load", lambda task: few)
    monkeypatch.setattr(evaluation, "OOD", ("mini/sharpness",))
    usual, out = line(tmp_path, out="my tuned"), tmp_path / "my tuned"
    made = done(train(f"{usual} --steps 3"))
    assert made.output.splitlines()[-1].endswith(f"--suite unisim-core --models '{out}'")
    assert "3 evaluated tasks" in made.output and evaluation.DRAWN_OOD in made.output
    card, page = ((out / name).read_text(encoding="utf-8") for name in ("README.md", "training.html"))
    assert "| **Core** |" in card and "3 evaluated tasks" in card and evaluation.DRAWN_OOD in card
    assert "<svg" in page and "Core went from" in page
    plan, finished = (json.loads((out / "training" / f"{name}.json").read_text()) for name in ("plan", "finished"))
    assert plan["plan"]["learning_rate"] == 5e-6 and plan["plan"]["weight_decay"] == 0.35
    assert plan["data"] and plan["validation"] and {row["key"] for row in finished["changes"]} >= set(EVALUATED)
    assert all(0 < each["ood"] <= 1 for each in finished["state"]["measurements"])
    (tmp_path / "any").touch()
    modes = {file.stat().st_mode for file in out.iterdir() if file.is_file()}
    assert modes == {(tmp_path / "any").stat().st_mode}, "as any file that is written here, also for others to read"
    ran = done(
        command("run --suite unisim-core --tasks unisim/nights --offline")(
            f"--models '{out}' --data {tmp_path}/data --results {tmp_path}/r"
        )
    )
    assert "unisim/nights" in ran.output
    again = done(train(f"{usual} --steps 3"))
    assert "nothing was trained" in again.output


def test_another_run_never_takes_a_folder(tmp_path, data):
    """Another plan, base, suite, or image: of what is trained on, or of what chooses."""
    usual = line(tmp_path)
    assert train(f"{usual} --steps 1").exit_code == 0
    assert_refused(train(f"{usual} --steps 2"), BadInput, "samples was 2 and is 4")
    clip = checkpoints.clip(tmp_path / "clip")
    assert_refused(train(f"{line(tmp_path, base=clip)} --steps 1"), BadInput, "another base")
    for name, part in (("10.jpg", "validation"), ("00.jpg", "data")):
        path = data / "hpdv2/train" / name
        before = path.read_bytes()
        put(path.parent, {name: 999})
        assert_refused(train(f"{usual} --steps 1"), BadInput, f"another {part}", "image-for-text from hpdv2")
        path.write_bytes(before)
    plan = tmp_path / "out/training/plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"suite": {"name": "mini", "drawn": "1.1"}}))
    assert_refused(train(f"{usual} --steps 1"), BadInput, "another suite", "mini")
    assert own_checkpoints.from_folder(tmp_path / "out").row.adapter == "clip", "an earlier version's is still a model"


def test_from_python_the_result_has_its_curves_and_table(tmp_path):
    """An adapter over a base; what no file of it states, such as what precedes each text, is repeated."""
    folder = checkpoints.clip(tmp_path / "clip")
    plan = {"batch_size": 2, "samples": 4, "warm_up": 1, "learning_rate": 1e-2, "evaluate_every": 1}
    given = {"data": tmp_path / "data", "datasets": DATASETS, "tasks": "image-for-text", "offline": True}
    train = partial(compute.train, folder, out=tmp_path / "tuned", options=plan, save="adapter", **given)
    tuned = train()
    assert (tuned.steps, len(tuned.losses), [each.step for each in tuned.measurements]) == (2, 2, [0, 1, 2])
    assert set(tuned.losses[0]) == {"image-for-text", "total"}
    assert tuned.changes[0].key == "core" and {row.key for row in tuned.changes} > set(EVALUATED)
    assert own_checkpoints.from_folder(tmp_path / "tuned").row.adapter == "clip"
    stored = json.loads((tmp_path / "tuned" / "training" / "plan.json").read_text())
    assert stored["plan"]["learning_rate"] == 1e-2 and stored["base"]["revision"].startswith("files-")
    again = train()
    assert again.measurements == tuned.measurements and again.seconds == tuned.seconds


@pytest.mark.parametrize(
    "more, error, word",
    [
        ("--base tinny", UnknownKey, "tiny"),
        ("--data {folder}/empty", NotHere, "pie_app/ from"),
        ("--out {folder}/file/sub", CannotWrite, "{folder}/file/sub"),
        ("--save onnx", BadInput, "adapter"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_first_step(tmp_path, more, error, word):
    put(tmp_path, {"file": "x", "empty/file": "x"})
    refused = train(f"{line(tmp_path)} {more.format(folder=tmp_path)}")
    assert_refused(refused, error, word.format(folder=tmp_path))
    assert not (tmp_path / "out" / "training" / "losses.jsonl").exists()
