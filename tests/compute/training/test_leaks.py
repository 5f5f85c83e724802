"""No evaluation image is trained on: what counts as a hit, what the error names, and what could not be compared."""

from __future__ import annotations

import pytest

from compute.catalog import shipped
from compute.tasks.source import Source
from compute.training import splits
from compute.training.examples import Examples
from compute.types import BadInput
from tests.compute.tasks import unisim_files
from tests.compute.training.small_training import examples, listed


def pairs(*files: bytes, task: str = "quality") -> Examples:
    """Each of the files is an alternative once, the other alternative is made up; of captions it is the reference."""
    rows = [(file, "a", "b") if task == "text-for-image" else ("p", b"made up", file) for file in files]
    return listed(task, rows, [0] * len(files))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Those of NIGHTS, evaluated and of the training split."""
    return unisim_files.write(tmp_path_factory.mktemp("data"), "nights", "pie_app") / "nights"


@pytest.fixture
def check(images, monkeypatch):
    """Compares with two tasks that are here and one that is not."""
    keys = ("unisim/pieapp-iqa", "unisim/nights", "unisim/koniq-10k")
    monkeypatch.setattr(splits, "evaluated_tasks", lambda: [shipped().task(key) for key in keys])
    return lambda *sets: splits.check_leaks(sets, source=Source(root=images.parents[2], offline=True))


def test_what_nobody_evaluates_passes_and_what_is_not_here_is_counted(images, check):
    """NIGHTS' row 3 is of the training split: its images lie beside the evaluated ones."""
    said = check(pairs(b"one", (images / "ref/3.png").read_bytes()), examples("image-choice"))
    assert "2 evaluated tasks; 1 tasks" in said and "of 0 images" not in said


@pytest.mark.parametrize(
    ("name", "task"), [("ref/0.png", "quality"), ("distort/1_1.png", "quality"), ("ref/1.png", "text-for-image")]
)
def test_an_evaluated_image_in_whatever_role_is_a_hit_and_named(images, check, name, task):
    part = pairs(b"one", (images / name).read_bytes(), task=task)
    with pytest.raises(BadInput, match=f"noise, image 1.*nights/{name}' of unisim/nights"):
        check(pairs(b"harmless"), part)


def test_many_hits_are_counted_and_the_first_are_named(images, check):
    every = sorted(images.rglob("[01]*.png"))
    with pytest.raises(BadInput, match="^12 ") as error:
        check(pairs(*[path.read_bytes() for path in every] * 2))
    assert str(error.value).count(" of unisim/nights") == splits.LISTED


def test_the_tasks_that_are_compared_are_those_with_items():
    keys = {task.key for task in splits.evaluated_tasks()}
    assert {"unisim/nights", "unisim/roxford", "mini/image-choice", "mini/pairs-sp"} <= keys
    assert not any(key.startswith("mieb/") for key in keys)
