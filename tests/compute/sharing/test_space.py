"""What a Space gets: the checkout's own files, and a card that names every model with weights on the Hub."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import SpaceCard

from compute import paths
from compute.catalog import shipped
from compute.types import BadInput, NotHere
from tests.compute.commands import assert_refused, command, done
from tests.compute.tasks.files import put

README = paths.ROOT / "README.md"
space = command("publish space")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A small one; `secret` and the tests are not the app's."""
    files = {"README.md": README.read_text(), "app.py": "", "assets/a.csv": "a", "tests/test_a.py": "", "secret": "s"}
    root = put(tmp_path / "checkout", files)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "README.md", "app.py", "assets", "tests"], cwd=root, check=True)
    monkeypatch.setattr(paths, "ROOT", root)
    return root


def test_its_card_names_all_models_and_the_repositorys_stays(checkout, tmp_path):
    made = done(space(f"--to {tmp_path}/space"))
    written = sorted(path.relative_to(tmp_path / "space").as_posix() for path in (tmp_path / "space").rglob("*.*"))
    assert written == ["README.md", "app.py", "assets/a.csv"]
    before, after = SpaceCard.load(checkout / "README.md"), SpaceCard.load(tmp_path / "space" / "README.md")
    models = after.data.pop("models")
    assert before.data.pop("models") == ["laion/CLIP-ViT-B-32-laion2B-s34B-b79K"]
    assert after.data.to_dict() == before.data.to_dict() and after.text.strip() == before.text.strip()
    of_catalogue = {model.weights for model in shipped().models}
    assert len(models) == len({*models}) > 200 and f"names {len(models)} models" in made.stdout
    assert {"openai/clip-vit-base-patch32", "google/siglip-base-patch16-256"} <= {*models}
    assert {*models} - of_catalogue  # of the shipped results alone
    assert not any(model.startswith(("assets/", "package:")) for model in models)


def test_it_is_one_upload_to_a_space_that_exists(checkout, monkeypatch):
    sent = {}

    def upload_folder(*, folder_path, **given):
        sent.update(given, files=sorted(path.name for path in Path(folder_path).iterdir()))

    monkeypatch.setattr("huggingface_hub.HfApi", lambda: SimpleNamespace(upload_folder=upload_folder))
    made = done(space("--repo me/likeness"))
    assert (sent["repo_id"], sent["repo_type"], sent["files"]) == (
        "me/likeness",
        "space",
        ["README.md", "app.py", "assets"],
    )
    assert made.stdout.splitlines()[-1] == "https://huggingface.co/spaces/me/likeness"


def test_it_needs_a_destination_and_a_checkout(checkout, tmp_path, monkeypatch):
    assert_refused(space(), BadInput, "--repo USER/NAME")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert_refused(space(f"--to {tmp_path}/space"), NotHere, "clone")
