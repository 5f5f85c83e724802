"""Data sets of the hub as one's own: read from its cache at a commit, by columns that are mapped, never from afar."""

import json

import huggingface_hub
import numpy as np
import pytest

from compute.catalog.own import suite_records
from compute.tasks.own import read
from compute.tasks.source import Source
from compute.types import BadInput
from tests.compute.commands import done, likeness
from tests.compute.tasks import hub_files
from tests.compute.tasks.files import lists, put, table
from tests.compute.tasks.hub_files import image, png

COMMIT = "c" * 40


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def publish(hub):
    """Puts tables where the hub's library does."""
    return lambda repo, tables: hub_files.write(hub_files.snapshot(hub, repo, COMMIT, {}), tables)


def labelled(count, *, first=0):
    columns = {"img": [image(first + at) for at in range(count)], "fine": [at % 2 for at in range(count)]}
    return hub_files.table(columns, fine=("cat", "dog"))


def from_cache(name, **options):
    data = read(name, source=Source(offline=True), **options)
    assert data.problems == ()
    return data


def test_a_table_with_train_and_test_is_a_probe(publish):
    publish("made/pets", {"train": labelled(6), "test": labelled(4, first=10)})
    data = from_cache("hub:made/pets", columns={"label": "fine"})
    assert data.shape.key == "probe" and data.hub == f"hub:made/pets@{COMMIT}"
    assert data.facts.counts == "4 images of 2 classes, 6 for training" and data.name == "pets"
    items = data.items()["default"]
    assert items.train.classes == ("cat", "dog") and items.test.labels.tolist() == [0, 1, 0, 1]
    assert items.test.items.read(3) == png(image(13))
    assert from_cache(f"hub:made/pets@{COMMIT}", columns={"label": "fine"}).digest == data.digest

    test = from_cache("hub:made/pets", columns={"label": "fine"}, shape="classification")
    assert test.facts.counts == "4 images of 2 classes" and test.digest != data.digest


def test_configurations_and_splits_are_named(publish):
    publish("made/many", {(config, split): labelled(4) for config in ("a", "b") for split in ("dev", "train")})
    mapped = {"label": "fine"}
    for name, word in (
        ("hub:made/many", "hub:made/many/a"),
        ("hub:made/many/a", "hub:made/many:dev"),
        ("hub:made/many/a:trian", "'train'"),
        ("hub:many", "hub:org/name@revision"),
    ):
        with pytest.raises(BadInput, match=word):
            from_cache(name, columns=mapped)
    assert from_cache("hub:made/many/a:dev", columns=mapped).rows == 4


def test_retrieval_in_three_configurations(publish):
    tables = {
        ("queries", "queries"): {"_id": ["q1", "q2"], "text": ["a", "b"]},
        ("corpus", "corpus"): {"_id": ["d0", "d1", "d2"], "image": [image(at) for at in range(3)]},
        "test": hub_files.qrels([("q1", "d0", 1), ("q2", "d2", 2)]),
    }
    publish("made/finding", tables)
    data = from_cache("hub:made/finding")
    assert data.facts.counts == "2 queries, 3 documents and 2 judgements"
    items = data.items()["default"]
    assert items.documents.image.read(2) == png(image(2))
    assert lists(items.relevant) == [[0, 1], [0, 2], [1, 2]]


def test_a_data_set_of_loose_files_whose_cache_is_of_links(hub):
    rows = "file_name,label\n0.png,a\n1.png,b\n2.png,a\n"
    place = hub_files.snapshot(hub, "made/loose", COMMIT, {"README.md": "", "metadata.csv": rows})
    blobs = place.parent.parent / "blobs"
    for at in range(3):
        put(blobs, {f"sum{at}": png(image(at))})
        (place / f"{at}.png").symlink_to(blobs / f"sum{at}")
    assert from_cache("hub:made/loose").facts.counts == "3 images of 2 classes"


def test_a_manifest_in_a_folder_of_data_sets_shows_no_other_data_set(tmp_path):
    """Only a snapshot of the hub's cache has links to a folder beside it."""
    put(tmp_path, {"other/private/a.png": 1, "made/loose/b.png": 2})
    place = tmp_path / "made" / "loose"
    (place / "link.png").symlink_to(tmp_path / "other" / "private" / "a.png")
    rows = "../../other/private/a.png,a|other/private/a.png,a|link.png,k|b.png,b"
    table(place / "metadata.csv", f"file_name,label|{rows}")
    data = read("hub:made/loose", source=Source(root=tmp_path, offline=True))
    assert [problem.row for problem in data.problems] == [1, 2, 3]
    assert "leads out of the manifest's folder" in data.problems[2].what


def test_a_run_of_it_is_recorded_at_its_commit_and_repeated_by_its_key(publish, tmp_path):
    publish("made/pets", {"test": labelled(6)})
    results = ("--results", str(tmp_path / "results"), "--offline")
    arguments = ("--data", "hub:made/pets", "--columns", "item=img,label=fine", "--models", "tiny")
    done(likeness("run", *arguments, *results))
    record = json.loads((tmp_path / "results" / "suites" / "own-pets.json").read_text())
    [file] = record["data"]
    assert file["file"] == f"hub:made/pets@{COMMIT}" and file["columns"] == {"item": "img", "label": "fine"}
    assert suite_records.recorded(tmp_path / "results")[1] == []
    again = done(likeness("run", "--suite", "own-pets", "--models", "tiny", *results))
    assert "0 runs to make, 1 stored already" in again.stdout
    assert np.load(next((tmp_path / "results" / "keys").glob("*.npy"))).dtype.kind == "S"  # read once
