"""Models by language, held against the tables' own columns and against result files in the public layout."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from leaderboard.data.database import Database
from leaderboard.data.language_evidence import LanguageEvidence
from leaderboard.data.suite_cache import SuiteCache

PUBLISHED = Path(__file__).resolve().parents[3] / "assets" / "published"
FRENCH = {"mieb/vidoretabfquadretrieval", "mieb/vidoreshiftprojectretrieval"}
FILES = {  # of a model: language scores in [0, 1] a task
    "XM3600T2IRetrieval": {"de": 0.80, "sw": 0.30, "th": 0.50},
    "WITT2IRetrieval": {"tr": 0.20, "et": 0.10},
    "STSBenchmarkMultilingualVisualSTS": {"de": 0.60, "en": 0.9},
    "VisualSTS-b-Multilingual": {"default": 0.123},
    "VisualSTS-b-Eng": {"default": 0.7},
}


@pytest.fixture(scope="session")
def suite_cache(papers_cache: SuiteCache) -> SuiteCache:
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def printed(table: str, column: str) -> dict[str, float]:
    """A column of a table as the paper prints it, by the paper's names."""
    with (PUBLISHED / f"mieb-table-{table}.csv").open() as file:
        return {row["model"]: float(row[column]) for row in csv.DictReader(file) if row[column]}


@pytest.fixture(scope="module")
def evidence(suite_cache: SuiteCache) -> LanguageEvidence:
    return suite_cache.languages()


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> LanguageEvidence:
    """The shipped figures and result files of two models in the layout of the public repository."""
    from compute.catalog import shipped
    from compute.database.build import build
    from compute.importing import collection
    from compute.importing.mteb import read_mteb_results

    folder = tmp_path_factory.mktemp("languages")
    for at, name in enumerate(("royokong__E5-V", "example__new")):
        place = folder / "files" / "results" / name / "0123456789ab"
        place.mkdir(parents=True)
        for task, subsets in FILES.items():
            rows = [
                {"hf_subset": key, "languages": [], "main_score": value - at / 100} for key, value in subsets.items()
            ]
            content = {"task_name": task, "mteb_version": "2.0.0", "dataset_revision": "1", "scores": {"test": rows}}
            (place / f"{task}.json").write_text(json.dumps(content))
    found = read_mteb_results(folder / "files", catalog=shipped())
    collection.save(found, name="mteb-results", folder=folder / "results" / "imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compute.paths.IMPORTED", folder / "none")
        return SuiteCache(Database(build(folder / "likeness.duckdb", results=folder / "results").path)).languages()


def test_means_are_those_of_the_printed_columns(evidence: LanguageEvidence) -> None:
    """German: two tasks of retrieval and one of sentences as images, each category once."""
    flickr, xm, sts = printed("11", "XF de"), printed("11", "XM de"), printed("14", "de")
    both = flickr.keys() & xm.keys() & sts.keys()
    want = sorted(((flickr[name] + xm[name]) / 2 + sts[name]) / 2 for name in both)
    ranking = evidence.ranking("deu")
    assert ranking.origin == "published" and len(ranking.ranked) == len(both) > 30
    assert sorted(100 * each.mean for each in ranking.ranked) == pytest.approx(want)
    assert [each.rank for each in ranking.ranked[:3]] == [1, 2, 3]
    assert all(np.isnan(each.mean) and each.have < 3 for each in ranking.models[len(both) :])


def test_no_mean_over_languages_stands_for_one(evidence: LanguageEvidence) -> None:
    """Thai, Estonian and Bulgarian are in tasks of which only a mean over all languages is published, or nothing."""
    assert {"tha", "est", "bul", "ukr", "vie"} == {code for code in evidence.names if not evidence.origins(code)}
    assert [task.key for task in evidence.without_score("est", None)] == ["mieb/witt2iretrieval"]
    for (code, _), ranking in evidence.rankings.items():
        for score in ranking.scores:
            assert score.subset not in ("average", "default")
            assert score.subset or code == "eng" or score.task in FRENCH, "of a whole task: of one language alone"
    assert not any(score.subset == "en-de" for ranking in evidence.rankings.values() for score in ranking.scores)
    assert evidence.pairs["deu"] == 1 and evidence.pairs["eng"] == 7, "the pairs of STS17 in Table 13"


def test_french_documents_count_for_french_alone(evidence: LanguageEvidence) -> None:
    """MIEB Table 6; the metadata of the public tasks call them English."""
    assert {score.task for score in evidence.ranking("fra").scores if score.counts} >= FRENCH
    assert not FRENCH & {score.task for score in evidence.ranking("eng").scores}


def test_one_task_proves_nothing_and_two_can(evidence: LanguageEvidence) -> None:
    turkish, japanese = evidence.ranking("tur"), evidence.ranking("jpn")
    assert "not known" in turkish.unknown and not turkish.level and not turkish.worse
    assert turkish.untested == turkish.ranked[1:]
    assert not japanese.unknown and 0 < len(japanese.level) < len(japanese.ranked) - 1
    assert japanese.level[0].model == japanese.models[1].model


def test_worse_is_what_the_first_s_own_tests_show(evidence: LanguageEvidence) -> None:
    """Once every model below the first that differs counted as proved worse, 14 of 29 in Japanese without a proof."""
    japanese = evidence.ranking("jpn")
    values = np.array([each.values for each in japanese.ranked])
    result = Ranking.of(ScoreTable(values=values))
    proved = {each.model for each, worse in zip(japanese.ranked, result.better[0], strict=True) if worse}
    assert {each.model for each in japanese.worse} == proved and proved
    assert len(japanese.worse) + len(japanese.level) == len(japanese.ranked) - 1 and not japanese.untested


def test_a_mean_over_languages_is_known_of_those_of_its_task(
    evidence: LanguageEvidence, imported: LanguageEvidence
) -> None:
    """Of the tasks that have Thai and Estonian no mean is stored."""
    assert evidence.has_mean("deu") and evidence.has_mean("deu", "published")
    assert not evidence.has_mean("deu", "computed") and not evidence.has_mean("tha") and not evidence.has_mean("est")
    assert imported.has_mean("deu", "imported") and not imported.has_mean("ara", "imported")


def test_result_files_by_language_stay_beside_the_papers(imported: LanguageEvidence) -> None:
    assert imported.origins("deu") == ["published", "imported"] and imported.origins("tha") == ["imported"]
    assert imported.ranking("deu").origin == "published" and len(imported.ranking("deu").ranked) > 30
    files = imported.ranking("deu", "imported")
    assert {each.model for each in files.models} == {"royokong/e5-v", "example/new"}
    assert files.first.mean == pytest.approx((0.80 + 0.60) / 2), "the aggregate's own mean enters nowhere"
    assert {score.task for score in files.scores} == {
        "mieb/xm3600t2iretrieval",
        "mieb/stsbenchmarkmultilingualvisualsts",
    }
    assert imported.ranking("est", "imported").first.mean == pytest.approx(0.10)


def test_the_same_data_count_once(imported: LanguageEvidence) -> None:
    """The English part of STS-b comes as a task of a suite and as a subset of the task that it is made of."""
    scores = imported.ranking("eng", "imported").scores
    assert [score.task for score in scores] == ["mieb/visualsts-b-eng"]
