"""Studies are made of images: what is skipped and said so, and that models pick as they do in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import compute
from compute.content.items import content_key
from compute.eyes.making import QUESTIONS, SIDE, Materials, answered, drawn, finished
from compute.eyes.study import LONGEST_TEXT, MOST_NOTES, NO_PICK, Study
from compute.live import inputs
from compute.live.inputs import Input
from compute.live.pool import Pool
from compute.types import BadInput, Model
from tests.compute.live.subjects import ROWS, loaded
from tests.compute.tasks.own.drawn import pictures, write

EYE = Model(
    key="eye", title="Eye", adapter="eye", abilities=("embed_image", "embed_text"), modalities=("image", "text")
)
GAUGE = Model(key="gauge", title="Gauge", kind="metric", adapter="gauge", abilities=("compare",), modalities=("image",))


class Eye:
    """Embeds an image as its coarse colours, and any text as red. Fails at images as wide as `refuses`."""

    def __init__(self, refuses: int = 0) -> None:
        self.refuses, self.embedded = refuses, 0

    def prepare(self, modality: str, item: Any) -> np.ndarray:
        if modality == "text":
            return np.array([1.0, 0, 0])
        if item.width == self.refuses:
            raise ValueError("a width that it refuses")
        assert max(item.size) <= SIDE
        return np.asarray(item.resize((1, 1)), np.float32).ravel()

    def embed(self, modality: str, prepared: Sequence[np.ndarray]) -> np.ndarray:
        self.embedded += len(prepared)
        return np.stack(prepared).astype(np.float32)


class Gauge:
    """All images are equal to it."""

    def compare(self, first: Any, second: Sequence[Any]) -> list[float]:
        return [0.0] * len(second)


def noise(seed: int, width: int = 48) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, 36), Image.Resampling.BICUBIC)


def as_input(image: Image.Image, name: str) -> Callable[[], Input]:
    return lambda: Input(modality="image", key=content_key(name.encode() + image.tobytes()), name=name, content=image)


def images(count: int) -> dict[str, Callable[[], Input]]:
    return {f"{at}.png": as_input(noise(at), f"{at}.png") for at in range(count)}


def made(given: Materials, *models: tuple[Model, Any], seed: int = 0) -> Study:
    of = {row.key: model for row, model in models}

    pool = Pool(load=lambda row: of[row.key], size=lambda row: 1)
    before, after = [], []
    study = finished(drawn(given, seed=seed), before.append)
    study = finished(answered(study, given.images, [row for row, _ in models], pool.run), after.append)
    for steps in (before, after):
        shares = [step.share for step in steps]
        assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    return study


def of_eye(images: Mapping[str, Any], kind: str = "image", *, seed: int = 0, **more: Any) -> Study:
    return made(Materials(kind=kind, images=images, **more), (EYE, Eye()), seed=seed)


def test_questions_are_drawn_by_the_seed_and_each_image_is_embedded_once():
    eye = Eye()
    study = made(Materials(kind="image", images=images(12)), (EYE, eye), (GAUGE, Gauge()), seed=1)
    assert eye.embedded == 12
    assert len(study.questions) == len(set(study.questions)) == QUESTIONS
    assert all(len({*question}) == 3 and question[1] < question[2] for question in study.questions)
    assert set(study.picks["eye"]) == {0, 1} and set(study.picks["gauge"]) == {NO_PICK}
    assert study.models == {"eye": "Eye", "gauge": "Gauge"} and set(study.chance) == {0}
    assert made(Materials(kind="image", images=images(12)), (EYE, Eye()), (GAUGE, Gauge()), seed=1) == study
    assert of_eye(images(12), seed=2).questions != study.questions


def test_questions_on_texts_and_on_quality():
    study = of_eye(images(4), "text", prompts=["red", "a red thing"])
    assert {study.contents[question[0]] for question in study.questions} == {"red", "a red thing"}
    assert len(study.questions) == 2 * 6  # each text, and each two images
    study = of_eye(images(4), "quality")
    assert {question[0] for question in study.questions} == {-1} and len(study.questions) == 6


def test_copies_are_skipped_and_named():
    """An equal file, a smaller copy, and a copy of that copy name the image that stays; large images are reduced."""
    first = noise(0, width=900)
    given = images(5) | {
        "0.png": as_input(first, "0.png"),
        "equal.png": as_input(first, "0.png"),
        "smaller.png": as_input(first.resize((300, 20)), "smaller.png"),
        "smallest.png": as_input(first.resize((200, 20)), "smallest.png"),
    }
    study = of_eye(given)
    assert set(study.contents) == {f"{at}.png" for at in range(5)}
    assert len(study.notes) == 3 and all(note.endswith(" 0.png") for note in study.notes)
    assert [note.split()[0] for note in study.notes] == ["equal.png", "smaller.png", "smallest.png"]
    kept = of_eye(given, "quality")
    assert {"smaller.png", "smallest.png"} < set(kept.contents) and "equal.png" not in kept.contents


def test_what_cannot_be_read_is_skipped():
    broken = {"broken.png": partial(inputs.image, b"\x89PNG\r\n\x1a\nnothing", name="broken.png")}
    study = of_eye(broken | images(3), notes=["from before"])
    assert study.notes[0] == "from before" and study.notes[1].startswith("broken.png")
    assert len(study.contents) == 3
    many = {f"broken {at}.png": partial(inputs.image, b"nothing", name="a file") for at in range(MOST_NOTES + 20)}
    notes = of_eye(many | images(3)).notes
    assert len(notes) == MOST_NOTES and "21" in notes[-1]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (Materials(kind="image", images=images(2)), "too few"),
        (Materials(kind="quality", images=images(1)), "too few"),
        (Materials(kind="text", images=images(3)), "prompt"),
        (Materials(kind="text", images=images(3), prompts=["a" * (LONGEST_TEXT + 1)]), "prompt"),
        (Materials(kind="text", images=images(3), prompts=["a", ""]), "prompt"),
        (Materials(kind="quality", images=images(2), questions=[("", "0.png", "gone.png")]), "images"),
    ],
    ids=["two images", "one image", "no prompt", "a long prompt", "an empty prompt", "no question"],
)
def test_too_little_is_refused(given, what):
    with pytest.raises(BadInput, match=what):
        made(given, (EYE, Eye()))


def test_given_questions_keep_their_order_their_copies_and_count_what_is_missing():
    same = noise(1)
    given = images(3) | {"1 again.png": as_input(same, "1.png"), "1 small.png": as_input(same.resize((24, 18)), "s")}
    questions = [("0.png", "2.png", "1.png"), ("0.png", "1.png", "gone.png"), ("1 again.png", "1 small.png", "0.png")]
    study = of_eye(given, questions=questions)
    named = [tuple(study.contents[at] for at in question) for question in study.questions]
    assert named == [questions[0], questions[2]] and study.picks["eye"][1] == 0
    (note,) = study.notes
    assert note.startswith("1 ")


def test_a_model_that_fails_is_skipped_and_its_own_reason_is_given():
    """The other models are asked all the same, as is one that fails for a reason that it does not give."""
    given = images(4) | {"wide.png": as_input(noise(9, width=77), "wide.png")}
    second, third = (replace(EYE, key=key, title=key) for key in ("second", "third"))
    study = made(Materials(kind="image", images=given), (EYE, Eye(refuses=77)), (second, Eye()), (third, object()))
    assert list(study.models) == ["second"] and set(study.chance) == {0}
    refused, failed = study.notes
    assert refused.startswith("Eye ") and "a width that it refuses" in refused
    assert failed.startswith("third ") and "log" in failed


def test_models_pick_as_they_do_in_a_run_on_the_same_files(tmp_path):
    """Reference: compute.evaluate, where the first alternative is right."""
    names = pictures(tmp_path, 8)
    given = {name: partial(_read, tmp_path / name) for name in names}
    keys = ("tiny", "ssim")
    models = [(ROWS[key], loaded(key)) for key in keys]
    for kind in ("image", "text"):
        study = made(Materials(kind=kind, images=given, prompts=["a red circle", "something blue"]), *models, seed=3)
        asked = [[study.contents[at] for at in question] for question in study.questions[:60]]
        if kind == "text":
            assert list(study.models) == ["tiny"] and len(study.notes) == 1
        data = write(
            tmp_path / f"{kind}.csv",
            ("reference", "alternative_1", "alternative_2", "answer"),
            [[*question, 1] for question in asked],
        )
        for key in study.models:
            run = compute.evaluate(key, data=data, results=tmp_path / "results", progress=False)
            (task,) = run.runs
            right = run.items(task)["correct"].tolist()
            assert [NO_PICK if mark is None else int(not mark) for mark in right] == study.picks[key][:60], (kind, key)


def _read(path: Path) -> Input:
    return inputs.image(path.read_bytes(), name=path.name)
