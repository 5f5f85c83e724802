"""What is stored of single prompts: values, the prompt and its pictures' keys, and bounds on the pictures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from compute.engine import run_folders
from compute.engine.generators import prompt_values
from compute.engine.generators.prompt_values import described, pictured, prompt_items


def test_items_hold_what_their_description_says() -> None:
    keys = [np.array([b"a" * 32, b"b" * 32], dtype="S32") for _ in range(2)]
    frame = prompt_items(
        ids=("x", "y"),
        texts=("a cat", "a dog"),
        values={"distance": np.array([1.0, 2.0]), "clipscore": np.array([0.5, np.nan])},
        images=keys,
    )
    table = run_folders.table({"default": frame})
    assert described({"distance": "tiny", "clipscore": "tiny|tiny"}) == {
        "kinds": ["distance", "clipscore"],
        "backbones": ["tiny", "tiny|tiny"],
    }
    assert list(table["value"]) == [1.0, 2.0]
    first, second = (json.loads(text) for text in table["detail"])
    assert first == {"prompt": "a cat", "metrics": ["clipscore"], "scores": [0.5], "images": ["a" * 32] * 2}
    assert second["scores"] == [None]  # a score that is not known is stored as such, never as NaN


def test_without_a_second_kind_or_pictures_the_detail_is_the_prompt() -> None:
    frame = prompt_items(ids=("x",), texts=("a cat",), values={"distance": np.ones(1)})
    assert json.loads(run_folders.table({"default": frame})["detail"][0]) == {"prompt": "a cat"}


def test_pictures_go_to_the_prompts_on_which_generators_differ_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_values, "MOST_PICTURES", 9)  # of two generators and the reference: three prompts
    ids = tuple(f"p{row}" for row in range(10))
    one = np.zeros(10)
    other = np.array([0, 5, 0, 0, 9, 0, 0, 0, 7, 1.0])
    assert np.flatnonzero(pictured(ids, {"distance": [one, other]})).tolist() == [1, 4, 8]


def test_only_prompts_that_a_page_can_open_get_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    count = run_folders.PAGE_ITEMS + 500
    ids = tuple(f"p{row}" for row in range(count))
    rng = np.random.default_rng(0)
    chosen = pictured(ids, {"distance": list(rng.normal(size=(3, count)))})
    assert chosen.sum() == prompt_values.MOST_PICTURES // 4
    assert set(np.array(ids)[chosen]) <= set(run_folders.page_items(list(ids)))
