"""Who leads a benchmark, by how much and whether significantly."""

import dataclasses

from leaderboard.data.suite_cache import ranked_rows
from leaderboard.pages.model.page import ranks
from leaderboard.pages.overview import findings


def test_others_that_cannot_be_tested_do_not_count(site):
    table, ranked = site.suite_cache.table("unisim-core"), site.suite_cache.ranked("unisim-core")
    first, second, *_ = ranked_rows(table, ranked)
    decided = ranked.decided.copy()
    decided[first, second] = False
    unknown = tuple("no error" if at == second else why for at, why in enumerate(ranked.unknown))
    lead = findings.lead(table, dataclasses.replace(ranked, decided=decided, unknown=unknown))
    assert (lead["significant"], lead["unknown"], lead["others"]) == (None, "no error", 20)


def test_a_challenger_without_a_rank_is_estimated_as_on_the_board(site):
    """Its model's page marks the same estimate among its ranks."""
    (found,) = findings.findings(site, ["mieb"])
    row, said = found["unranked"]["row"], found["unranked"]["estimate"]
    one = site.suite_cache.estimates("mieb")[0][row]
    assert (said["tasks"], said["mean"]) == (one.tasks, f"{100 * one.mean:.1f}")
    (rank,) = (rank for rank in ranks(site.suite_cache, found["unranked"]["model"].name, ["mieb"]) if rank["estimated"])
    assert rank["mean"] == f"≈{said['mean']}" and rank["rank"] == f"≈{said['place']} of {said['complete']}"
