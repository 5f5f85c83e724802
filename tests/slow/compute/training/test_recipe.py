"""The bundled model: its lessons, losses and tokenizer, a run that is stopped and taken up."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, CLIPModel

from assets.tiny.recipe import lessons, losses, train
from compute.types import BadInput
from tests.serving import begun

SHORT = train.TrainingPlan(steps=4, images=16, warm_up=2, dtype="float32", threads=1)


@pytest.fixture
def quick(monkeypatch):
    """Few words; training sets the number of threads of the process."""
    monkeypatch.setattr(train, "SCENES", 50)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_lesson_says_what_holds():
    """True captions hold and false ones do not; the batch is a function of seed and step."""
    lesson, again = (lessons.lesson(seed=3, step=5, images=32) for _ in range(2))
    assert (lesson.images == again.images).all() and lesson.texts == again.texts
    rows = np.arange(32)
    own = [lesson.true[rows, lessons.TEXTS * rows + place] for place in range(lessons.TEXTS)]
    assert own[0].all() and own[1].all() and not own[2].any()
    assert lesson.families == 4 and lesson.named.shape == (32, len(lessons.NAMED)) and lesson.named.any(axis=1).all()
    assert lesson.texts != lessons.lesson(seed=3, step=6, images=32).texts
    assert len(lesson.answers) == lessons.ANSWERS * len(lesson.asked) > 0 and lesson.images[lesson.asked].any()


def test_contrast_is_the_cross_entropy_without_other_truths():
    """Against a loop in numpy that writes out each softmax over the pairs that are left."""
    rng = np.random.default_rng(0)
    n, scale = 5, 4.0
    images, texts = (
        x / np.linalg.norm(x, axis=1, keepdims=True) for x in (rng.normal(size=(n, 6)), rng.normal(size=(n * 3, 6)))
    )
    true = rng.random((n, n * 3)) < 0.3
    true[np.arange(n)[:, None], 3 * np.arange(n)[:, None] + np.arange(3)] = [True, True, False]
    logits, total = scale * images @ texts.T, 0.0
    for which in range(2):
        for i in range(n):
            own = 3 * i + which
            row = [logits[i, j] for j in range(n * 3) if j == own or not true[i, j]]
            column = [logits[k, own] for k in range(n) if k == i or not true[k, own]]
            total += sum(np.log(np.exp(part).sum()) - logits[i, own] for part in (row, column)) / n / 4
    found = losses.contrast(*map(torch.from_numpy, (images, texts, true)), torch.tensor(scale))
    assert float(found) == pytest.approx(total, rel=1e-9)


def test_words_are_single_tokens_and_anything_can_be_written(tmp_path):
    count = train.write(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) == count
    assert all(len(tokenizer(word)["input_ids"]) == 3 for word in train.words())
    for text in ("A red star left of a blue ring.", "Zebra, quäx 12! 日本", "x"):
        ids = tokenizer(text)["input_ids"]
        assert ids[0] == count - 2 and ids.index(count - 1) == len(ids) - 1
        assert tokenizer.decode(ids[1:-1]).replace(" ", "") == text.lower().replace(" ", "")


def test_a_stopped_run_goes_on_to_the_same_weights(quick, tmp_path):
    """Two steps, then the rest, against all at once; and a state is not taken up by another plan."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    averages, _ = train.train(whole, plan=SHORT, every=2)
    with pytest.MonkeyPatch.context() as patch:

        def stop(*_):
            raise KeyboardInterrupt

        patch.setattr(train.log, "info", stop)  # after the state is stored
        with pytest.raises(KeyboardInterrupt):
            train.train(parts, plan=SHORT, every=2)
    with pytest.raises(BadInput, match="plan"):
        train.train(parts, plan=replace(SHORT, seed=1), every=2)
    train.train(parts, plan=SHORT, every=2)
    assert (parts / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert averages["contrast"] > 0 and not (whole / train.CHECKPOINT).exists()


def test_the_recipe_runs_from_a_checkout(tmp_path):
    made = begun("-m", "assets.tiny.recipe.train", "--to", tmp_path / "new", "--steps", "1", "--seed", "4")
    assert "contrast " in made.communicate()[0] and made.returncode == 0
    assert CLIPModel.from_pretrained(tmp_path / "new").config.projection_dim == train.DIMENSION
