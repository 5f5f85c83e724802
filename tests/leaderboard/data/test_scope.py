"""A suite by condition, metric and split: which scopes it has, and that each shows its own scores alone."""

import csv
from pathlib import Path

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data import board_table
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.scope import Scope
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board import provenance

PUBLISHED = Path(__file__).resolve().parents[3] / "assets/published"


@pytest.fixture(scope="module")
def with_metrics(changed):
    """The shipped database, in which PairBench's splits have figures of two more metrics."""
    runs = "FROM scores WHERE run LIKE 'pairbench-table-%' AND metric = 'mmscore' AND subset "
    into = "INSERT INTO scores (run, subset, metric, value) SELECT run, "
    return changed(
        f"{into} subset, 'relax_sym', 1 - value {runs} <> 'default'",
        f"{into} 'default', 'controllability', value {runs} = 'sensitive'",
    )


@pytest.mark.parametrize("subset, source", [("sensitive", "pairbench-table-3"), ("invariant", "pairbench-table-4")])
def test_a_condition_shows_its_own_printed_figures(suite_cache, subset, source):
    table = suite_cache.table("pairbench", Scope(subset=subset))
    with (PUBLISHED / f"{source}.csv").open() as file:
        printed = {row["model"]: float(row["COCO CJ"]) / 100 for row in csv.DictReader(file)}
    column = [column.key for column in table.columns].index("pairbench/coco-cj")
    assert sorted(table.scores.values[:, column]) == pytest.approx(sorted(printed.values()))
    assert all(column.task != "pairbench/aggregate" for column in table.columns), "its figures are of both conditions"


def test_a_metric_ranks_by_itself(with_metrics):
    cache = SuiteCache(with_metrics)
    whole, other = cache.table("pairbench"), cache.table("pairbench", Scope(metric="relax_sym"))
    both = {"sensitive", "invariant"}
    assert whole.choices.metrics == {"mmscore": both, "relax_sym": both, "controllability": {"default"}}
    ranked = [column for column in other.columns if column.ranked]
    assert {column.metric for column in ranked} == {"relax_sym"} and len(ranked) == 24
    assert other.scores.values[:, 0] == pytest.approx(1 - whole.scores.values[:, 0])
    assert all(column.chance is None for column in ranked), "chance is that of MMScore"
    even = cache.table("pairbench", Scope(metric="controllability"))
    assert len(even.rows) == 23 and not np.isnan(even.scores.values[:, 0]).any()


STS17 = "mieb/visualsts17multilingual"


@pytest.mark.parametrize(
    "suite, language, tasks, subsets",
    [
        ("mieb", "ara", 3, {STS17: {"ar-ar", "en-ar"}, "mieb/witt2iretrieval": {"ar"}}),
        ("mieb", "eng", 85, {"mieb/xm3600t2iretrieval": {"en"}, "mieb/cirrit2iretrieval": {"default"}}),
        ("vidore-v3", "deu", 10, {"vidore/vidore3hrretrieval": {"german"}}),
    ],
)
def test_a_language_ranks_by_the_means_of_its_own_subsets(suite_cache, suite, language, tasks, subsets):
    """The public results have STS17 by language under another task than its mean, the papers under the same."""
    scope = Scope(language=language)
    table, ranked = suite_cache.table(suite, scope), suite_cache.ranked(suite, RankChoice(scope=scope))
    assert len(table.columns) == tasks and table.origin == "imported" and not len(table.averages)
    assert (ranked.rank[table.rows_of("imported")] > 0).sum() >= 40
    raw = suite_cache.db.ask(
        """SELECT runs.model, runs.origin, runs.task, scores.subset, scores.metric, scores.value
           FROM scores JOIN runs ON runs.id = scores.run WHERE runs.main"""
    )
    raw["task"] = raw["task"].replace("mieb/sts17multilingualvisualsts", STS17)
    for task, own in subsets.items():
        column = table.by_key[task]
        scores = raw[(raw["task"] == task) & (raw["metric"] == column.metric) & raw["subset"].isin(own)]
        values = scores.pivot_table(index=["model", "origin"], columns="subset", values="value").dropna()
        shown = table.scores.values[:, table.columns.index(column)]
        known = {(row.model, row.origin): value for row, value in zip(table.rows, shown, strict=True) if value == value}
        assert known == pytest.approx(values.mean(axis=1).to_dict()) and len(known) >= 40
        row = next(row.id for row, value in zip(table.rows, shown, strict=True) if value == value)
        cell = provenance.cell(suite_cache.db, table, ranked, row_id=row, key=task)
        assert {source["subset"] or "default" for source in cell["sources"]} == own


@pytest.mark.parametrize(
    "suite, scope, words",
    [
        ("mieb", Scope(language="deu,xyz"), "no language 'xyz'"),
        ("mieb-lite", Scope(language="swa,xho"), "language|each"),
        ("pairbench", Scope(language="eng"), "cannot be ranked by one"),
        ("pairbench", Scope(subset="default"), "no condition 'default'; there are: sensitive, invariant"),
        ("pairbench", Scope(metric="smoothness"), "no metric 'smoothness'; there are: mmscore, relax_sym"),
        ("pairbench", Scope(subset="sensitive", metric="controllability"), "of the sensitive condition alone"),
        ("mieb", Scope(subset="sensitive"), "no condition 'sensitive'; it cannot be ranked by one"),
        ("cfred-coco", Scope(metric="fid"), "no metric 'fid'; it cannot be ranked by one"),
    ],
)
def test_a_scope_that_a_suite_does_not_have(with_metrics, suite, scope, words):
    with pytest.raises(BadInput, match=words):
        board_table.load(with_metrics, suite=suite, scope=scope)


def test_one_ranking_is_of_few_languages():
    with pytest.raises(BadInput, match="at most 6"):
        Scope(language="ara,ces,deu,fra,jpn,spa,swa")
