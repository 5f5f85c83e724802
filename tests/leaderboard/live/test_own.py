"""The host's own models beside the catalogue's: listed first, asked as others, and no path of the machine is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compute.live.pool import CHANGED
from compute.live.questions import Answer
from compute.live.roster import OWN_FIRST
from compute.types import Model
from leaderboard.host import own_models
from leaderboard.live.live import MOST_MODELS, Live
from leaderboard.pages.try_it import answers
from tests.compute.models import checkpoints

CAT, FACE = ({"kind": "example", "key": key} for key in ("cat", "cat-face"))
WORDS = {"kind": "text", "text": "a cat"}
TOKENS = ("vocab.json", "merges.txt", "tokenizer_config.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the models lie; its name has what no path that ends at a space has."""
    folder = tmp_path_factory.mktemp("own") / "models of mine (x), all"
    checkpoints.clip(folder / "both towers")
    images = checkpoints.clip(folder / "images", seed=1)
    for name in TOKENS:
        (images / name).unlink()
    return folder


@pytest.fixture(scope="module")
def rows(folder: Path) -> tuple[Model, ...]:
    texts = [str(folder / "both towers"), str(folder / "images")]
    return own_models.record(texts, results=folder.parent / "results", offline=True, report=lambda line: None)


@pytest.fixture(scope="module")
def live(rows: tuple[Model, ...]) -> Live:
    return Live(own=rows)


def listed(live: Live, *kinds: str) -> list[dict]:
    return live.roster.plan(kinds=list(kinds))["models"]


def ask(live: Live, *inputs: dict, models: tuple[str, ...], mode: str = "pair") -> list[Answer]:
    payload = {"session": "0123456789abcdef-0123", "inputs": list(inputs), "mode": mode, "models": list(models)}
    question, chosen = live.read(payload)
    return list(live.answers(question, chosen, cache={}))


def test_they_are_listed_first_and_ticked(live: Live) -> None:
    models = listed(live, "image", "image")
    assert [model["key"] for model in models[:2]] == ["own/both-towers", "own/images"]
    assert all(model["own"] and model["default"] and model["title"].endswith("(own)") for model in models[:2])
    assert not any(model["own"] for model in models[2:]) and models[2]["default"]
    assert [model["key"] for model in listed(live, "text", "text") if model["own"]] == ["own/both-towers"]


def test_a_few_of_many_are_ticked_and_a_question_takes_no_more_than_it_may(
    rows: tuple[Model, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(own=[replace(rows[0], key=f"own/{at}", title=f"Mine {9 - at}") for at in range(8)])
    models = [model for model in listed(live, "image", "image") if model["own"]]
    assert [model["key"] for model in models] == [f"own/{at}" for at in range(8)], "as the host named them"
    assert [model["default"] for model in models] == [True] * OWN_FIRST + [False] * (8 - OWN_FIRST)
    monkeypatch.setattr("compute.live.roster.OWN_FIRST", 20)
    assert len(live.pair([("example", "cat"), ("example", "cat-face")], [])[1]) == MOST_MODELS


def test_they_answer_as_others_do(live: Live) -> None:
    keys = ("own/both-towers", "own/images", "tiny")
    for answer in ask(live, CAT, FACE, models=keys):
        assert answer.problem == "" and answer.controls[1] == 8, "it is not calibrated"
    assert [answer.problem for answer in ask(live, CAT, WORDS, models=("own/both-towers",))] == [""]
    assert "compares no image with text" in ask(live, CAT, WORDS, models=("own/images",))[0].problem.lower()
    for answer in ask(live, CAT, FACE, CAT, models=keys, mode="odd"):
        assert answer.problem == "" and answer.pick == 1


def test_the_answers_mark_them(live: Live, rows: tuple[Model, ...]) -> None:
    question, chosen = live.read(
        {"session": "", "inputs": [CAT, FACE], "mode": "pair", "models": ["own/images", "tiny"]}
    )
    answered = list(live.answers(question, chosen, cache={}))
    markup = answers.result(question, answered, pending=(), records={})
    assert markup.count("The host&#39;s own model") == 1
    assert 'href="model?model=own/images"' in markup and "No percentile: it is not calibrated" in markup
    tuned = [replace(answered[0], row=replace(chosen[0], trained_on=(answers.DRAWINGS,))), answered[1]]
    markup = answers.result(question, tuned, pending=(), records={})
    assert markup.count("Understands only drawn scenes") == 2, "tiny itself is one"


def test_no_page_tells_where_they_lie(rows: tuple[Model, ...], folder: Path) -> None:
    """Not of a folder that is gone, nor of files that cannot be read once the app runs."""
    live = Live(own=rows)
    weights = folder / "images" / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:100])
    (damaged,) = ask(live, CAT, FACE, models=("own/images",))
    assert damaged.problem == CHANGED
    weights.unlink()
    (ready,) = [row for row in rows if row.key == "own/images"]
    live.roster._checked[ready.key] = (live._clock() + 60, live.roster.availability(rows[0]))  # it was seen before
    (gone,) = ask(live, CAT, FACE, models=("own/images",))
    live.roster.forget(ready)
    plan = json.dumps(live.roster.plan(kinds=["image", "image"]))
    assert "Its files are no longer on this machine" in plan
    weights.write_bytes(content)
    assert gone.problem == CHANGED
    for text in (damaged.problem, gone.problem, plan):
        assert "models of mine" not in text and "both towers/" not in text and str(folder.parent) not in text
