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


def test_that_the_hub_lists_no_such_file_is_noted_for_when_it_is_offline(hub: Hub) -> None:
    assert not hub_files.has_none(ROW, ["vocab.txt"], offline=True)  # nothing is known
    assert hub.asked == []
    assert not hub_files.has_none(ROW, ["vocab.txt", "tokenizer.json"])  # it has one of them
    assert hub_files.has_none(ROW, ["vocab.txt", "vocab.json"])
    assert hub_files.has_none(ROW, ["vocab.txt", "vocab.json"], offline=True)
    hub.status = 503
    assert not hub_files.has_none(ROW, ["merges.txt"])


def test_a_cache_that_cannot_be_written_is_no_error(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **how: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert hub_files.has_none(ROW, ["vocab.txt"])


def test_a_download_that_may_have_broken_off_proves_nothing(hub: Hub) -> None:
    """`.gitattributes` comes among the first: once it made a model read images alone for good."""
    snapshot = weights.cache_home(ROW) / "snapshots" / ROW.revision
    snapshot.mkdir(parents=True)
    (snapshot / ".gitattributes").touch()
    assert not hub_files.has_none(ROW, ["tokenizer.json"], offline=True)
    assert not hub_files.has_none(ROW, ["tokenizer.json"]), "the hub has it"


def test_it_comes_whole_and_is_what_the_hubs_own_client_would_have_fetched(hub: Hub) -> None:
    counts = []
    fetched(progress=counts.append)
    assert counts == sorted(counts) and counts[-1] == 1_500_004 and len(counts) > 4
    assert models.is_downloaded(ROW)
    folder = models.fetch(ROW)
    assert (folder / WEIGHTS).read_bytes() == CONTENT and (folder / CONFIG).read_bytes() == b"{}"
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS, "tokenizer.json"]
    assert not list(weights.cache_home(ROW).rglob("*.incomplete"))
    hub.asked.clear()
    fetched()
    assert hub.fetched == []


def test_the_token_is_shown_to_the_hub_and_to_no_other_host(hub: Hub) -> None:
    fetched()
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


def test_a_hub_that_sends_everything_again_is_taken_at_its_word(hub: Hub) -> None:
    hub.ranges = False
    draft().parent.mkdir(parents=True)
    draft().write_bytes(CONTENT[:400_000])
    fetched()
    assert (models.fetch(ROW) / WEIGHTS).read_bytes() == CONTENT


def test_a_connection_that_breaks_off_again_and_again_is_given_up(hub: Hub) -> None:
    files = hub_files.list_files(ROW, required=WANTED)
    hub.cuts = 100
    with pytest.raises(
        NotHere,
        match=f"^The connection broke off while {WEIGHTS} of {ROW.weights} was coming .* What "
        "has come is kept: try again later$",
    ):
        hub_files.fetch(ROW, files)
    assert len(hub.fetched) == hub_files.ATTEMPTS + 1  # the first brought half of it
    assert draft().stat().st_size > 400_000


@pytest.mark.parametrize("begun", [b"", b"x" * 300_000, b"x" * 2_000_000])
def test_other_bytes_than_the_hub_states_are_thrown_away(hub: Hub, begun: bytes) -> None:
    hub.repositories[ROW.weights].tampered = set() if begun else {WEIGHTS}
    draft().parent.mkdir(parents=True)
    draft().write_bytes(begun)
    with pytest.raises(NotHere, match=f"{WEIGHTS} of {ROW.weights} arrived damaged"):
        fetched()
    assert not draft().exists() and not models.is_downloaded(ROW)


def test_a_file_that_does_not_end_does_not_fill_the_disk(hub: Hub) -> None:
    hub.repositories[ROW.weights].sizes = {WEIGHTS: 700_000}
    with pytest.raises(NotHere, match="arrived damaged"):
        fetched()
    assert hub.sent < 1_500_000 or not draft().exists()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, f"^The hub has no {ROW.weights}, or shows it to its owners only$"),
        (403, f"^The hub answers 403 for {ROW.weights} at 08f7355. Try again later$"),
    ],
)
def test_what_the_hub_refuses_is_a_sentence(hub: Hub, tmp_path: Path, status: int, said: str) -> None:
    files = hub_files.list_files(ROW, required=WANTED)
    hub.status = status
    for attempt in (lambda: hub_files.list_files(ROW, required=WANTED), lambda: hub_files.fetch(ROW, files)):
        with pytest.raises(NotHere, match=said) as raised:
            attempt()
        assert str(tmp_path) not in str(raised.value) and "http" not in str(raised.value)


def test_a_commit_or_a_file_that_the_hub_has_not_is_named(hub: Hub) -> None:
    with pytest.raises(NotHere, match=f"{ROW.weights} has no commit 0000000 on the hub"):
        hub_files.list_files(replace(ROW, revision="0" * 40), required=WANTED)
    with pytest.raises(NotHere, match="has no model.safetensors or model-"):
        hub_files.list_files(ROW, required=RequiredFiles(weights=weights.WEIGHTS))


def test_without_a_hub_that_is_said(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    files = hub_files.list_files(ROW, required=WANTED)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NotHere, match=f"^The hub cannot be reached for {ROW.weights} \\(ConnectError\\). Try again"):
        hub_files.list_files(ROW, required=WANTED)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.address)
    draft().parent.mkdir(parents=True)
    draft().mkdir()  # nothing can be written there
    with pytest.raises(NotHere, match=f"^{ROW.weights} could not be written: Is a directory$"):
        hub_files.fetch(ROW, files)
