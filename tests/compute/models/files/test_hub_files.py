"""Files of the hub: sizes beforehand, how far a download is, and what is said when it fails."""

import random
from dataclasses import replace

import pytest

from compute import models
from compute.catalog import shipped
from compute.models.files import weights
from compute.models.files.weights import RequiredFiles
from compute.types import NotHere
from tests.compute.models import model_hub
from tests.leaderboard.hub import point_at

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")
WANTED = models.required_files(ROW)
WEIGHTS, CONFIG = "open_clip_model.safetensors", "open_clip_config.json"
CONTENT = random.Random(1).randbytes(1_500_000)
SECRET = "hf_never_to_be_seen"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub with the row's checkpoint, files by name only, and an empty cache."""
    folder = tmp_path / "published"
    folder.mkdir()
    for name, content in {
        CONFIG: b"{}",
        "tokenizer.json": b"[]",
        "README.md": b"words",
        WEIGHTS: CONTENT,
        "open_clip_pytorch_model.bin": CONTENT,
    }.items():
        (folder / name).write_bytes(content)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", SECRET)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100_000)
    with model_hub.serving() as hub:
        hub.publish(ROW.weights, folder, commit=ROW.revision)
        point_at(hub, monkeypatch)
        yield hub


def fetched(**more):
    weights.fetch(ROW, weights.list_files(ROW, required=WANTED), **more)


def test_the_hub_says_the_sizes_and_nothing_is_fetched_for_them(hub):
    files = weights.list_files(ROW, required=WANTED)
    sizes = [(file.rfilename, file.size) for file in files]
    assert sizes == [(CONFIG, 2), ("tokenizer.json", 2), (WEIGHTS, 1_500_000)]
    assert weights.missing_bytes(ROW, files) == 1_500_004
    assert [line for line in hub.asked if "resolve" in line or "store" in line] == []


def test_it_comes_whole_and_is_what_the_hubs_own_client_would_have_fetched(hub):
    counts = []
    fetched(progress=counts.append)
    assert counts == sorted(counts) and counts[-1] == 1_500_004 and len(counts) > 4
    assert models.is_downloaded(ROW)
    folder = models.fetch(ROW)
    assert (folder / WEIGHTS).read_bytes() == CONTENT and (folder / CONFIG).read_bytes() == b"{}"
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS, "tokenizer.json"]
    assert f"Bearer {SECRET}" in hub.tokens["hub"] and hub.tokens["store"] == {""}


def test_of_a_stopped_download_nothing_stays_but_whole_files(hub):
    def stop(here):
        if here > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetched(progress=stop)
    assert not models.is_downloaded(ROW) and not list(weights.cache_home(ROW).rglob("*.incomplete"))
    files = weights.list_files(ROW, required=WANTED)
    assert weights.missing_bytes(ROW, files) == 1_500_000
    counts = []
    fetched(progress=counts.append)
    assert (counts[0], counts[-1]) == (4, 1_500_004) and models.is_downloaded(ROW)


def test_what_is_missing_is_named(hub, tmp_path, monkeypatch):
    with pytest.raises(NotHere, match="0000000"):
        weights.list_files(replace(ROW, revision="0" * 40), required=WANTED)
    with pytest.raises(NotHere, match=r"model\.safetensors"):
        weights.list_files(ROW, required=RequiredFiles(weights=weights.WEIGHTS))
    hub.status = 404
    with pytest.raises(NotHere, match="owners") as raised:
        weights.list_files(ROW, required=WANTED)
    assert str(tmp_path) not in str(raised.value) and "http" not in str(raised.value)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NotHere, match="reached"):
        weights.list_files(ROW, required=WANTED)
