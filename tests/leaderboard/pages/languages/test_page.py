"""What the page of languages says: an answer for each view, no surer than its figures."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from leaderboard.data.language_evidence import LanguageEvidence
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.named_points import NAMES
from leaderboard.pages.languages.page import page
from tests.leaderboard.pages.conftest import NO_OWN
from tests.leaderboard.small_languages import small


@pytest.fixture(scope="session")
def site(papers_cache: SuiteCache) -> SimpleNamespace:
    return SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache, data=None, live=NO_OWN)


def text(markup: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", str(markup))).strip()


@pytest.fixture(scope="module")
def view(site: SimpleNamespace) -> Any:
    def shown(**chosen: str) -> tuple[str, dict, str]:
        values = {"language": "", "model": "", "origin": ""} | chosen
        answer, figure, rest = page(site, site.suite_cache.languages(), **values)
        return text(answer), figure, text(rest)

    return shown


@pytest.fixture(scope="module")
def evidence(site: SimpleNamespace) -> LanguageEvidence:
    return site.suite_cache.languages()


def test_a_language_is_answered_first(view: Any, evidence: LanguageEvidence) -> None:
    answer, figure, rest = view(language="deu")
    ranking = evidence.ranking("deu")
    assert answer.startswith(
        f"Highest for German: {ranking.first.title}, mean {100 * ranking.first.mean:.1f} over 3 scores"
    )
    assert "Whether it is better than the others is not known" in answer
    names = [trace for trace in figure["value"].data if trace.meta == NAMES]
    assert [len(trace.text) for trace in names] == [len(ranking.ranked)] * 4
    assert "1 of 3 scores" in rest and "XM3600T2IRetrieval, de" in rest


def test_what_is_not_proved_is_named(view: Any, evidence: LanguageEvidence) -> None:
    answer, *_ = view(language="jpn")
    level = evidence.ranking("jpn").level
    assert f"It is not proved better than {level[0].title}" in answer
    assert (f"and {len(level) - 3} more" in answer) == (len(level) > 3)


def test_one_figure_is_said_to_be_one(view: Any) -> None:
    answer, figure, rest = view(language="swa")
    assert answer == (
        "Only E5-V has a published score of Swahili alone: 32.5 (nDCG@10, XM3600T2IRetrieval, sw). So nothing says "
        "which model is best."
    )
    assert not figure["visible"] and "figures in Swahili of 35 more models" in rest


def test_a_language_without_scores_says_what_there_is(view: Any) -> None:
    answer, figure, rest = view(language="est")
    assert answer.startswith("No score of Estonian alone is known") and not figure["visible"]
    assert "WITT2IRetrieval has Estonian too" in rest
    assert view(language="deu", origin="imported")[0].startswith("No imported score of German alone is known")


def test_a_model_by_language(view: Any, evidence: LanguageEvidence) -> None:
    answer, figure, rest = view(model="royokong/e5-v")
    own = [each for each in evidence.rankings.values() if any(one.model == "royokong/e5-v" for one in each.models)]
    first = [each for each in own if each.first.model == "royokong/e5-v" and len(each.ranked) > 1]
    assert f"scores of {len(own)} languages alone and the highest mean of several models in {len(first)}" in answer
    assert "Swahili" in rest and figure["visible"]
    both = view(model="royokong/e5-v", language="deu")[0]
    assert "E5-V has rank 2 of 35 with 70.2" in both and both.startswith("Highest for German")


def test_all_languages(view: Any, evidence: LanguageEvidence) -> None:
    answer, figure, rest = view()
    several = [code for code in evidence.names if (found := evidence.ranking(code)) and len(found.ranked) > 1]
    assert f"Of the 38 languages of MIEB’s tasks, {len(several)} have scores of their own" in answer
    assert "is stored for Bulgarian, Estonian, Thai, Ukrainian and Vietnamese." in answer
    assert "For 7 languages only one model has a figure" in answer and "By published figures, Voyage" in answer
    assert figure["visible"] and "no other to compare" in rest


Score = tuple[str, str, float, float]  # model, task, value, standard error
TWO_TASKS = [("A", "t1", 0.9, 0.01), ("A", "t2", 0.8, 0.01), ("B", "t1", 0.7, 0.01)]
NO_ERROR = [("A", "t", 0.9, 0.01), ("B", "t", 0.5, 0.01), ("C", "t", 0.89, np.nan)]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (
            [("A", "t1", 0.9, 0.01), ("B", "t2", 0.8, 0.01)],
            "No model has all of the 2 computed scores of German alone, so nothing says which is best.",
        ),
        (TWO_TASKS, "Only A has all 2 computed scores of German alone that count: mean 85.0 over 2 scores."),
        (TWO_TASKS[:2], "Only A has computed scores of German alone: mean 85.0 over 2 scores."),
        (TWO_TASKS[:1], "Only A has a computed score of German alone: 90.0 (nDCG@10, t1, de)."),
        (NO_ERROR, "It is proved better than 1 of the other 2. 1 cannot be tested: one task stands for Retrieval"),
        (
            [("A", "t", 0.9, 0.01), ("B", "t", 0.9, 0.01), ("C", "t", 0.1, 0.01)],
            "Highest for German: A and B, 90.0 (nDCG@10) on one task, t, de, the highest of 3 models "
            "(computed figures). They are proved better than the other.",
        ),
    ],
    ids=["none complete", "one complete", "one model", "one score", "one untested", "shared first"],
)
def test_few_models_and_few_tests(
    site: SimpleNamespace, evidence: LanguageEvidence, scores: list[Score], said: str
) -> None:
    """Once "the highest of 0 models, proved better than each of the other -1"."""
    few = replace(evidence, rankings={("deu", "computed"): small(scores)})
    chosen = {"language": "deu", "model": "", "origin": "computed"}
    assert said in text(page(site, few, **chosen)[0])


def test_names_out_of_a_file_stay_text(hostile_site: SimpleNamespace) -> None:
    evidence = hostile_site.suite_cache.languages()
    for chosen in ({"language": "deu"}, {"language": "est"}, {"model": "royokong/e5-v"}, {}):
        answer, figure, rest = page(hostile_site, evidence, **({"language": "", "model": "", "origin": ""} | chosen))
        assert "<img" not in f"{answer}{rest}"
        assert figure["value"] is None or "<img" not in figure["value"].to_json()
