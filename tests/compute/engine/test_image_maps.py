"""Maps of a task's images: which images with which labels, what the file holds, and what the database takes of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from compute.analysis.maps import images as item_map
from compute.content import items
from compute.database import store
from compute.engine import image_maps
from compute.tasks.data import Clusters, Data, Labelled, Matches, Mixed, Retrieval, Sentences
from tests.compute.small_bench import CATALOG, MODELS, TASKS, World, data, square

EYE = MODELS[0]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Places are the first two numbers of an embedding: UMAP itself is tested with the analysis."""
    monkeypatch.setattr(
        item_map,
        "project_items",
        lambda *, vectors, **settings: item_map.ItemMap(
            xy=np.asarray(vectors, float)[:, :2], trustworthiness=0.5, settings={**settings, "trust_neighbors": 3}
        ),
    )
    return World(folder=tmp_path)


def pictures(*shades: int) -> items.Column:
    return items.images([square((shade, 0, 0)) for shade in shades], of="pictures")


def labels_of(part: Data) -> tuple[dict[str, str], str]:
    column, labels, kind = image_maps.labelled({"default": part})
    return dict(zip((key.decode() for key in column.keys.tolist()), labels.tolist(), strict=True)), kind


def keys(column: items.Column) -> list[str]:
    return [key.decode() for key in column.keys.tolist()]


def test_an_image_has_its_class_and_counts_once():
    column = pictures(1, 2, 1, 3)
    found, kind = labels_of(
        Clusters(
            test=Labelled(names=tuple("abcd"), items=column, labels=np.array([0, 1, 1, 0]), classes=("cat", "dog"))
        )
    )
    first, second, _, third = keys(column)
    assert (found, kind) == ({first: "cat", second: "dog", third: "cat"}, "class")


def test_without_classes_the_part_in_the_question_is_the_label():
    choice = data(TASKS[0])
    found, _ = labels_of(choice)
    for at, (first, second) in enumerate(zip(*(keys(column) for column in choice.alternatives), strict=True)):
        right, wrong = (first, second) if choice.answer[at] == 0 else (second, first)
        assert found[right] == "right alternative" and found[wrong] == "wrong alternative"
    assert {found[key] for key in keys(choice.reference)} == {"reference"}
    one, text, first = np.ones(1), items.texts(["x"], of="texts"), np.zeros(1, int)
    queries = Mixed(names=("q",), text=text, text_at=first)
    documents = Mixed(names=("d",), image=pictures(1), image_at=first)
    for part, labels in (
        (Sentences(names=("a",), first=pictures(1), second=pictures(2), human=one), ["first", "second"]),
        (Matches(names=("a",), images=(pictures(1), pictures(2)), captions=(text,)), ["image 1", "image 2"]),
        (Retrieval(queries=queries, documents=documents, relevant=(first, first, one)), ["document"]),
    ):
        assert list(labels_of(part)[0].values()) == labels


def test_a_map_is_one_file_with_pictures_and_settings(world):
    made = image_maps.make(TASKS[0], EYE, bench=world.bench(results=world.folder), images=20, seed=7)
    assert (made.settings["images"], made.settings["of"], made.labels) == (20, 36, 3)
    frame = store.read_parquet(made.path)
    assert set(frame["task"]) == {"unisim/near"} and set(frame["model"]) == {"small/eye"}
    every = dict(labels_of(data(TASKS[0]))[0])
    assert {key: every[key] for key in frame["image"]} == dict(zip(frame["image"], frame["label"], strict=True))
    settings = json.loads(frame["settings"].iloc[0])
    assert settings.items() >= {"images": 20, "of": 36, "seed": 7}.items()
    assert bytes(frame["webp"].iloc[0])[8:12] == b"WEBP"
    before = world.encoded
    image_maps.make(TASKS[0], EYE, bench=world.bench(results=world.folder), images=20, seed=7)
    assert world.encoded == before == 20, "stored embeddings are used again"


def test_the_database_takes_maps_and_their_pictures_those_made_here_before_shipped_ones(world):
    results, shipped = world.folder / "results", world.folder / "shipped"
    for root, seed in ((results, 1), (shipped, 2)):
        image_maps.make(TASKS[0], EYE, bench=world.bench(results=root), images=9, seed=seed)
    found = image_maps.files(results, shipped)
    assert [path.is_relative_to(results) for path in found.values()] == [True]
    tasks = store.frame(CATALOG.tasks).drop(columns="suites")
    frames = {"benchmarks": store.frame(CATALOG.benchmarks), "models": store.frame(CATALOG.models), "tasks": tasks}
    assert not store.write(world.folder / "made.duckdb", item_maps=found.items(), frames=frames)
    connection = store.connect(world.folder / "made.duckdb")
    ours = store.read_parquet(image_maps.path(results, task="unisim/near", model="small/eye"))
    held = connection.execute("SELECT image, label, x, y FROM item_maps").df()
    shown = set(connection.execute("SELECT image FROM thumbnails WHERE task = 'unisim/near'").df()["image"])
    connection.close()
    assert set(held["image"]) == set(ours["image"]) == shown
