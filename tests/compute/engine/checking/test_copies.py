"""Near copies within a data set, across its splits, and in benchmarks, on real photographs."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from compute import tasks
from compute.catalog import shipped
from compute.content import near_copies
from compute.content.items import Column, images, texts
from compute.engine.checking.copies import hashed, within
from compute.engine.checking.overlap import overlap
from compute.interface.data_check import images_read
from compute.tasks import mini
from compute.tasks.data import Clusters, Labelled, Mixed, Probe, Retrieval
from compute.tasks.drawing.photographs import photo_path
from compute.tasks.source import Source

NAMES = ("astronaut.png", "coffee.png", "rocket.jpg", "chelsea.png", "camera.png")


def file(name: str, change: Callable[[Image.Image], Image.Image] = lambda image: image, **how: object) -> bytes:
    with Image.open(photo_path(name)) as stored:
        image = change(stored.convert("RGB"))
    out = io.BytesIO()
    image.save(out, **(how or {"format": "PNG"}))
    return out.getvalue()


def smaller(name: str) -> bytes:
    return file(name, lambda image: image.resize((image.width // 2, image.height // 2)), format="JPEG", quality=70)


def labelled(files: list[bytes], labels: list[int], *, start: int = 1) -> Labelled:
    names = tuple(f"row {start + at}" for at in range(len(files)))
    column = images(files, of="own")
    return Labelled(names=names, items=column, labels=np.array(labels), classes=("person", "thing"))


PHOTOGRAPHS = [file(name) for name in NAMES]


def test_near_copies_of_items_with_their_labels() -> None:
    part = labelled([*PHOTOGRAPHS, smaller("coffee.png"), smaller("astronaut.png")], [0, 1, 1, 1, 1, 1, 1])
    found = within({"default": Clusters(test=part)}, hashed([part.items]))
    assert [(each.what, each.count, each.examples) for each in found] == [
        (
            "items that are near copies of an earlier one",
            2,
            ("row 6 ~ row 2", "row 7 ~ row 1: 'thing' and 'person'"),
        )
    ]


def test_near_copies_across_the_splits() -> None:
    data = Probe(train=labelled(PHOTOGRAPHS[:3], [0, 1, 1]), test=labelled([smaller("rocket.jpg")], [1], start=9))
    found = within({"default": data}, hashed([data.train.items, data.test.items]))
    assert [(each.what, each.examples) for each in found] == [
        ("test items that are near copies of training items", ("row 9 ~ row 3",))
    ]


def test_the_same_file_is_no_near_copy_of_itself() -> None:
    """It is counted as a repeat, by its content key."""
    part = labelled([PHOTOGRAPHS[0], PHOTOGRAPHS[0], PHOTOGRAPHS[1]], [0, 0, 1])
    both = Probe(train=part, test=labelled([PHOTOGRAPHS[1]], [1], start=9))
    assert within({"default": both}, hashed([part.items, both.test.items])) == []


def test_documents_are_compared_where_they_are_images_alone() -> None:
    column, words = images([PHOTOGRAPHS[0], smaller("astronaut.png")], of="own"), texts(["a", "b"], of="own")
    alone = Mixed(names=("d0", "d1"), image=column, image_at=np.arange(2))
    queries = Mixed(names=("q",), text=words, text_at=np.array([0]))
    relevant = tuple(np.array([0]) for _ in range(3))
    data = Retrieval(queries=queries, documents=alone, relevant=relevant)
    assert [each.examples for each in within({"default": data}, hashed([column]))] == [("d1 ~ d0",)]
    with_text = replace(data, documents=replace(alone, text=words, text_at=np.arange(2)))
    assert within({"default": with_text}, hashed([column])) == []


def test_plain_images_are_no_near_copies_of_one_another() -> None:
    """Two reds that differ by two levels, one of them with the noise of its compression, beside a photograph twice."""
    reds = []
    for colour, how in (((200, 10, 10), "PNG"), ((198, 12, 12), "JPEG")):
        out = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(out, how)
        reds.append(out.getvalue())
    part = labelled([*reds, reds[0], PHOTOGRAPHS[1], smaller("coffee.png")], [0] * 5)
    result = hashed([part.items])
    assert (result.total, result.plain, len(result.keys), result.bad) == (4, 2, 2, ())
    assert "of a plain colour, compared by content alone: 2" in images_read(result)
    assert [each.examples for each in within({"default": Clusters(test=part)}, result)] == [("row 5 ~ row 4",)]


def test_an_image_that_cannot_be_read_is_listed() -> None:
    part = labelled([*PHOTOGRAPHS[:2], b"no image"], [0, 1, 1])
    found = hashed([part.items])
    assert len(found.keys) == 2 and found.total == found.drawn == 3
    assert [name for name, _ in found.bad] == ["own, image 2"] and found.bad[0][1]


def test_of_many_images_some_are_drawn_and_the_count_is_told() -> None:
    part = labelled(PHOTOGRAPHS, [0] * 5)
    found = hashed([part.items], most=3)
    assert (len(found.keys), found.drawn, found.total) == (3, 3, 5)
    assert found.names == hashed([part.items], most=3).names
    assert hashed([part.items], most=0).drawn == 5


def test_hashes_are_stored_and_bad_images_are_told_again(tmp_path: Path) -> None:
    reads: list[int] = []
    plain = images([*PHOTOGRAPHS[:2], b"no image"], of="own")

    def read(row: int) -> bytes:
        reads.append(row)
        return plain.read(row)

    column = Column(modality="image", keys=plain.keys, read=read, name=plain.name)
    first = hashed([column], cache=tmp_path)
    assert sorted(reads) == [0, 1, 2]
    again = hashed([column], cache=tmp_path)
    assert sorted(reads) == [0, 1, 2, 2], "only the image without a hash is read again, for its reason"
    np.testing.assert_array_equal(first.hashes, again.hashes)
    np.testing.assert_array_equal(first.colours, again.colours)
    assert first.bad == again.bad


@pytest.fixture(scope="module")
def drawn() -> Column:
    """The images of the shipped task on photographs."""
    data = tasks.load(shipped().task("mini/photographs"), source=Source(offline=True))
    return tasks.every_column(data)[0]


def test_copies_of_benchmark_items(drawn: Column, tmp_path: Path) -> None:
    """Its 10th image as it is, its 20th recompressed, and a photograph that it has in no form."""
    with Image.open(io.BytesIO(drawn.read(20))) as stored:
        out = io.BytesIO()
        stored.convert("RGB").save(out, "JPEG", quality=80)
    own = images([drawn.read(10), out.getvalue(), file("retina.jpg")], of="own")
    catalog = shipped()
    few = replace(
        catalog,
        tasks=tuple(task for task in catalog.tasks if task.key in ("mini/photographs", "mieb/cifar10", "mieb/mnist")),
    )
    found = overlap([own], hashed([own]), catalog=few, source=Source(root=tmp_path, offline=True), roots=())
    (shared,) = found.shared
    assert (shared.title, shared.tasks) == ("Mini (synthetic)", ("mini/photographs",))
    assert (shared.same, shared.same_examples) == (1, ("own, image 0 in mini/photographs",))
    assert shared.near == 1 and shared.near_examples[0].startswith("own, image 1 ~ ")
    assert found.whole == ["mini/photographs"] and not found.sampled and not found.by_items
    assert found.missing == {"MIEB": 2}


def test_a_drawn_task_is_drawn_for_the_first_comparison_only(
    drawn: Column, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Image.open(io.BytesIO(drawn.read(20))) as stored:
        out = io.BytesIO()
        stored.convert("RGB").save(out, "JPEG", quality=80)
    own = images([drawn.read(10), out.getvalue()], of="own")
    catalog = shipped()
    few = replace(catalog, tasks=(catalog.task("mini/photographs"),))
    source = Source.keeping(tmp_path, root=None, offline=True)
    first = overlap([own], hashed([own]), catalog=few, source=source, roots=())
    loads: list[str] = []
    load = tasks.load
    monkeypatch.setattr(tasks, "load", lambda task, *, source: loads.append(task.key) or load(task, source=source))
    assert overlap([own], hashed([own]), catalog=few, source=source, roots=()) == first and loads == []
    assert (first.shared[0].same, first.shared[0].near, first.sampled) == (1, 1, [])
    sampled = overlap([own], hashed([own]), catalog=few, source=source, roots=(), most=5)
    assert sampled.sampled == ["mini/photographs"] and loads == ["mini/photographs"]
    monkeypatch.setattr(mini, "GENERATOR_VERSION", mini.GENERATOR_VERSION + 1)
    overlap([own], hashed([own]), catalog=few, source=source, roots=())
    assert loads == ["mini/photographs"] * 2, "another drawing is not what was stored"


def test_a_content_that_several_tasks_have_counts_once(drawn: Column, tmp_path: Path) -> None:
    catalog = shipped()
    twice = catalog.task("mini/photographs")
    few = replace(catalog, tasks=(twice, replace(twice, key="mini/again")))
    own = images([drawn.read(10)], of="own")
    with pytest.MonkeyPatch.context() as patch:
        data = tasks.load(twice, source=Source(offline=True))
        patch.setattr(tasks, "load", lambda task, *, source: data)
        patch.setattr(tasks, "computable", lambda task: True)
        patch.setattr(tasks, "needs", lambda task, *, source: SimpleNamespace(present=True, repo="org/name"))
        found = overlap([own], hashed([own]), catalog=few, source=Source(root=tmp_path, offline=True), roots=())
    assert found.whole == ["mini/photographs", "mini/again"]
    assert [(each.same, each.tasks) for each in found.shared] == [(1, ("mini/photographs",))]


def test_unlike_drawings_are_no_near_copies() -> None:
    """The hash alone takes most single shapes on a plain ground for one another."""
    data = tasks.load(shipped().task("mini/things"), source=Source(offline=True))["default"]
    first = hashed([data.test.items])
    by_hash = sum(near_copies.near(one, first.hashes[:at]).any() for at, one in enumerate(first.hashes) if at)
    found = within({"default": data}, first)
    assert by_hash > 30 and sum(each.count for each in found) < by_hash / 4


def test_of_data_that_is_elsewhere_the_items_of_its_runs_are_compared(drawn: Column, tmp_path: Path) -> None:
    """A run of a benchmark whose data is not here names the images of its items by content key."""
    import pandas as pd

    from compute.engine import run_folders
    from compute.types import Run, Score

    catalog = shipped()
    few = replace(catalog, tasks=(catalog.task("mieb/cifar10"),))
    own = images(PHOTOGRAPHS[:2], of="own")
    detail = run_folders.detail({"images": [own.keys[1].decode()], "texts": []})
    items = pd.DataFrame([{"item": "0", "subset": "default", "detail": detail}])
    run = Run(id="r", model="tiny", task="mieb/cifar10", fingerprint="f", origin="computed")
    score = Score(run="r", subset="default", metric="accuracy", value=1.0, n=1)
    run_folders.write(tmp_path / "results", run=run, scores=[score], items=items)
    found = overlap(
        [own],
        hashed([own]),
        catalog=few,
        source=Source(root=tmp_path, offline=True),
        roots=(tmp_path / "results",),
    )
    assert found.by_items == ["mieb/cifar10"] and not found.whole and not found.missing
    assert [(each.same, each.same_examples, each.near) for each in found.shared] == [
        (1, ("own, image 1 in mieb/cifar10",), 0)
    ]


def test_short_texts_coincide_and_are_not_compared(tmp_path: Path) -> None:
    catalog = shipped()
    task = catalog.task("mini/images-by-text")
    words = next(c for c in tasks.every_column(tasks.load(task, source=Source(offline=True))) if c.modality == "text")
    lengths = [len(words.read(row)) for row in range(len(words))]
    short, long = int(np.argmin(lengths)), int(np.argmax(lengths))
    assert lengths[short] < 40 <= lengths[long]
    own = texts([words.read(short), words.read(long)], of="own")
    found = overlap(
        [own], hashed([]), catalog=replace(catalog, tasks=(task,)), source=Source(root=tmp_path, offline=True), roots=()
    )
    assert [(each.same, each.same_examples) for each in found.shared] == [(1, ("own, text 1 in mini/images-by-text",))]
