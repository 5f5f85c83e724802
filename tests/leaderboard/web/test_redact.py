"""No folder of the host reaches a visitor; names, addresses and models' keys do."""

from pathlib import Path

import pytest
from huggingface_hub import constants

from compute.paths import ROOT
from leaderboard.web import redact
from leaderboard.web.redact import redact_paths


@pytest.fixture(autouse=True)
def homes(monkeypatch):
    monkeypatch.setenv("HOME", "/home/a b")
    monkeypatch.setenv("TORCH_HOME", "/data/torch, own")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", "/data/hub of all")


@pytest.mark.parametrize(
    "sentence, told",
    [
        (f"tiny: {ROOT}/assets/tiny cannot be loaded: No such file", "tiny: its folder cannot be loaded: No such file"),
        ("x: /data/hub of all/models--a--b/snapshots/0 does not fit", "x: its folder does not fit"),
        (
            "a/b lacks config.json in the hub's cache /data/hub of all (HF_HOME moves it)",
            "a/b lacks config.json in the hub's cache (HF_HOME moves it)",
        ),
        (
            "Fetch it: curl -L -o /data/torch, own/hub/checkpoints/a.pth https://x.org/b/c/a.pth",
            "Fetch it: curl -L -o a.pth https://x.org/b/c/a.pth",
        ),
        ("[Errno 2] '/home/a b/.cache/x/model.bin'", "[Errno 2] 'model.bin'"),
        ("there is no folder /srv/models/mine.", "there is no folder its folder."),
        ("a/b and/or 3/4 at http://localhost:80/v1/chat: 404", "a/b and/or 3/4 at http://localhost:80/v1/chat: 404"),
    ],
)
def test_paths_go_and_the_rest_stays(sentence, told):
    assert redact_paths(sentence) == told


def test_a_folder_of_the_host_is_hidden_whatever_signs_it_holds(tmp_path):
    folder, link = tmp_path / "of mine (x)" / "my, model", tmp_path / "link"
    folder.mkdir(parents=True)
    link.symlink_to(folder)
    redact.hide([str(link)])
    for path in (folder, link):
        assert redact_paths(f"own/m: {path} has no config.json") == "own/m: its folder has no config.json"
        assert redact_paths(f"{path}/model.safetensors is damaged") == "model.safetensors is damaged"


def test_a_folder_whose_name_begins_alike_is_hidden_too():
    assert redact_paths(f"{ROOT}-old/assets is damaged") == "its folder is damaged"
    assert str(Path.home()) not in redact_paths(f"in {Path.home()}")
