"""The index of the search: an entry for each page, model, suite, metric, method, language, task and claim, with other
names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from compute.types import SEVERITIES
from leaderboard.data.board_table import BoardTable, SuiteColumn
from leaderboard.data.database import Database
from leaderboard.data.languages import MULTILINGUAL, name_of, spellings_of
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html import docs_page
from leaderboard.html.labels import hint, is_synthetic, model_kind
from leaderboard.html.templates import FOLDER

# A kind's title, and the address that an entry's key is appended to.
KINDS = (
    ("Pages", ""),
    ("Models", "model?model="),
    ("Suites", "board?suite="),
    ("Metrics", ""),
    ("Docs", ""),
    ("Languages", "board?suite=mieb&language="),
    ("Tasks", "task?task="),
    ("Claims", "claims?claim="),
)
PAGE, MODEL, SUITE, METRIC, DOC, LANGUAGE, TASK, CLAIM = range(len(KINDS))
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
PAGE_WORDS, METRIC_WORDS, METHOD_WORDS = _WORDS.values()
HEADING = re.compile(r'<h[1-6] id="([^"]+)">(.*?)</h[1-6]>')
TERM = re.compile(r'<dt id="([\w-]+)">([^<]+)</dt>')

Entry = list[Any]  # kind, title, note, key, other names, 1 if it has scores or is a paper's headline claim, else 0


def index(suite_cache: SuiteCache, *, pages: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Returns every entry, in the order of KINDS. pages: titles and keys."""
    db = suite_cache.db
    entries = [
        *([PAGE, title, "page", key, PAGE_WORDS.get(key, ""), 1] for title, key in pages),
        *_models(db),
        *_suites(db),
        *_metrics(suite_cache),
        *_methods(),
        *_definitions(db),
        *_languages(suite_cache),
        *_tasks(db),
        *_claims(db),
    ]
    return {"kinds": [list(kind) for kind in KINDS], "entries": entries}


def _models(db: Database) -> Iterator[Entry]:
    spellings = db.query("spellings").groupby("model")["printed"].agg(list).to_dict()
    for row in db.records("models"):
        title, key = row["title"], row["key"]
        note = ", ".join(filter(None, (row["organisation"], model_kind(row["kind"]))))
        others = dict.fromkeys((*spellings.get(key, ()), row["family"]))
        yield [
            MODEL,
            title,
            note,
            key,
            " ".join(name for name in others if name and name != title),
            int(row["runs"] > 0),
        ]


def _suites(db: Database) -> Iterator[Entry]:
    for row in db.records("suites"):
        note = f"{row['tasks']} {'task' if row['tasks'] == 1 else 'tasks'} on the board"
        yield [SUITE, row["title"], note, row["key"], f"{row['benchmark_title']} {row['paper']}", 1]


def _metrics(suite_cache: SuiteCache) -> Iterator[Entry]:
    """Yields the metrics shown by some suite, each with the address where its scores can be compared."""
    metrics = suite_cache.db.keyed("metrics")
    suites = [suite_cache.table(key) for key in suite_cache.db.query("suites")["key"]]
    addresses: dict[str, str] = {}
    for table in sorted(suites, key=lambda table: is_synthetic(table.suite["benchmark"])):
        for key, columns in _columns(table).items():
            addresses.setdefault(key, _comparison(table, columns))
    for key, address in addresses.items():
        facts = metrics.loc[key]
        others = f"{key} {METRIC_WORDS.get(key, '')}"
        yield [METRIC, facts["title"], facts["description"] or "metric", address, others, 1]


@cache
def _methods() -> list[Entry]:
    """Returns the sections of the documentation and the terms of About, each with its address."""
    found = [
        (f"docs/{name}#{anchor}", Markup(heading).striptags(), title)
        for name, title in docs_page.pages().items()
        if name != "changes"  # its headings say no more than their words
        for anchor, heading in HEADING.findall(docs_page.markup(name))
    ]
    about = (FOLDER / "pages" / "about" / "page.html").read_text(encoding="utf-8")
    found += [(f"about#{anchor}", term, "About") for anchor, term in TERM.findall(about)]
    return [
        [DOC, title, "documentation" if title == page else page, address, METHOD_WORDS.get(address, ""), 0]
        for address, title, page in found
    ]


def _definitions(db: Database) -> Iterator[Entry]:
    """Yields the description of each metric in the table of About."""
    for row in db.records("metrics"):
        if not row["key"].endswith("_rank"):
            yield [
                DOC,
                row["title"],
                "defined in About",
                f"about#metric-{row['key']}",
                METRIC_WORDS.get(row["key"], ""),
                0,
            ]


def _columns(table: BoardTable) -> dict[str, list[SuiteColumn]]:
    """Returns the columns that a suite shows by default, by metric."""
    columns: dict[str, list[SuiteColumn]] = {}
    for column in table.columns:
        if column.default:
            columns.setdefault(column.metric, []).append(column)
    return columns


def _comparison(table: BoardTable, columns: list[SuiteColumn]) -> str:
    """Returns where the scores of one metric are compared: with people, on the board, or in the list of tasks."""
    if table.suite["aggregate"] == "human":
        return "generators"
    if len(columns) > 1:
        return f"tasks?{urlencode({'q': columns[0].metric_title})}"
    sort = ("-" if columns[0].higher else "") + columns[0].key
    return f"board?{urlencode({'suite': table.suite['key'], 'sort': sort}, safe='/:')}"


def _languages(suite_cache: SuiteCache) -> Iterator[Entry]:
    """Yields the languages with their own scores, with their other codes."""
    for code, tasks in suite_cache.table(MULTILINGUAL).choices.languages.items():
        note = f"{tasks} {'task' if tasks == 1 else 'tasks'} of MIEB"
        yield [LANGUAGE, name_of(code), note, code, " ".join(("language", "best for", *spellings_of(code))), 1]


def _tasks(db: Database) -> Iterator[Entry]:
    for row in db.records("tasks"):
        note = ", ".join(filter(None, (row["benchmark_title"], row["category"])))
        if is_synthetic(row["benchmark"]) and "synthetic" not in note:
            note = f"{note} (synthetic)"
        others = " ".join(filter(None, (row["dataset_title"], hint(row["category"]))))
        yield [TASK, row["title"], note, row["key"], others, int(row["models"] > 0)]


def _claims(db: Database) -> Iterator[Entry]:
    for row in db.records("claims"):
        note = f"{row['paper']}, {row['where']}: {row['verdict']}"
        yield [CLAIM, row["claim"], note, row["key"], "", int(row["severity"] == SEVERITIES[0])]
