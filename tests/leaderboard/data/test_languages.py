"""Codes and names of languages, held against mteb's lists and its tasks' own languages of subsets."""

import ast
import importlib.util
from pathlib import Path

import pytest

from leaderboard.data.languages import NAMES, codes_of, languages_of

PACKAGE = importlib.util.find_spec("mteb")  # read as files: importing it takes seconds
needs_mteb = pytest.mark.skipif(PACKAGE is None, reason="mteb is not installed")
TASKS = (
    "retrieval/multilingual/xm3600_t2i_retrieval.py",
    "retrieval/multilingual/x_flickr30k_co_t2i_retrieval.py",
    "retrieval/multilingual/wit_t2i_retrieval.py",
    "sts/multilingual/sts17_multilingual_visual_sts.py",
    "sts/multilingual/sts_benchmark_multilingual_visual_sts.py",
)


def mteb(path):
    return Path(PACKAGE.submodule_search_locations[0]) / path


def subsets(path):
    """The languages of every subset that a file of mteb's spells out."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Dict) and node.keys:
            try:
                entry = ast.literal_eval(node)
            except (ValueError, TypeError):
                continue
            found |= {key: value for key, value in entry.items() if isinstance(value, list) and "-" in str(value[:1])}
    return found


@needs_mteb
@pytest.mark.parametrize("path", TASKS)
def test_subsets_are_in_the_languages_that_mteb_gives_them(path):
    known = subsets(mteb(f"tasks/{path}"))
    assert len(known) > 7
    for subset, languages in known.items():
        assert languages_of(subset, subsets=list(known), languages=()) == codes_of(languages), subset


def test_every_language_of_the_catalogue_has_a_name(suite_cache):
    tasks = suite_cache.db.query("tasks")
    tasks = tasks[tasks["benchmark"] == "mieb"]
    codes = {code for languages in tasks["languages"] for code in codes_of(languages)}
    assert codes - NAMES.keys() == set()
    assert len(codes) == 38, "as the paper counts"


@pytest.mark.parametrize(
    "subset, of, languages, found",
    [
        ("de", ["de", "fr"], ["deu", "fra"], "deu"),
        ("es-es", ["es-es", "es-en"], ["spa", "eng"], "spa"),
        ("deu-Latn", ["deu-Latn", "fra-Latn"], ["deu", "fra"], "deu"),
        ("en-de", ["en-de", "de-de"], ["eng", "deu"], "deu eng"),
        ("default", ["de", "fr"], ["deu", "fra"], ""),
        ("default", ["default"], ["eng-Latn"], "eng"),
        ("default", ["default"], ["eng", "deu"], ""),
        ("default", ["default"], ["zho", "cmn"], "zho"),
        ("sensitive", ["sensitive", "invariant"], ["eng"], ""),
    ],
)
def test_the_languages_that_a_score_is_of(subset, of, languages, found):
    assert languages_of(subset, subsets=of, languages=languages) == set(found.split())
