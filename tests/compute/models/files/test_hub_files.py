"""Files of the hub: sizes beforehand, downloads that go on where they broke off, and what is said when they do not."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from compute import models
from compute.catalog import shipped
from compute.models.files import hub_files, weights
from compute.models.files.hub_files import HubFile
from compute.models.files.weights import RequiredFiles
from compute.types import NotHere
from tests.compute.models import model_hub
from tests.compute.models.model_hub import Hub
from tests.leaderboard.hub import point_at

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")
WANTED = models.required_files(ROW)
WEIGHTS, CONFIG = "open_clip_model.safetensors", "open_clip_config.json"
CONTENT = random.Random(1).randbytes(1_500_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SECRET = "hf_never_to_be_seen"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the row's checkpoint, files by name only, and an empty cache."""
    folder = tmp_path / "published"
    folder.mkdir()
    for name, content in {
        CONFIG: b"{}",
        "tokenizer.json": b"{}",
        "README.md": b"words",
        WEIGHTS: CONTENT,
        "open_clip_pytorch_model.bin": CONTENT,
    }.items():
        (folder / name).write_bytes(content)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", SECRET)
    monkeypatch.setattr(hub_files, "PAUSE", 0.0)
    with model_hub.serving() as hub:
        hub.publish(ROW.weights, folder, commit=ROW.revision)
        point_at(hub, monkeypatch)
        yield hub


def draft() -> Path:
    return weights.cache_home(ROW) / "blobs" / f"{SHA256}.incomplete"


def fetched(**more: object) -> None:
    hub_files.fetch(ROW, hub_files.list_files(ROW, required=WANTED), **more)


def test_the_hub_says_the_sizes_and_nothing_is_fetched_for_them(hub: Hub) -> None:
    files = hub_files.list_files(ROW, required=WANTED)
    assert files == (
        HubFile(name=CONFIG, size=2),
        HubFile(name="tokenizer.json", size=2),
        HubFile(name=WEIGHTS, size=1_500_000, sha256=SHA256),
    )
    assert hub_files.missing_bytes(ROW, files) == 1_500_004
    assert [line for line in hub.asked if "resolve" in line or "store" in line] == []


def test_it_comes_whole_and_is_what_the_hubs_own_client_would_have_fetched(hub: Hub) -> None:
    counts = []
    fetched(progress=counts.append)
    assert counts == sorted(counts) and counts[-1] == 1_500_004 and len(counts) > 4
    assert models.is_downloaded(ROW)
    folder = models.fetch(ROW)
    assert (folder / WEIGHTS).read_bytes() == CONTENT and (folder / CONFIG).read_bytes() == b"{}"
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS, "tokenizer.json"]
    assert not list(weights.cache_home(ROW).rglob("*.incomplete"))
    assert f"Bearer {SECRET}" in hub.tokens["hub"] and hub.tokens["store"] == {""}


def test_a_download_that_breaks_off_goes_on_from_there(hub: Hub) -> None:
    hub.cuts = 1
    fetched()
    first, second = hub.fetched
    assert first == "0" and 400_000 < int(second) <= 750_000
    assert (models.fetch(ROW) / WEIGHTS).read_bytes() == CONTENT


def test_what_came_of_a_stopped_download_is_not_asked_for_again(hub: Hub) -> None:
    def stop(here: int) -> None:
        if here > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetched(progress=stop)
    kept = draft().stat().st_size
    assert kept >= 600_000 and not models.is_downloaded(ROW)
    assert hub_files.missing_bytes(ROW, hub_files.list_files(ROW, required=WANTED)) == 1_500_004 - kept
    fetched()
    assert hub.fetched == ["0", str(kept)] and models.is_downloaded(ROW)


def test_a_connection_that_breaks_off_again_and_again_is_given_up(hub: Hub) -> None:
    hub.cuts = 100
    with pytest.raises(NotHere, match="kept"):
        fetched()
    assert draft().stat().st_size > 400_000


def test_other_bytes_than_the_hub_states_are_thrown_away(hub: Hub) -> None:
    hub.repositories[ROW.weights].tampered = {WEIGHTS}
    with pytest.raises(NotHere, match="damaged"):
        fetched()
    assert not draft().exists() and not models.is_downloaded(ROW)


def test_what_the_hub_refuses_is_a_sentence(hub: Hub, tmp_path: Path) -> None:
    hub.status = 404
    with pytest.raises(NotHere, match="owners") as raised:
        hub_files.list_files(ROW, required=WANTED)
    assert str(tmp_path) not in str(raised.value) and "http" not in str(raised.value)


def test_what_is_missing_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotHere, match="0000000"):
        hub_files.list_files(replace(ROW, revision="0" * 40), required=WANTED)
    with pytest.raises(NotHere, match=r"model\.safetensors"):
        hub_files.list_files(ROW, required=RequiredFiles(weights=weights.WEIGHTS))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NotHere, match="reached"):
        hub_files.list_files(ROW, required=WANTED)
