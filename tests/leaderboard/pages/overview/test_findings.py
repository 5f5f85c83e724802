"""Who leads a benchmark, by how much and whether significantly."""

import dataclasses

from leaderboard.data.suite_cache import ranked_rows
from leaderboard.pages.overview import findings


def test_others_that_cannot_be_tested_do_not_count(site):
    table, ranked = site.suite_cache.table("unisim-core"), site.suite_cache.ranked("unisim-core")
    first, second, *_ = ranked_rows(table, ranked)
    decided = ranked.decided.copy()
    decided[first, second] = False
    unknown = tuple("no error" if at == second else why for at, why in enumerate(ranked.unknown))
    lead = findings.lead(table, dataclasses.replace(ranked, decided=decided, unknown=unknown))
    assert (lead["significant"], lead["unknown"], lead["others"]) == (None, "no error", 20)
