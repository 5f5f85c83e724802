"""The page About says what the database holds."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

from compute.catalog import data_version
from compute.io.tables import read_csv
from compute.paths import CATALOG
from leaderboard.data import suite_queries
from leaderboard.html.labels import ABBREVIATIONS
from leaderboard.pages.about.page import body, dependence


def test_every_metric_and_abbreviation_is_explained(site: SimpleNamespace) -> None:
    markup = body(site)
    metrics = [metric for metric in suite_queries.metrics(site.db).itertuples() if not metric.key.endswith("_rank")]
    assert markup.count("<dt") == 14 + len(ABBREVIATIONS) + 5
    facts = len(site.db.query("differing_facts"))
    tables = (metrics, site.db.query("benchmarks"), dependence(site))
    assert markup.count('<th scope="row"') == sum(map(len, tables)) + facts
    assert "unbounded" in markup and "0 to 100" in markup


def test_the_numbers_are_those_of_the_database(site: SimpleNamespace) -> None:
    claims, markup = suite_queries.claim_counts(site.db), body(site)
    assert f"{claims['claims']:,} claims" in markup
    assert f'{claims["claims"]:,} <a href="claims">claims</a>; {claims["conflicts"]} conflict' in markup
    assert "Database built" in markup and "gradio" in markup
    version = data_version.current().number
    assert re.search(
        rf"Version of the scores</dt>\s*<dd>\s*{re.escape(version)} \(<a href=\"published/CHANGELOG.md\"", markup
    )


def test_facts_kept_against_the_public_files_are_listed_with_the_reason(site: SimpleNamespace) -> None:
    notes = read_csv(CATALOG / "notes.csv")
    kept = notes.loc[(notes["source"] == "*") & (notes["metric"] != ""), "note"]
    text = html.unescape(str(body(site)))
    assert len(kept) > 10 and all(note in text for note in kept)
