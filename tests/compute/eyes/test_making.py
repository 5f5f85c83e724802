"""Studies are made of images: what is skipped and said so, and that models pick as they do in a run."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image

import compute
from compute.content.items import content_key
from compute.eyes.making import QUESTIONS, SIDE, Materials, answered, drawn, finished
from compute.eyes.study import LONGEST_TEXT, MOST_NOTES, NO_PICK
from compute.live import inputs
from compute.live.inputs import Input
from compute.live.pool import Pool
from compute.types import BadInput
from tests.compute.live.subjects import ROWS, loaded
from tests.compute.small_bench import EYE, MODELS
from tests.compute.tasks.own.drawn import pictures, write

GAUGE = next(row for row in MODELS if row.adapter == "gauge")


class Eye:
    """Embeds an image as its coarse colours, and any text as red. Fails at images as wide as `refuses`."""

    def __init__(self, refuses=0):
        self.refuses, self.embedded = refuses, 0

    def prepare(self, modality, item):
        if modality == "text":
            return np.array([1.0, 0, 0])
        if item.width == self.refuses:
            raise ValueError("a width that it refuses")
        assert max(item.size) <= SIDE
        return np.asarray(item.resize((1, 1)), np.float32).ravel()

    def embed(self, modality, prepared):
        self.embedded += len(prepared)
        return np.stack(prepared).astype(np.float32)


class Gauge:
    """All images are equal to it."""

    def compare(self, first, second):
        return [0.0] * len(second)


def noise(seed, width=48):
    small = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, 36), Image.Resampling.BICUBIC)


def as_input(image, name):
    return lambda: Input(modality="image", key=content_key(name.encode() + image.tobytes()), name=name, content=image)


def images(count):
    return {f"{at}.png": as_input(noise(at), f"{at}.png") for at in range(count)}


def made(kind, images, *models, seed=0, **more):
    """Of an Eye, without other models."""
    models, given = models or ((EYE, Eye()),), Materials(kind=kind, images=images, **more)
    pool = Pool(load=lambda row: {row.key: model for row, model in models}[row.key], size=lambda row: 1)
    before, after = [], []
    bare = finished(drawn(given, seed=seed), before.append)
    study = finished(answered(bare, given.images, [row for row, _ in models], pool.run), after.append)
    assert (bare.key, bare.chance, bare.picks) == (study.key, [], {}) and len(study.chance) == len(study.questions)
    for steps in (before, after):
        shares = [step[0] for step in steps]
        assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    return study


def named(study):
    return [tuple(study.contents[at] if at >= 0 else "" for at in question) for question in study.questions]


def test_questions_are_drawn_by_the_seed_and_each_image_is_embedded_once():
    eye, twelve = Eye(), images(12)
    study = made("image", twelve, (EYE, eye), (GAUGE, Gauge()), seed=1)
    assert eye.embedded == 12 and len(study.questions) == len(set(study.questions)) == QUESTIONS
    assert all(len({*question}) == 3 and question[1] < question[2] for question in study.questions)
    assert set(study.picks[EYE.key]) == {0, 1} and set(study.picks[GAUGE.key]) == {NO_PICK}
    assert study.models == {EYE.key: "Eye", GAUGE.key: "Gauge"} and set(study.chance) == {0}
    assert made("image", twelve, (EYE, Eye()), (GAUGE, Gauge()), seed=1) == study
    assert made("image", twelve, seed=2).questions != study.questions


def test_alternatives_are_near_by_colours_or_structure():
    """At random, three in four questions on two tints have an alternative of the reference's tint."""
    tints = [(tint, Image.new("RGB", (48, 36), tint)) for tint in ("red", "blue")]
    given = {
        f"{tint}{at}": as_input(Image.blend(noise(at), plain, 0.8), f"{tint}{at}")
        for tint, plain in tints
        for at in range(30)
    }
    assert np.mean([start[0] in one[0] + other[0] for start, one, other in named(made("image", given))]) > 0.82


@pytest.mark.parametrize(
    "kind, prompts, starts, count",
    [("text", ["red", "a red thing"], {"red", "a red thing"}, 2 * 6), ("quality", [], {""}, 6)],
)
def test_questions_on_texts_and_on_quality(kind, prompts, starts, count):
    asked = named(made(kind, images(4), prompts=prompts))
    assert {start for start, *_ in asked} == starts and len(asked) == count


def test_copies_are_skipped_and_named():
    """An equal file, a smaller copy, and a copy of that copy name the image that stays; large images are reduced."""
    first, plain = noise(0, width=900), Image.new("RGB", (40, 40), "gray")
    given = images(5) | {"plain.png": as_input(plain, "plain")}
    given |= {name: as_input(first, "0.png") for name in ("0.png", "equal.png")}
    given |= {f"{side}.png": as_input(first.resize((side, 20)), f"{side}") for side in (300, 200)}
    study = made("image", given)
    assert set(study.contents) == {*images(5), "plain.png"}
    assert [(note.split()[0], note.split()[-1]) for note in study.notes] == [
        (name, "0.png") for name in ("equal.png", "300.png", "200.png")
    ]
    assert {"300.png", "200.png"} < set(kept := made("quality", given).contents) and "equal.png" not in kept


def test_what_cannot_be_read_is_skipped():
    broken = {f"broken {at}.png": partial(inputs.image, b"nothing", name="a file") for at in range(MOST_NOTES + 20)}
    first = made("image", {"broken 1.png": broken["broken 1.png"]} | images(3), notes=["from before"])
    assert first.notes[0] == "from before" and first.notes[1].startswith("broken 1") and len(first.contents) == 3
    notes = made("image", broken | images(3)).notes
    assert len(notes) == MOST_NOTES and "21" in notes[-1]


@pytest.mark.parametrize(
    "kind, count, more, what",
    [
        ("image", 2, {}, "too few"),
        ("quality", 1, {}, "too few"),
        ("text", 3, {}, "prompt"),
        ("text", 3, {"prompts": ["a" * (LONGEST_TEXT + 1)]}, "prompt"),
        ("text", 3, {"prompts": ["a", ""]}, "prompt"),
        ("quality", 2, {"questions": [("", "0.png", "gone.png")]}, "images"),
    ],
)
def test_too_little_is_refused(kind, count, more, what):
    with pytest.raises(BadInput, match=what):
        made(kind, images(count), **more)


def test_given_questions_keep_their_order_their_copies_and_count_what_is_missing():
    same = noise(1)
    given = images(3) | {"1 again.png": as_input(same, "1.png"), "1 small.png": as_input(same.resize((24, 18)), "s")}
    questions = [("0.png", "2.png", "1.png"), ("0.png", "1.png", "gone.png"), ("1 again.png", "1 small.png", "0.png")]
    study = made("image", given, questions=questions)
    assert named(study) == [questions[0], questions[2]] and study.picks[EYE.key][1] == 0
    assert [note[:2] for note in study.notes] == ["1 "]


def test_a_model_that_fails_is_skipped_and_its_own_reason_is_given():
    """The other models are asked all the same, as is one that fails for a reason that it does not give."""
    given = images(4) | {"wide.png": as_input(noise(9, width=77), "wide.png")}
    second, third = (replace(EYE, key=key, title=key) for key in ("second", "third"))
    study = made("image", given, (EYE, Eye(refuses=77)), (second, Eye()), (third, object()))
    assert list(study.models) == ["second"] and set(study.chance) == {0}
    for note, words in zip(study.notes, (("Eye ", "a width that it refuses"), ("third ", "log")), strict=True):
        assert note.startswith(words[0]) and words[1] in note


@pytest.mark.parametrize("kind, keys", [("image", ["tiny", "ssim"]), ("text", ["tiny"])])
def test_models_pick_as_they_do_in_a_run_on_the_same_files(tmp_path, kind, keys):
    """Reference: compute.evaluate, where the first alternative is right."""
    given = {
        name: lambda name=name: inputs.image((tmp_path / name).read_bytes(), name=name)
        for name in pictures(tmp_path, 8)
    }
    models = [(ROWS[key], loaded(key)) for key in ("tiny", "ssim")]
    study = made(kind, given, *models, prompts=["a red circle", "something blue"], seed=3)
    assert list(study.models) == keys and len(study.notes) == 2 - len(keys)
    rows = [[*question, 1] for question in named(study)[:60]]
    data = write(tmp_path / "data.csv", ("reference", "alternative_1", "alternative_2", "answer"), rows)
    for key in keys:
        run = compute.evaluate(key, data=data, results=tmp_path / "results", progress=False)
        right = run.items(*run.runs)["correct"].tolist()
        assert [NO_PICK if mark is None else int(not mark) for mark in right] == study.picks[key][:60]
