"""No evaluation image is trained on: what counts as a hit, what the error names, and what could not be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compute.catalog import shipped
from compute.content.items import images, texts
from compute.tasks.source import Source
from compute.training.unisim.data import leaks, mini
from compute.training.unisim.data.examples import ColumnExamples
from compute.types import BadInput
from tests.compute.tasks import unisim_files

PROMPT = "A high quality photo."


def tasks(*names: str):
    return [shipped().task(f"unisim/{name}") for name in names]


def source(folder: Path) -> Source:
    return Source(root=folder, offline=True, cache=folder / "keys", manifests=folder / "manifests")


def pairs(*files: bytes, dataset: str = "own") -> ColumnExamples:
    """Quality examples: each of the files is an alternative once, the other alternative is made up."""
    return ColumnExamples(
        task="quality",
        dataset=dataset,
        reference=texts([PROMPT] * len(files), of="prompt"),
        alternatives=(
            images([f"made up {at}".encode() for at in range(len(files))], of="left"),
            images(list(files), of="right"),
        ),
        preferred=np.zeros(len(files), int),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    unisim_files.write(tmp_path, "nights", "kadid10k")
    return tmp_path


def stored_run(root: Path, task: str, *keys: str) -> None:
    """A whole run of which a page can open one item that shows these images."""
    path = root / "model" / task.replace("/", "__") / "0123"
    path.mkdir(parents=True)
    (path / "run.json").write_text("{}")
    details = [json.dumps({"images": list(keys)}), None]
    pd.DataFrame({"item": ["a", "b"], "detail": details}).to_parquet(path / "items.parquet")


def test_images_that_nobody_evaluates_pass(folder: Path) -> None:
    evaluated = leaks.evaluated_images(tasks("nights", "kadid-10k", "koniq-10k"), source=source(folder))
    found = leaks.check([pairs(b"one", b"two")], evaluated)
    assert (found.trained, found.tasks) == (4, ("unisim/nights", "unisim/kadid-10k"))
    assert found.unreadable == ("unisim/koniq-10k",)  # the data set is here without this task's files
    assert found.evaluated > 6
    assert leaks.sentence(found).startswith("None of 4 training images is one of ")
    assert "1 tasks were not compared" in leaks.sentence(found)


@pytest.mark.parametrize("name", ["ref/0.png", "distort/1_1.png"])  # in whatever role it is evaluated
def test_an_evaluated_image_stops_the_training_and_is_named(folder: Path, name: str) -> None:
    image = (folder / "saraghznfri/unisim_data/nights" / name).read_bytes()
    evaluated = leaks.evaluated_images(tasks("kadid-10k", "nights"), source=source(folder))
    with pytest.raises(BadInput) as error:
        leaks.check([pairs(b"harmless"), pairs(b"one", image, dataset="copied")], evaluated)
    message = str(error.value)
    assert message.startswith("1 training images are evaluated too: 'right, image 1' of copied (quality) is ")
    assert f"nights/{name}' of unisim/nights" in message and "Nothing was trained" in message


def test_a_reference_image_counts_too(folder: Path) -> None:
    image = (folder / "saraghznfri/unisim_data/nights/ref/1.png").read_bytes()
    part = ColumnExamples(
        task="text-for-image",
        dataset="captions",
        reference=images([image], of="pictures"),
        alternatives=(texts(["a"], of="a"), texts(["b"], of="b")),
        preferred=np.zeros(1, int),
    )
    evaluated = leaks.evaluated_images(tasks("nights"), source=source(folder))
    with pytest.raises(BadInput, match=r"'pictures, image 0' of captions \(text-for-image\)"):
        leaks.check([part], evaluated)


def test_texts_and_images_of_training_rows_that_nobody_evaluates_are_no_hits(folder: Path) -> None:
    """NIGHTS' row 3 is of the training split: its images lie beside the evaluated ones."""
    image = (folder / "saraghznfri/unisim_data/nights/ref/3.png").read_bytes()
    evaluated = leaks.evaluated_images(tasks("nights"), source=source(folder))
    assert leaks.check([pairs(image)], evaluated).evaluated == 6


def test_many_hits_are_counted_and_the_first_are_named(folder: Path) -> None:
    every = sorted((folder / "saraghznfri/unisim_data/nights").rglob("[01]*.png"))
    evaluated = leaks.evaluated_images(tasks("nights"), source=source(folder))
    with pytest.raises(BadInput) as error:
        leaks.check([pairs(*[path.read_bytes() for path in every] * 2)], evaluated)
    assert str(error.value).startswith("12 training images are evaluated too")
    assert str(error.value).count(" of unisim/nights") == leaks.LISTED
    assert ", and 7 more. Nothing was trained" in str(error.value)


def test_of_tasks_whose_data_is_elsewhere_the_items_of_stored_runs_count(tmp_path: Path) -> None:
    from compute.content.items import content_key

    stored_run(tmp_path / "results", "unisim/nights", content_key(b"seen").decode())
    evaluated = leaks.evaluated_images(
        tasks("nights", "bapps"), source=Source(offline=True), roots=[tmp_path / "results"]
    )
    found = leaks.check([pairs(b"other")], evaluated)
    assert (found.by_items, found.missing, found.evaluated) == (("unisim/nights",), ("unisim/bapps",), 1)
    with pytest.raises(BadInput, match="'right, image 0' of own .* is an item of a stored run of unisim/nights"):
        leaks.check([pairs(b"seen")], evaluated)


def test_what_is_trained_on_and_could_not_be_compared_is_known(folder: Path) -> None:
    """A data set's own evaluation items matter most; others that are missing are only counted."""
    rows = tasks("nights", "bapps", "kadid-10k", "pieapp-2afc", "pieapp-iqa")
    evaluated = leaks.evaluated_images(rows, source=source(folder))
    sets = [pairs(b"a", dataset="kadid-10k"), pairs(b"b", dataset="pieapp"), pairs(b"c")]
    assert leaks.uncompared(evaluated, rows=rows, sets=sets) == ["unisim/pieapp-2afc", "unisim/pieapp-iqa"]
    assert leaks.uncompared(evaluated, rows=rows, sets=sets[:1]) == []


def test_a_damaged_run_is_said_to_be_unread(tmp_path: Path) -> None:
    stored_run(tmp_path / "results", "unisim/nights", "x")
    next(tmp_path.rglob("items.parquet")).write_bytes(b"damaged")
    evaluated = leaks.evaluated_images(tasks("nights"), source=Source(offline=True), roots=[tmp_path / "results"])
    assert list(evaluated.unreadable) == ["unisim/nights"]


def test_drawn_examples_are_compared_with_every_drawn_task() -> None:
    rows = [task for task in leaks.evaluated_tasks(shipped()) if task.benchmark == "mini"]
    evaluated = leaks.evaluated_images(rows, source=Source(offline=True))
    found = leaks.check(mini.training(seed=1, count=1000), evaluated)
    assert {"mini/quality", "mini/pages", "mini/pairs-sp"} <= set(found.tasks)
    assert not found.missing and not found.unreadable
    assert found.trained > 300 and found.evaluated > 5000
    shown = mini.validation(count=4)["mini/quality"]["default"].alternatives[0]
    assert leaks.check([pairs(shown.read(0))], evaluated).trained == 2  # validation items are not the suite's either


def test_a_drawn_image_is_compared_by_itself_and_named(folder: Path) -> None:
    evaluated = leaks.evaluated_images(tasks("nights"), source=source(folder))
    compare = leaks.guard(evaluated)
    own, shown = (
        pairs((folder / "saraghznfri/unisim_data/nights/ref" / name).read_bytes()) for name in ("3.png", "0.png")
    )
    compare(own[0].alternatives[1])  # of the training split
    with pytest.raises(
        BadInput, match=r"'right, image 0' is '.*nights/ref/0.png' of unisim/nights. It was not trained"
    ):
        compare(shown[0].alternatives[1])
    found = leaks.check([], evaluated)
    assert leaks.sentence(found, are_drawn=True).startswith(
        "Every training image, when it is drawn, is compared with 6"
    )


def test_the_tasks_that_are_compared_are_those_with_items() -> None:
    keys = {task.key for task in leaks.evaluated_tasks(shipped())}
    assert {"unisim/nights", "unisim/roxford", "mini/image-choice"} <= keys
    assert not any(key.startswith("mieb/") for key in keys)
