"""Where checkpoints are found: an own folder, the hub's cache, a download; and what is said when they are not."""

import os
import time

import pytest
from huggingface_hub import constants

from compute.models.files import weights
from compute.models.files.weights import CONFIG, TOKENIZER, WEIGHTS, RequiredFiles
from compute.types import BadInput, NotHere
from tests.compute.models import model_hub
from tests.compute.models.checkpoints import COMMIT, in_hub_cache, row
from tests.leaderboard.hub import point_at

READS = RequiredFiles(weights=WEIGHTS, needs=(CONFIG, TOKENIZER))


@pytest.fixture
def folder(tmp_path):
    """Files by name only: what they hold does not matter here."""
    made = tmp_path / "own"
    made.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin", "README.md"):
        (made / name).write_text(name)
    return made


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty hub cache and no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "cache"


def test_one_format_of_weights_and_all_small_files_are_wanted():
    small = ["config.json", "vocab.txt"]
    there = [*small, "flax_model.msgpack", "pytorch_model.bin", "README.md", "onnx/model.onnx", "modeling_own.py"]
    assert sorted(READS.names([*there, "model.safetensors"])) == ["config.json", "model.safetensors", "vocab.txt"]
    assert sorted(READS.names(there)) == ["config.json", "pytorch_model.bin", "vocab.txt"]


def test_every_part_of_a_split_checkpoint_is_needed():
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    assert READS.missing(["config.json", "vocab.txt", first]) == [second]
    assert READS.missing(["config.json", "vocab.txt", first, second]) == []


def test_an_own_folder_is_taken_as_it_is(folder, tmp_path, monkeypatch):
    assert weights.local_folder(row(folder, "clip"), required=READS) == folder
    with monkeypatch.context() as patch:
        patch.setattr(weights, "ROOT", tmp_path)
        assert weights.local_folder(row("own", "clip"), required=READS) == folder
    (folder / "config.json").unlink()
    with pytest.raises(NotHere, match="config"):
        weights.local_folder(row(folder, "clip"), required=READS)
    with pytest.raises(NotHere, match="there is no folder"):
        weights.local_folder(row(tmp_path / "nowhere", "clip"), required=READS)
    with pytest.raises(BadInput, match="has no weights"):
        weights.local_folder(row("", "clip"), required=READS)


def test_the_digest_of_an_own_folder_follows_what_is_read(folder):
    own = row(folder, "clip")
    first = weights.revision(own, required=READS)
    assert first.startswith("files-")
    (folder / "README.md").write_text("another")
    (folder / "pytorch_model.bin").write_text("another")  # the safetensors are read, not this
    assert weights.revision(own, required=READS) == first
    moved = folder.rename(folder.parent / "elsewhere")
    assert weights.revision(row(moved, "clip"), required=READS) == first
    later = time.time_ns() + 10**9
    (moved / "model.safetensors").write_text("model.safetensorz")  # the same size
    os.utime(moved / "model.safetensors", ns=(later, later))
    assert weights.revision(row(moved, "clip"), required=READS) != first


def test_the_hubs_cache_without_network(folder, cache):
    snapshot = in_hub_cache(folder, cache=cache, repository="some/model")
    for revision in ("", "main", COMMIT):
        named = row("some/model", "clip", revision=revision)
        assert weights.local_folder(named, required=READS) == snapshot
        assert weights.revision(named, required=READS) == COMMIT
    with pytest.raises(NotHere, match="v2"):
        weights.local_folder(row("some/model", "clip", revision="v2"), required=READS)
    assert weights.revision(row("some/model", "clip", revision="v2"), required=READS) == "v2"
    assert weights.revision(row("some/other", "clip"), required=READS) == ""


def test_what_is_missing_is_named_with_the_command_that_fetches_it(folder, cache):
    with pytest.raises(NotHere) as caught:
        weights.local_folder(row("some/model", "clip", revision=COMMIT), required=READS)
    said = str(caught.value)
    for part in ("tokenizer.json or vocab.txt", "model.safetensors", f"hf download some/model --revision {COMMIT}"):
        assert part in said
    snapshot = in_hub_cache(folder, cache=cache, repository="some/model")
    assert weights.local_folder(row("some/model", "clip"), required=READS) == snapshot
    (cache / "models--some--model" / "blobs" / f"{1:040x}").unlink()  # a link to nowhere, as a cut download leaves it
    with pytest.raises(NotHere, match="hf download"):
        weights.local_folder(row("some/model", "clip"), required=READS)


def test_a_download_asks_for_what_is_needed_only(folder, cache, monkeypatch):
    with model_hub.serving() as hub:
        point_at(hub, monkeypatch)
        hub.publish("some/model", folder, commit=COMMIT)
        named = row("some/model", "clip")
        found = weights.local_folder(named, required=READS)
        assert sorted(file.name for file in found.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
        assert not any("pytorch_model.bin" in line for line in hub.asked)
        (folder / "config.json").unlink()
        hub.publish("some/third", folder, commit=COMMIT)
        with pytest.raises(NotHere, match="config"):
            weights.local_folder(row("some/third", "clip"), required=READS)
