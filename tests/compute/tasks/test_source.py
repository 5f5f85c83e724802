"""Where a data set's files are, what a run's fingerprint says of them, and what is fetched of a large one."""

import os

import huggingface_hub
import numpy as np
import pytest

from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks import mieb, parquet
from compute.tasks.mieb import rows
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from tests.compute.tasks import hub_files
from tests.compute.tasks.files import put
from tests.compute.tasks.hub_files import snapshot

COMMIT = "c" * 40
CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
  - split: test
    path: data/test-*
---
"""


@pytest.fixture
def local(tmp_path):
    return put(tmp_path, {"made/pictures/one.csv": "1"})


def test_a_local_folder_is_told_by_its_files(local):
    """Another size, another time or one more file is another state; reading changes nothing."""
    file = local / "made/pictures/one.csv"

    def state(revision=""):
        return Source(root=local).state("made/pictures", revision=revision)

    states = [state(revision="a" * 40)]
    assert state() == states[0]
    file.write_text("12")
    states.append(state())
    os.utime(file, ns=(1, 1))
    states.append(state())
    (local / "made/pictures/two.csv").write_text("1")
    states.append(state())
    assert len(set(states)) == 4 and all(state.startswith("local ") for state in states)


def test_a_branch_is_told_by_its_commit_and_a_pin_by_itself(monkeypatch, tmp_path):
    def snapshot_download(repo, **given):
        assert given["local_files_only"] or given["allow_patterns"] == ["README.md"]
        if repo == "made/gone":
            raise OSError("no network")
        return str(tmp_path / "snapshots" / COMMIT)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert Source().state("made/pictures", revision="") == f"commit {COMMIT}"
    assert Source().state("made/pictures", revision="a" * 40) == ""
    assert Source().state("made/gone", revision="") == ""
    with pytest.raises(NotHere, match="hf download made/gone"):
        Source().folder("made/gone", revision="", files=("README.md",))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_only_the_splits_that_are_read_are_fetched(monkeypatch, tmp_path):
    """The card first, then the files it lists for the split; all where the card lists none."""
    asked = []

    def snapshot_download(repo, **given):
        asked.append(given["allow_patterns"])
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    row = rows.row(next(task for task in shipped().tasks if task.key == "mieb/dtd"))
    row.where(Source(), "test")
    (tmp_path / "README.md").write_text(CARD)
    row.where(Source(), "test")
    row.where(Source(), "test", "nowhere")
    row.where(Source())
    assert asked == [["README.md"], None, ["README.md"], ["README.md", "data/test-*"], ["README.md"], None, None]


def test_a_data_set_is_here_when_what_its_procedure_reads_is(cache):
    """A probe reads two splits, zero-shot classification one; a card alone is no data set."""
    by_key = {task.key: task for task in shipped().tasks}
    row = rows.row(by_key["mieb/dtd"])

    def present():
        return [
            mieb.needs(by_key[key], source=Source(offline=True)).present for key in ("mieb/dtd", "mieb/dtdzeroshot")
        ]

    assert present() == [False, False]
    snapshot(cache, row.repo, row.revision, {"README.md": CARD})
    assert present() == [False, False]
    snapshot(cache, row.repo, row.revision, {"data/test-00000.parquet": "x"})
    assert present() == [False, True]
    folder = snapshot(cache, row.repo, row.revision, {"data/train-00000.parquet": "x"})
    assert present() == [True, True] and row.where(Source(offline=True), "train") == (folder, row.repo)


def pictures(count):
    """An image, and a list of two."""
    made = [hub_files.image(at) for at in range(2 * count)]
    return hub_files.table({"image": made[:count], "images": [[made[at], made[count + at]] for at in range(count)]})


def opened(folder, split="test"):
    return parquet.table(folder, repo="org/set", split=split)


@pytest.mark.parametrize("card", [True, False])
def test_images_of_all_shards_in_order_with_their_bytes_and_keys(tmp_path, card):
    tables = {"test": pictures(5), "train": pictures(2)}
    hub_files.write(tmp_path, tables, card=card, shards=2)
    table = opened(tmp_path)
    column = table.images("image")
    assert len(table) == len(column) == 5
    for at in (4, 0, 3):
        data = hub_files.png(hub_files.image(at))
        assert column.read(at) == data
        assert column.keys[at] == content_key(data)
    assert column.name(3) == "org/set test, image 3"
    first, second = table.image_columns("images")
    assert first.keys[1] == column.keys[1] and second.read(0) == hub_files.png(hub_files.image(5))
    assert parquet.splits(tmp_path) == ("test", "train")


def test_keys_are_read_from_files_once_and_anew_when_a_file_changes(tmp_path):
    data, cache = tmp_path / "data", tmp_path / "cache"
    hub_files.write(data, {"test": pictures(3)})
    first = opened(data).images("image", cache=cache).keys
    kept = list(cache.rglob("*.npy"))
    assert len(kept) == 1
    marked = np.load(kept[0])
    marked[0] = b"from the cache"
    np.save(kept[0], marked)
    assert opened(data).images("image", cache=cache).keys[0] == b"from the cache"
    hub_files.write(data, {"test": pictures(4)})
    anew = opened(data).images("image", cache=cache).keys
    assert anew[:3].tolist() == first.tolist()
    assert len(anew) == 4


def test_what_is_missing_or_half_fetched_is_named(tmp_path):
    hub_files.write(tmp_path, {"test": pictures(3)})
    with pytest.raises(NotHere, match="'dev'"):
        opened(tmp_path, "dev")
    with pytest.raises(BadInput, match="'img'"):
        opened(tmp_path).images("img")
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="half-fetched"):
        len(opened(tmp_path))
