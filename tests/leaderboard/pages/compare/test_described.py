"""The head of the page Try counts what can be tried."""

from __future__ import annotations

from types import SimpleNamespace

from compute.catalog import shipped
from compute.live.examples import COMPARISONS
from compute.live.modes import MODES
from leaderboard.pages.compare.described import describe


def test_it_counts_the_models_that_have_code_and_names_the_questions(site: SimpleNamespace) -> None:
    sentence = describe(site, {}).sentence
    able = [model for model in shipped().models if model.adapter and model.kind not in ("generator", "distribution")]
    assert f"Ask up to {len(able)} models" in sentence and f"{len(COMPARISONS)} ready comparisons" in sentence
    for kind, words in (("encoder", "encoders"), ("mllm", "vision-language models")):
        assert f"{sum(model.kind == kind for model in able)} {words}" in sentence
    assert all(mode.title.lower() in sentence for mode in MODES.values())
    assert len(sentence) <= 300
