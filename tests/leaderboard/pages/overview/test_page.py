"""The first page shows every benchmark with its leaders, and numbers of the database."""

from __future__ import annotations

from types import SimpleNamespace

from leaderboard.data.leaders import ranked_rows
from leaderboard.data.payload import board
from leaderboard.pages.overview.page import LEADERS, NEWEST, SUITES, benchmarks, newest


def test_every_benchmark_with_scores_has_its_leaders(site: SimpleNamespace) -> None:
    markup = benchmarks(site)
    shown = [key for key in SUITES if site.suite_cache.table(key).rows]
    assert [key for key in SUITES if f'href="board?suite={key}"' in markup] == shown
    ranked = [site.suite_cache.ranked(key) for key in shown]
    leaders = [LEADERS if ranks is None else min(LEADERS, int((ranks.rank > 0).sum())) for ranks in ranked]
    assert markup.count('<th scope="row">') == sum(leaders)
    for key, ranks in zip(shown, ranked, strict=True):
        table = site.suite_cache.table(key)
        rows = [row for row in board(site.db, table, ranks)["rows"] if row["origin"] == table.origin]
        tasks = site.db.query("suites").set_index("key").loc[key, "tasks"]
        count = f"of {len(rows)} models ranked on {tasks} tasks" if ranks else f"{len(rows)} generators"
        assert count in markup, key


def test_the_newest_ranked_models_come_first_with_their_suite(site: SimpleNamespace) -> None:
    models = newest(site)
    dates = [model["released"] for model in models]
    assert dates == sorted(dates, reverse=True) and len({model["key"] for model in models}) == NEWEST
    for model in models:
        table, ranked = site.suite_cache.table(model["suite"]), site.suite_cache.ranked(model["suite"])
        _, rows = ranked_rows(table, ranked)
        row = next(row for row in rows if table.rows[row].model == model["key"])
        assert (model["rank"], model["of"]) == (ranked.rank[row], len(rows))
    markup = benchmarks(site)
    assert all(f"rank {model['rank']} of {model['of']} in" in markup for model in models)


def test_synthetic_and_computed_leaders_are_marked(stand_in_site: SimpleNamespace) -> None:
    markup = benchmarks(stand_in_site)
    assert 'class="pg-whisker"' in markup and "trained on some of these data sets" in markup
    assert "computed" in markup
