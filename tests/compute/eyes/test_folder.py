"""A study's folder keeps every answer, and is own data that a run reads."""

import io

import numpy as np
import pytest
from PIL import Image

from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import Judgment, Study
from compute.tasks.own import reading
from compute.types import BadInput, CannotWrite, NotHere

NAMES = ("a, b.png", 'sub/"c"\n d.png', "é ü#%?.jpg", "sub/cat.png")


def drawn(path, *, side=40, seed=0, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (side // 2, side, len(mode)), dtype=np.uint8)
    Image.fromarray(pixels, mode).save(path)


def answer(order, question, choice=0, **other):
    given = {"time": "2026-01-01T00:00:00Z", "order": order, "question": question, "draw": "uniform", "left": 0}
    return Judgment(**given, choice=choice, **other)


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(NAMES):
        drawn(tmp_path / "images" / name, seed=seed)
    made = StudyFolder.created(tmp_path / "eyes", EyesSettings(source=str(tmp_path / "images"), seed=3))
    made.save(Study(kind="image", contents=list(NAMES), questions=[(0, 1, 2), (3, 1, 0), (2, 3, 0)]))
    return made


def closed(folder):
    folder.lock.close()
    return folder.path


def test_answers_survive_a_killed_process(folder):
    folder.add(answer(0, 0))
    folder.add(answer(1, 1, 1))
    path = closed(folder)
    with open(path / "judgments.jsonl", "ab") as file:
        file.write(b'{"time": "2026')
    again = StudyFolder.opened(path)
    with pytest.raises(CannotWrite, match="another process"):
        StudyFolder.opened(path)
    assert [each.choice for each in again.judgments()] == [0, 1]
    again.add(answer(2, 2, None))
    closed(again)
    last = StudyFolder.opened(path, writes=False)
    assert [each.order for each in last.judgments()] == [0, 1, 2]
    assert (last.study, last.settings) == (folder.study, folder.settings)


def test_the_folder_is_own_data(folder, tmp_path):
    folder.add(answer(0, 0), answer(1, 1, 1), answer(2, 2, None), answer(3, 0, 1, undone=True))
    folder.add(answer(0, 0, 1, rater="Ann"), answer(1, 1, 1, rater="Ann"))
    (tmp_path / "images").rename(tmp_path / "elsewhere")
    data = reading.read(folder.path)
    assert (data.shape.key, data.problems, data.rows, data.facts.n_items) == ("votes", (), 2, 1)
    items = data.facts.items()
    assert items.answer.tolist() == [1] and items.reference.modality == "image"


def test_images_are_those_of_the_source_and_bounded(folder, tmp_path):
    materials = folder.materials()
    assert set(materials.images) == set(NAMES)
    assert materials.images[NAMES[0]]().content.size == (40, 20)
    drawn(tmp_path / "images/large.png", side=2000)
    drawn(tmp_path / "images/clear.png", mode="RGBA")
    assert folder.image(NAMES[0]) == (tmp_path / "images" / NAMES[0]).read_bytes()
    sizes = {name: Image.open(io.BytesIO(folder.image(name))).size for name in ("large.png", "clear.png")}
    assert sizes == {"large.png": (1600, 800), "clear.png": (40, 20)}
    for name in ("../settings.json", "/etc/hostname", "missing.png"):
        with pytest.raises(NotHere):
            folder.image(name)


def test_what_is_not_a_study_is_refused(folder, tmp_path):
    with pytest.raises(NotHere, match="likeness eyes"):
        StudyFolder.opened(tmp_path)
    with pytest.raises(BadInput, match="exists"):
        StudyFolder.created(folder.path, folder.settings)
    with pytest.raises(BadInput, match="question"):
        folder.add(answer(0, 7))
    with pytest.raises(BadInput, match="other questions"):
        folder.save(Study(kind="image", contents=list(NAMES), questions=[(0, 1, 3)]))
