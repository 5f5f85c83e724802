"""Ready, to be downloaded, or not possible here: each with its reason."""

import shutil
import threading
from dataclasses import replace

import pytest

from compute.live import roster
from compute.live.roster import DOWNLOAD, IMPOSSIBLE, READY, Network, availability
from compute.versions import install_command
from tests.compute.live.subjects import ROWS
from tests.compute.models import checkpoints

CLIP = "laion/clip-vit-b-32-laion2b-s34b-b79k"


def found(key, *, network=False, room=8_000_000_000, **changes):
    return availability(replace(ROWS[key], **changes), network=lambda: network, room=room)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub's, and of torch's."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    return tmp_path


JUDGE = "gpt-4o-2024-11-20"
FREE = ("tiny", "tiny-random", "ssim", "ms-ssim", "psnr", "colour-histogram", "perceptual-hash")


@pytest.mark.parametrize(
    "key, given, state, why",
    [
        *((key, {}, READY, "") for key in FREE),
        (CLIP, {"network": True}, DOWNLOAD, "Will download about 604 MB"),
        (CLIP, {}, IMPOSSIBLE, "Its weights are not on this machine, and there is no network"),
        (CLIP, {"network": True, "room": 500_000_000}, IMPOSSIBLE, "Too large: it takes about 785 MB of memory"),
        (
            CLIP,
            {"network": True, "disk": 1_200_000_000},
            IMPOSSIBLE,
            "Its weights take 604 MB, and the disk has 1.2 GB",
        ),
        (JUDGE, {}, IMPOSSIBLE, "Needs an endpoint: the host sets LIKENESS_ENDPOINT"),
        (JUDGE, {"endpoint": "http://localhost:1/v1"}, READY, ""),
        ("mps", {}, IMPOSSIBLE, "Published scores only: nothing here loads it"),
        ("salesforce/blip-vqa-base", {}, IMPOSSIBLE, "Published scores only. The checkpoint has no projections"),
        ("ssim", {"adapter": "own"}, IMPOSSIBLE, ""),  # an object of a script
    ],
)
def test_a_state_has_its_reason(key, given, state, why, cache, monkeypatch):
    given = {"disk": 10**12, "endpoint": ""} | given
    disk = given.pop("disk")
    monkeypatch.setattr(roster, "free_disk", lambda: disk)
    monkeypatch.setenv("LIKENESS_ENDPOINT", given.pop("endpoint"))
    here = found(key, **given)
    assert here.state == state and here.why.startswith(why)


def test_what_is_in_the_cache_is_ready_when_it_is_whole(cache):
    row = ROWS[CLIP]
    folder = cache / f"models--{row.weights.replace('/', '--')}" / "snapshots" / row.revision
    folder.mkdir(parents=True)
    (folder / "open_clip_config.json").write_bytes(b"0" * 1000)
    stopped = found(CLIP, network=True)
    assert (stopped.state, stopped.why) == (DOWNLOAD, "Will download about 604 MB")  # and not what has come
    (folder / "open_clip_model.safetensors").write_bytes(b"0" * 5000)
    assert found(CLIP).state == READY


def test_a_folder_whose_files_are_gone_is_downloaded_from_nowhere(tmp_path):
    folder = checkpoints.clip(tmp_path / "mine")
    named = {"weights": str(folder), "adapter": "clip", "revision": ""}
    assert found("tiny", network=True, **named).state == READY
    (folder / "model.safetensors").unlink()
    gone = found("tiny", network=True, **named)
    shutil.rmtree(folder)
    assert gone == found("tiny", network=True, **named)
    assert (gone.state, gone.reason, gone.why) == (IMPOSSIBLE, "files", "Its files are no longer on this machine")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(roster.importlib.util, "find_spec", lambda name: None if name == "lpips" else name)
    assert found("lpips-alex").why == f"Needs lpips: {install_command('lpips')}"


@pytest.mark.parametrize("network", [False, True])
def test_every_impossible_row_has_a_reason_with_a_remedy(cache, network):
    remedies = {reason["key"]: reason["remedy"] for reason in roster.REASONS}
    states = [availability(row, network=lambda: network, room=8_000_000_000) for row in ROWS.values()]
    assert all((state.state == IMPOSSIBLE) == bool(state.reason) for state in states)
    assert all(remedies[state.reason].endswith(".") for state in states if state.reason)
    assert any(state.reason == "network" for state in states) is not network


def test_the_network_is_asked_in_the_background(monkeypatch):
    held = threading.Event()

    def slow(*_, **__):
        held.wait(10)
        raise OSError("no route")

    monkeypatch.setattr(roster, "PATIENCE", 0.01)
    monkeypatch.setattr(roster.socket, "create_connection", slow)
    monkeypatch.setattr(roster.endpoint, "is_offline", lambda: False)
    assert Network().reachable() is False  # nobody waits for the answer
    held.set()
