"""The host's own models beside the catalogue's: listed first, asked as others, and no path of the machine is told."""

import json
from dataclasses import replace

import pytest

from compute.live.pool import CHANGED
from compute.live.roster import OWN_FIRST
from leaderboard.host import own_models
from leaderboard.live.live import MOST_MODELS, Live
from tests.compute.models import checkpoints

CAT, FACE = ({"kind": "example", "key": key} for key in ("cat", "cat-face"))
TOKENS = ("vocab.json", "merges.txt", "tokenizer_config.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the models lie; its name has what no path that ends at a space has."""
    folder = tmp_path_factory.mktemp("own") / "models of mine (x), all"
    checkpoints.clip(folder / "both towers")
    images = checkpoints.clip(folder / "images", seed=1)
    for name in TOKENS:
        (images / name).unlink()
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    texts = [str(folder / "both towers"), str(folder / "images")]
    return own_models.record(texts, results=folder.parent / "results", offline=True, report=lambda line: None)


@pytest.fixture(scope="module")
def live(rows):
    return Live(own=rows)


def listed(live, *kinds):
    return live.roster.plan(kinds=list(kinds))["models"]


def ask(live, *inputs, models, mode="pair"):
    payload = {"session": "0123456789abcdef-0123", "inputs": list(inputs), "mode": mode, "models": list(models)}
    question, chosen = live.read(payload)
    return list(live.answers(question, chosen, cache={}))


def test_a_few_of_many_are_ticked_and_a_question_takes_no_more_than_it_may(rows, monkeypatch):
    live = Live(own=[replace(rows[0], key=f"own/{at}", title=f"Mine {9 - at} (own)") for at in range(8)])
    models = listed(live, "image", "image")[:8]
    assert all(model["own"] and model["title"].endswith("(own)") for model in models), "before the catalogue's"
    assert [model["key"] for model in models] == [f"own/{at}" for at in range(8)], "as the host named them"
    assert [model["default"] for model in models] == [True] * OWN_FIRST + [False] * (8 - OWN_FIRST)
    monkeypatch.setattr("compute.live.roster.OWN_FIRST", 20)
    assert len(live.pair([("example", "cat"), ("example", "cat-face")], [])[1]) == MOST_MODELS


def test_no_page_tells_where_they_lie(rows, folder):
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
