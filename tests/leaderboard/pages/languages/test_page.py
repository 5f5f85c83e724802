"""What the page of languages says: an answer for each view, no surer than its figures."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from leaderboard.data.language_evidence import LanguageEvidence
from leaderboard.html.named_points import NAMES
from leaderboard.pages.languages.described import describe
from leaderboard.pages.languages.page import page


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
        f"Best for German: {ranking.first.title}, mean {100 * ranking.first.mean:.1f} over 3 scores"
    )
    assert "Whether it is better than the others is not known" in answer
    names = [trace for trace in figure["value"].data if trace.meta == NAMES]
    assert [len(trace.text) for trace in names] == [len(ranking.ranked)] * 4
    assert "1 of 3 scores" in rest and "XM3600T2IRetrieval, de" in rest


def test_what_is_not_proved_is_named(view: Any, evidence: LanguageEvidence) -> None:
    answer, *_ = view(language="jpn")
    tied = evidence.ranking("jpn").tied
    assert f"It is not proved better than {tied[0].title}" in answer and f"and {len(tied) - 3} more" in answer
    assert "It is not proved better than any of the other" in view(language="spa")[0]


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
    assert "E5-V has rank 2 of 35 with 70.2" in both and both.startswith("Best for German")


def test_all_languages(view: Any, evidence: LanguageEvidence) -> None:
    answer, figure, rest = view()
    several = [code for code in evidence.names if (found := evidence.ranking(code)) and len(found.ranked) > 1]
    assert f"Of the 38 languages of MIEB’s tasks, {len(several)} have scores of their own" in answer
    assert "Bulgarian, Estonian, Thai, Ukrainian and Vietnamese there is only a mean" in answer
    assert figure["visible"] and "no other to compare" in rest


@pytest.mark.parametrize("spelling", ["swa", "swh", "sw", "Swahili"])
def test_the_head_knows_every_spelling(site: SimpleNamespace, spelling: str) -> None:
    described = describe(site, {"language": spelling})
    assert described.title == "Models for Swahili" and described.query == (("language", "swa"),)


def test_the_head_names_the_best(site: SimpleNamespace) -> None:
    described = describe(site, {"language": "ja"})
    assert described.title == "Best for Japanese" and described.rows[0].label == "E5-V"
    assert all(0 <= end <= 1 for row in described.rows for end in (row.value, row.low, row.high))
    assert describe(site, {"model": "royokong/e5-v"}).title == "E5-V by language"
    assert describe(site, {}) is None and describe(site, {"language": "xyz", "model": "nobody"}) is None


def test_names_out_of_a_file_stay_text(hostile_site: SimpleNamespace) -> None:
    evidence = hostile_site.suite_cache.languages()
    for chosen in ({"language": "deu"}, {"language": "est"}, {"model": "royokong/e5-v"}, {}):
        answer, figure, rest = page(hostile_site, evidence, **({"language": "", "model": "", "origin": ""} | chosen))
        assert "<img" not in f"{answer}{rest}"
        assert figure["value"] is None or "<img" not in figure["value"].to_json()
