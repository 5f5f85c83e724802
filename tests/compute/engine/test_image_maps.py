"""Maps of a task's images: which images with which labels, and what the file holds."""

import json

import numpy as np
import pytest

from compute.analysis.maps import images as item_map
from compute.content import items
from compute.database import store
from compute.engine import image_maps
from compute.tasks.data import Choices, Clusters, Labelled, Matches, Mixed, OddOneOut, Retrieval, Sentences
from tests.compute.small_bench import MODELS, TASKS, data, square


def pictures(*shades):
    return items.images([square((shade, 0, 0)) for shade in shades], of="pictures")


ONE, FIRST, TEXT = np.ones(1), np.zeros(1, int), items.texts(["x"], of="texts")
KINDS = Labelled(names=tuple("abcd"), items=pictures(1, 2, 1, 3), labels=np.array([0, 1, 1, 0]), classes=("cat", "dog"))
QUERIES = Mixed(names=("q",), text=TEXT, text_at=FIRST)
DOCUMENTS = Mixed(names=("d",), image=pictures(1), image_at=FIRST)


def labels_of(part):
    column, labels, _ = image_maps.labelled({"default": part})
    return dict(zip((key.decode() for key in column.keys.tolist()), labels.tolist(), strict=True))


@pytest.mark.parametrize(
    ("part", "labels"),
    [
        (Clusters(test=KINDS), {1: "cat", 2: "dog", 3: "cat"}),  # an image counts once
        (
            Choices(
                names=("a", "b"),
                reference=pictures(9, 8),
                alternatives=(pictures(1, 2), pictures(3, 4)),
                answer=np.array([0, 1]),
            ),
            {9: "reference", 8: "reference"}
            | {1: "right alternative", 2: "wrong alternative", 3: "wrong alternative", 4: "right alternative"},
        ),
        (
            OddOneOut(names=("a",), members=(pictures(1), pictures(2)), odd=FIRST),
            {1: "odd one", 2: "one of the others"},
        ),
        (Sentences(names=("a",), first=pictures(1), second=pictures(2), human=ONE), {1: "first", 2: "second"}),
        (Matches(names=("a",), images=(pictures(1), pictures(2)), captions=(TEXT,)), {1: "image 1", 2: "image 2"}),
        (Retrieval(queries=QUERIES, documents=DOCUMENTS, relevant=(FIRST, FIRST, ONE)), {1: "document"}),
    ],
)
def test_an_image_has_its_class_or_its_part_in_the_question(part, labels):
    assert labels_of(part) == {pictures(shade).keys[0].decode(): label for shade, label in labels.items()}


def test_a_map_is_one_file_with_pictures_and_settings(world, monkeypatch):
    """Places are the first two numbers of an embedding: UMAP itself is tested with the analysis."""

    def placed(*, vectors, **settings):
        return np.asarray(vectors, float)[:, :2], {**settings, "trust_neighbors": 3, "trustworthiness": 0.5}

    monkeypatch.setattr(item_map, "project_items", placed)
    made = image_maps.make(TASKS[0], MODELS[0], bench=world.bench(results=world.folder), images=20, seed=7)
    assert (made.settings["images"], made.settings["of"], made.labels) == (20, 36, 3)
    assert "20 of 36 images, by lot; 3 labels" in image_maps.lines(made)
    frame = store.read_parquet(made.path)
    assert set(frame["task"]) == {"unisim/near"} and set(frame["model"]) == {"small/eye"}
    every = labels_of(data(TASKS[0]))
    assert {key: every[key] for key in frame["image"]} == dict(zip(frame["image"], frame["label"], strict=True))
    settings = json.loads(frame["settings"].iloc[0])
    assert settings.items() >= {"images": 20, "of": 36, "seed": 7}.items()
    assert bytes(frame["webp"].iloc[0])[8:12] == b"WEBP"
    before = world.encoded
    image_maps.make(TASKS[0], MODELS[0], bench=world.bench(results=world.folder), images=20, seed=7)
    assert world.encoded == before == 20, "stored embeddings are used again"


def test_maps_made_here_come_before_shipped_ones(tmp_path):
    ours, shipped, other = (
        image_maps.path(tmp_path / root, task=task, model="m/x")
        for root, task in (("here", "b/t"), ("shipped", "b/t"), ("shipped", "b/u"))
    )
    for path in (ours, shipped, other):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [*image_maps.files(tmp_path / "here", tmp_path / "shipped").values()] == [ours, other]
