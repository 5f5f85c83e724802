"""Published files, fetched over file:// into a cache of the test's own."""

import hashlib
import zipfile

import pytest

from compute.models.files.downloads import Published
from compute.types import BadInput, NotHere
from tests.compute.tasks.files import put


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return tmp_path / "torch" / "hub" / "checkpoints"


@pytest.fixture
def published(tmp_path):
    """Puts a file where its address, which this returns, finds it."""
    return lambda name, content: (put(tmp_path / "site", {name: content}) / name).as_uri()


def test_a_file_is_fetched_once_into_torchs_cache(tmp_path, published, cache):
    url = published("head (1).pth", b"weights")
    file = Published(url=url, sha256=hashlib.sha256(b"weights").hexdigest()[:8]).fetch()
    assert (file.parent, file.name, file.read_bytes()) == (cache, "head (1).pth", b"weights")
    (tmp_path / "site" / "head (1).pth").unlink()
    assert Published(url=url).fetch() == file


def test_other_content_than_published_is_refused(published):
    url = published("head.pth", b"something else")
    with pytest.raises(BadInput, match="abcd"):
        Published(url=url, sha256="abcd").fetch()


def test_an_archive_is_unpacked_once_and_whole(tmp_path, published, cache):
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        archive.writestr("inner/a.txt", "a")
    url = published("made.zip", (tmp_path / "made.zip").read_bytes())
    folder = Published(url=url, archive=True).fetch()
    assert (folder / "inner" / "a.txt").read_text() == "a"
    (cache / "made.zip").unlink()
    assert Published(url=url, archive=True).fetch() == folder


def test_a_broken_archive_leaves_nothing_behind(published, cache):
    url = published("made.zip", b"PK, but cut")
    with pytest.raises(BadInput, match="archive"):
        Published(url=url, archive=True).fetch()
    assert [path.name for path in cache.iterdir()] == ["made.zip"]


def test_without_network_the_message_says_what_to_fetch(tmp_path, published, cache, monkeypatch):
    url = (tmp_path / "nowhere.pth").as_uri()
    with pytest.raises(NotHere, match="curl"):
        Published(url=url).fetch()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NotHere, match="head"):
        Published(url=published("head.pth", b"weights")).fetch()
    assert not (cache / "head.pth").exists()
