"""The page: which suite and origin are compared, what the address may say, and what is drawn."""

from __future__ import annotations

import re

import pytest

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.compare.page import shown

SIGLIP, EVA = "google/siglip-so400m-patch14-384", "quansun/eva02-clip-bige-14-plus"
CLIP, OTHER = "openai/clip-vit-large-patch14", "openai/clip-vit-large-patch14-336"  # the second is in UniSim-Bench
GENERATORS = ("black-forest-labs/flux.1-dev", "stabilityai/stable-diffusion-3-medium")
MIEB, SCOPED = {"suite": "mieb"}, {"w": "IQA:3", "tasks": "unisim/nights", "condition": "sensitive"}


def text(markup: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup))


def drawn(suite_cache: SuiteCache, *models: str, suite: str = "", origin: str = "", **rule: str) -> str:
    return str(shown(suite_cache, models=models, suite=suite, origin=origin, rule=rule))


@pytest.mark.parametrize(
    ("models", "how", "said"),
    [
        ((SIGLIP, CLIP), {}, f"board\\?suite=mieb&amp;select={SIGLIP}~imported"),
        (("google/siglip-so400m-patch14-224", OTHER), {}, "board\\?suite=unisim-core&amp;"),
        (("dreamsim-ensemble", OTHER), {}, "board\\?suite=unisim-ood&amp;"),  # 4 tasks, in the other 3
        ((SIGLIP, CLIP), {"origin": "published"}, f"{SIGLIP}~published"),
        ((f"{CLIP}~published", f"{CLIP}~imported"), MIEB, "Scores of different origins .*paper and public results"),
        ((f"{CLIP}~published", f"{CLIP}~imported"), MIEB, r"\(imported\) is .* than .* \(published\)"),
        ((SIGLIP, CLIP, "dreamsim-ensemble"), MIEB, r"DreamSim\S* (\S+ )?has no scores"),
        ((SIGLIP, EVA), {"w": "Clustering:0"}, "Your mean: without Clustering"),
        ((SIGLIP, CLIP), MIEB | {"language": "swa"}, "Swahili"),
        ((SIGLIP, EVA), {"by": "Clustering", "w": "Retrieval:2"}, "Compared by Clustering"),
        ((SIGLIP, EVA), {"by": "Clustering", "w": "Retrieval:2"}, r'&amp;w=Retrieval:2">Compare the whole suite'),
        ((SIGLIP, EVA), SCOPED, "other categories than the weights"),
        ((SIGLIP, EVA), SCOPED, "The whole suite is compared"),
        (GENERATORS, {"suite": "cfred-coco"}, "whether by chance is unknown, because the paper prints"),
        ((SIGLIP,), {}, f'<a href="compare\\?models={SIGLIP},'),
    ],
)  # fmt: skip
def test_what_is_compared_follows_from_the_address(suite_cache, models, how, said):
    markup = drawn(suite_cache, *models, **how)
    assert re.search(said, markup) or re.search(said, text(markup))


@pytest.mark.parametrize(
    ("models", "how", "said"),
    [
        ((SIGLIP, "dreamsim-ensemble"), MIEB, "has no scores"),
        (("dreamsim-ensemble", "black-forest-labs/flux.1-dev"), {}, "no suite in common"),
        ((SIGLIP, EVA), {"w": "Clustering:x"}, "not a number"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(suite_cache, models, how, said):
    with pytest.raises(BadInput, match=said):
        drawn(suite_cache, *models, **how)
