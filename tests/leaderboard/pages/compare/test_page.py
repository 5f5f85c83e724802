"""The page: which suite and origin are compared, what the address may say, and what is drawn."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.compare.page import READY, shown, start

SIGLIP, EVA = "google/siglip-so400m-patch14-384", "quansun/eva02-clip-bige-14-plus"
CLIP, OTHER = "openai/clip-vit-large-patch14", "openai/clip-vit-large-patch14-336"  # the second is in UniSim-Bench


def text(markup: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup))


def drawn(suite_cache: SuiteCache, *models: str, suite: str = "", origin: str = "", **rule: str) -> str:
    return str(shown(suite_cache, models=models, suite=suite, origin=origin, rule=rule))


def test_two_models_have_a_sentence_a_verdict_a_chart_a_category_and_their_tasks_by_difference(
    suite_cache,
):
    markup = drawn(suite_cache, SIGLIP, EVA)
    words, table = text(markup), suite_cache.table("mieb")
    assert re.search(r"SigLIP SO400M/14 384 px is ahead in .+; .+ not significant in \d categories, of unknown", words)
    assert re.search(r"EVA02-CLIP bigE/14\+ is [\d.]+ points lower than SigLIP SO400M/14 384 px in the mean", words)
    assert "Compared by the mean on MIEB , public results" in words, "where both have most tasks"
    charts = len(table.category_columns)
    assert markup.count('class="bc-chart"') == markup.count('<section class="bc-category">') == charts
    assert markup.count('<span class="bc-name">') == 130 + 2 * charts, "a line a task, a mean and an axis a category"
    body = markup[markup.index('aria-label="Tasks by difference"') :]
    assert body.count("<tr") == 1 + 1 + charts + 130
    differences = re.findall(r'<tr><th scope="row">.*?([+−][\d.]+)</td>', body, re.DOTALL)
    sizes = [float(each[1:]) for each in differences]
    assert len(sizes) == 130 and sizes == sorted(sizes, reverse=True)
    means = [float(each[1:]) for each in re.findall(r'class="bc-mean">.*?([+−][\d.]+)</td>', body, re.DOTALL)]
    assert len(means) == 1 + charts and means[1:] == sorted(means[1:], reverse=True)


def test_the_suite_and_the_origin_are_those_with_most_shared_tasks(suite_cache):
    usual = drawn(suite_cache, SIGLIP, CLIP)
    assert "board?suite=mieb&amp;select=" in usual and f"{SIGLIP}~imported" in usual
    assert "board?suite=unisim-core&amp;" in drawn(suite_cache, "google/siglip-so400m-patch14-224", OTHER)
    assert "board?suite=unisim-ood&amp;" in drawn(suite_cache, "dreamsim-ensemble", OTHER), "4 tasks, in the other 3"
    assert f"{SIGLIP}~published" in drawn(suite_cache, SIGLIP, CLIP, origin="published")
    apart = text(drawn(suite_cache, f"{CLIP}~published", f"{CLIP}~imported", suite="mieb"))
    assert "Scores of different origins are compared: paper and public results." in apart
    assert re.search(r"\(imported\) is .* than .* \(published\)", apart)
    missing = text(drawn(suite_cache, SIGLIP, CLIP, "dreamsim-ensemble", suite="mieb"))
    assert re.search(r"DreamSim\S* (\S+ )?has no scores", missing)
    with pytest.raises(BadInput, match="has no scores"):
        drawn(suite_cache, SIGLIP, "dreamsim-ensemble", suite="mieb")
    with pytest.raises(BadInput, match="no suite in common"):
        drawn(suite_cache, "dreamsim-ensemble", "black-forest-labs/flux.1-dev")


def test_weights_language_and_column_are_as_the_address_of_the_board_writes_them(suite_cache):
    assert "Your mean: without Clustering" in drawn(suite_cache, SIGLIP, EVA, w="Clustering:0")
    assert "Swahili" in drawn(suite_cache, SIGLIP, CLIP, suite="mieb", language="swa")
    by = drawn(suite_cache, SIGLIP, EVA, by="Clustering", w="Retrieval:2")
    assert "Compared by Clustering" in text(by) and by.count('class="bc-chart"') == 1
    whole = re.search(r'<a href="([^"]+)">Compare the whole suite', by)[1]
    assert parse_qs(whole.replace("&amp;", "&").partition("?")[2])["w"] == ["Retrieval:2"] and "by=" not in whole
    others = text(drawn(suite_cache, SIGLIP, EVA, w="IQA:3", tasks="unisim/nights", condition="sensitive"))
    assert "other categories than the weights" in others and "The whole suite is compared" in others
    with pytest.raises(BadInput, match="not a number"):
        drawn(suite_cache, SIGLIP, EVA, w="Clustering:x")


def test_generators_are_compared_by_people(suite_cache):
    first, second = (row.model for row in suite_cache.table("cfred-coco").rows[:2])
    words = text(drawn(suite_cache, first, second, suite="cfred-coco"))
    assert "whether by chance is unknown, because the paper prints" in words and "Compared by" in words


def test_fewer_than_two_models_get_pairs_to_begin_with(site):
    markup = str(start(site.suite_cache))
    assert markup.count('<a href="compare?models=') == len(READY)
    one = drawn(site.suite_cache, SIGLIP)
    assert one.count(f'<a href="compare?models={SIGLIP},') == 3 and "1 in MIEB" in one
