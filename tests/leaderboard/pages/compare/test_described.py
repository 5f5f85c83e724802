"""The head of the page Try counts what can be tried."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from compute.catalog import shipped
from compute.live.examples import COMPARISONS
from compute.live.modes import MODES
from leaderboard.data import model_queries
from leaderboard.pages.compare.described import describe


def test_it_counts_the_models_that_have_code_and_names_the_questions(site: SimpleNamespace) -> None:
    sentence = describe(site, {}).sentence
    able = [model for model in shipped().models if model.adapter and model.kind not in ("generator", "distribution")]
    assert f"Ask {len(able)} models about your own images and texts" in sentence
    assert f"{len(COMPARISONS)} ready comparisons" in sentence
    for kind, words in (("encoder", "encoders"), ("mllm", "vision-language models")):
        assert f"{sum(model.kind == kind for model in able)} {words}" in sentence
    assert all(mode.title.lower() in sentence for mode in MODES.values())
    assert len(sentence) <= 300


@pytest.mark.parametrize("adapter", [None, "", "own"])
def test_a_model_without_code_or_of_a_session_is_not_counted(
    site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, adapter: str | None
) -> None:
    models = model_queries.models(site.db)
    [first, *_] = models.index[(models["kind"] == "encoder") & models["adapter"].eq("clip")]
    [before] = re.findall(r"(\d+) encoders", describe(site, {}).sentence)
    models.loc[first, "adapter"] = adapter
    monkeypatch.setattr(model_queries, "models", lambda db: models)
    assert f"{int(before) - 1} encoders" in describe(site, {}).sentence
