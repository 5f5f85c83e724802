"""Which files of a folder count as images: the same for data of one's own, sets to compare and sources of pairs."""

import pytest

from compute.tasks import image_lists, image_sets, own
from compute.tasks.image_lists import ImageFiles, image_files
from compute.tasks.source import Source
from tests.compute.tasks import files
from tests.compute.tasks.hub_files import image, png

IMAGES = [
    f"{kind}/{at}" for kind in ("blue ball/more", "red ball") for at in ("0.png", "1.JFIF", "2.Jpe", "3", "4.avif")
]
OTHERS = [f"green ball/{name}" for name in ("IMG_0.HEIC", "IMG_1.HEIC", "IMG_2.HEIC", "LICENSE")]


def put(folder, *names):
    """Small PNG images, whatever their names say."""
    return files.put(folder, {name: png(image(at, size=(32, 32))) for at, name in enumerate(names)})


@pytest.fixture
def folder(tmp_path):
    """Two classes whose files end in many ways, and one that nothing can read."""
    files.put(tmp_path, dict.fromkeys(OTHERS, b"ftypheic" * 9))
    return put(tmp_path, *IMAGES, ".hidden.png", "Thumbs.db", ".cache/0.png")


def test_images_are_told_by_their_ends_or_by_their_content(folder):
    assert image_files(folder) == ImageFiles(names=tuple(IMAGES), unused=tuple(OTHERS))


def test_every_reader_of_a_folder_says_what_it_does_not_use(folder):
    data = own.read(folder)
    assert data.facts.counts == "10 images of 2 classes"
    generated = image_sets.opened("mine", folder, source=Source(), spool=folder)
    pairs = image_lists.opened(folder)
    assert len(generated) == len(pairs.names) == 10
    for notes in (data.notes, generated.warnings, pairs.notes):
        assert "4 files are not used" in notes[0] and "green ball/IMG_0.HEIC" in notes[0] and "1 more" in notes[0]


def test_images_of_a_split_in_no_class_are_said(tmp_path):
    data = own.read(put(tmp_path, "train/a/0.png", "train/b/1.png", "test/a/2.png", "test/b/3.png", "test/4.png"))
    assert data.facts.counts.startswith("2 images of 2 classes") and "test/4.png" in data.notes[0]
