"""The page About says what the database holds."""

from __future__ import annotations

from types import SimpleNamespace

from leaderboard.data import suite_queries
from leaderboard.html.labels import ABBREVIATIONS
from leaderboard.pages.about.page import body


def test_every_metric_and_abbreviation_is_explained(site: SimpleNamespace) -> None:
    markup = body(site)
    metrics = [metric for metric in suite_queries.metrics(site.db).itertuples() if not metric.key.endswith("_rank")]
    assert markup.count("<dt>") == 12 + len(ABBREVIATIONS) + 4
    assert markup.count('<th scope="row">') == len(metrics) + len(suite_queries.benchmarks(site.db))
    assert "unbounded" in markup and "0 to 100" in markup


def test_the_numbers_are_those_of_the_database(site: SimpleNamespace) -> None:
    counts, markup = suite_queries.counts(site.db).iloc[0], body(site)
    assert f"{counts.claims:,} claims" in markup
    assert f'{counts.claims:,} <a href="claims">claims</a>' in markup
    assert "Database built" in markup and "gradio" in markup
