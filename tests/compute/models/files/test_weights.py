"""Where checkpoints are found: an own folder, the hub's cache, a download; and what is said when they are not."""

import os
import random
import time
from dataclasses import replace

import pytest
from huggingface_hub import constants

from compute import models
from compute.catalog import shipped
from compute.models.files import weights
from compute.models.files.weights import CONFIG, TOKENIZER, WEIGHTS, RequiredFiles
from compute.types import BadInput, NotHere
from tests.compute.models import model_hub
from tests.compute.models.checkpoints import COMMIT, in_hub_cache, row
from tests.compute.tasks.files import put
from tests.leaderboard.hub import point_at

READS = RequiredFiles(weights=WEIGHTS, needs=(CONFIG, TOKENIZER))


@pytest.fixture
def folder(tmp_path):
    """Files by name only: what they hold does not matter here."""
    names = ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin", "README.md")
    return put(tmp_path / "own", {name: name for name in names})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty hub cache and no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "cache"


def found(named, **more):
    return weights.local_folder(row(named, "clip", **more), required=READS)


def revision(named, **more):
    return weights.revision(row(named, "clip", **more), required=READS)


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
    assert found(folder) == folder
    with monkeypatch.context() as patch:
        patch.setattr(weights, "ROOT", tmp_path)
        assert found("own") == folder
    (folder / "config.json").unlink()
    with pytest.raises(NotHere, match="config"):
        found(folder)
    with pytest.raises(NotHere, match="there is no folder"):
        found(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="has no weights"):
        found("")


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(NotHere, match="no-such-words"):
        found("package:no-such-words")
    assert not weights.is_downloaded(row("package:no-such-words", "clip"), required=READS)


def test_the_digest_of_an_own_folder_follows_what_is_read(folder):
    first = revision(folder)
    assert first.startswith("files-")
    (folder / "README.md").write_text("another")
    (folder / "pytorch_model.bin").write_text("another")  # the safetensors are read, not this
    assert revision(folder) == first
    moved = folder.rename(folder.parent / "elsewhere")
    assert revision(moved) == first
    later = time.time_ns() + 10**9
    (moved / "model.safetensors").write_text("model.safetensorz")  # the same size
    os.utime(moved / "model.safetensors", ns=(later, later))
    assert revision(moved) != first


def test_the_hubs_cache_without_network(folder, cache):
    snapshot = in_hub_cache(folder, cache=cache, repository="some/model")
    for named in ("", "main", COMMIT):
        assert found("some/model", revision=named) == snapshot and revision("some/model", revision=named) == COMMIT
    with pytest.raises(NotHere, match="v2"):
        found("some/model", revision="v2")
    assert revision("some/model", revision="v2") == "v2"
    assert revision("some/other") == ""


def test_what_is_missing_is_named_with_the_command_that_fetches_it(folder, cache):
    with pytest.raises(NotHere) as caught:
        found("some/model", revision=COMMIT)
    said = str(caught.value)
    for part in ("tokenizer.json or vocab.txt", "model.safetensors", f"hf download some/model --revision {COMMIT}"):
        assert part in said
    snapshot = in_hub_cache(folder, cache=cache, repository="some/model")
    assert found("some/model") == snapshot
    (cache / "models--some--model" / "blobs" / f"{1:040x}").unlink()  # a link to nowhere, as a cut download leaves it
    with pytest.raises(NotHere, match="hf download"):
        found("some/model")


def test_a_download_asks_for_what_is_needed_only(folder, cache, monkeypatch):
    with model_hub.serving() as hub:
        point_at(hub, monkeypatch)
        hub.publish("some/model", folder, commit=COMMIT)
        names = sorted(file.name for file in found("some/model").iterdir())
        assert names == ["config.json", "model.safetensors", "tokenizer.json"]
        assert not any("pytorch_model.bin" in line for line in hub.asked)
        (folder / "config.json").unlink()
        hub.publish("some/third", folder, commit=COMMIT)
        with pytest.raises(NotHere, match="config"):
            found("some/third")


ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")
WANTED = models.required_files(ROW)
STORED, STATED = "open_clip_model.safetensors", "open_clip_config.json"
CONTENT = random.Random(1).randbytes(1_500_000)
SECRET = "hf_never_to_be_seen"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub with the row's checkpoint, files by name only, and an empty cache."""
    small = {STATED: "{}", "tokenizer.json": "[]", "README.md": "words"}
    folder = put(tmp_path / "published", {**small, STORED: CONTENT, "open_clip_pytorch_model.bin": CONTENT})
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    with model_hub.serving() as hub:
        hub.publish(ROW.weights, folder, commit=ROW.revision)
        point_at(hub, monkeypatch)
        yield hub


def listed(row=ROW, required=WANTED):
    return weights.list_files(row, required=required)


def fetched(progress):
    weights.fetch(ROW, listed(), progress=progress)


def test_it_comes_whole_and_is_what_the_hubs_own_client_would_have_fetched(hub):
    counts = []
    fetched(counts.append)
    assert counts == sorted(counts) and counts[-1] == 1_500_004 and len(counts) > 4
    assert models.is_downloaded(ROW)
    folder = models.fetch(ROW)
    assert (folder / STORED).read_bytes() == CONTENT and (folder / STATED).read_bytes() == b"{}"
    assert sorted(path.name for path in folder.iterdir()) == [STATED, STORED, "tokenizer.json"]
    assert f"Bearer {SECRET}" in hub.tokens["hub"] and hub.tokens["store"] == {""}


def test_of_a_stopped_download_nothing_stays_but_whole_files(hub):
    def stop(here):
        if here > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetched(stop)
    assert not models.is_downloaded(ROW) and not list(weights.cache_home(ROW).rglob("*.incomplete"))
    assert weights.missing_bytes(ROW, listed()) == 1_500_000
    counts = []
    fetched(counts.append)
    assert (counts[0], counts[-1]) == (4, 1_500_004) and models.is_downloaded(ROW)


def test_what_is_missing_is_named(hub, tmp_path, monkeypatch):
    with pytest.raises(NotHere, match="0000000"):
        listed(replace(ROW, revision="0" * 40))
    with pytest.raises(NotHere, match=r"model\.safetensors"):
        listed(required=RequiredFiles(weights=WEIGHTS))
    hub.status = 404
    with pytest.raises(NotHere, match="owners") as raised:
        listed()
    assert str(tmp_path) not in str(raised.value) and "http" not in str(raised.value)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NotHere, match="reached"):
        listed()
