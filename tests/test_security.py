"""SECURITY.md names every variable that the code reads, files that exist, and the limits as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compute import types
from compute.live import inputs
from compute.live.decoder import limits
from leaderboard.data import sandbox, visitor_queries
from leaderboard.live import live, panel
from leaderboard.live.uploads import UploadLimits
from leaderboard.pages.compare import batch
from leaderboard.pages.map import atlas
from leaderboard.web.events import request_filter
from leaderboard.web.events.turns import QueueLimits
from leaderboard.web.receiving import bodies, bounds, chunks, connections
from leaderboard.web.sending import downloads, pacing

ROOT = Path(__file__).resolve().parents[1]
README, SECURITY = (ROOT / name for name in ("README.md", "SECURITY.md"))
VARIABLE = re.compile(r"\bLIKENESS_[A-Z][A-Z_]*[A-Z]\b")
LIMITS = (
    f"({limits.MEMORY // 1_000_000} MB, {limits.MEMORY_LARGE // 1_000_000} MB above 16 megapixels)",
    f"({limits.SECONDS} s, {limits.SECONDS_LARGE} s)",
    f"each taken within {pacing.STALL:.0f} s; {downloads.EACH} downloads of one visitor at a time, "
    f"{downloads.MOST} of all",
    f"{pacing.MOST_WAITING // 1_000_000} MB wait for readers",
    f"{types.LONGEST_KEY} characters of a key, {bounds.LONGEST_PATH:,} of a path, {bounds.LONGEST_QUERY:,} of a query",
    f"{bounds.DEEPEST} levels and {request_filter.MOST_VALUES:,} values of an event",
    f"{QueueLimits().session} requests of a page and {QueueLimits().address} of an address wait or run, "
    f"{QueueLimits().total} of all",
    f"{batch.MOST_OF_SENDER} tables of an address are scored at once, {batch.MOST} of all",
    f"{visitor_queries.MEMORY_MB} MB of DuckDB and {visitor_queries.ADDRESS_SPACE // 1_000_000} MB of address space, "
    f"{visitor_queries.SECONDS:.0f} s until it is interrupted and {visitor_queries.GRACE:.0f} s more",
    f"{sandbox.MOST} at a time and one of each visitor, {visitor_queries.MOST_ROWS:,} rows, "
    f"{visitor_queries.MOST_COLUMNS} columns, {visitor_queries.MOST_BYTES // 1_000_000} MB",
    f"two requests to the endpoint each; {panel.JUDGE_RATE:.0f} unless set",
    f"{inputs.LARGEST_IMAGE // 1_000_000} MB",
    f"{inputs.MEGAPIXELS} megapixels",
    f"{inputs.LONGEST:,} characters of a text",
    f"{live.MOST_MODELS} models of a question, none of which is started after {live.LONGEST:.0f} s; "
    f"{inputs.LONGEST_FOR_LMM:,} characters of all texts",
    f"a map's program is ended after {atlas.LONGEST} s",
    f"{bodies.IN_FLIGHT // 1_000_000} MB of all bodies, of events {request_filter.EVENTS_IN_FLIGHT // 1_000_000} MB",
    f"{bodies.BODIES} bodies for one visitor",
    f"{request_filter.LARGEST_EVENT // 1_000_000} MB of one event",
    f"{bodies.SLOWEST // 1000} kB a second on average, at most {bodies.IDLE:.0f} s behind",
    f"{bodies.READING:.0f} s in all",
    f"after {chunks.FREE_CHUNKS:,} chunks, those of less than {chunks.SMALLEST} bytes on average",
    f"{connections.HEAD:.0f} s for the head of a request; above {connections.MOST:,} connections",
    f"{UploadLimits().image_bytes // 1_000_000} MB of decoded images a visit",
    f"{UploadLimits().total_bytes // 1_000_000} MB of all",
)


def test_every_variable_is_explained() -> None:
    code = "\n".join(path.read_text() for room in ("compute", "leaderboard") for path in (ROOT / room).rglob("*.py"))
    explained = VARIABLE.findall(README.read_text() + SECURITY.read_text())
    assert set(VARIABLE.findall(code)) <= set(explained)
    assert set(VARIABLE.findall(SECURITY.read_text())) <= set(VARIABLE.findall(README.read_text()))


def test_every_variable_of_security_stands_in_the_code_or_is_built_there() -> None:
    code = "\n".join(path.read_text() for room in ("compute", "leaderboard") for path in (ROOT / room).rglob("*.py"))
    for variable in set(VARIABLE.findall(SECURITY.read_text())):
        name = variable.removeprefix("LIKENESS_ENDPOINT_")
        assert variable in code or f'"{name}"' in code, variable


def test_the_files_that_security_names_exist() -> None:
    named = re.findall(r"`((?:compute|leaderboard|tests)/[\w/.]*)`", SECURITY.read_text())
    assert len(named) > 15 and [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_the_limits_are_those_of_the_code(limit: str) -> None:
    assert limit in SECURITY.read_text()


def test_the_readme_leads_to_it() -> None:
    assert "(SECURITY.md)" in README.read_text()


def test_the_readme_says_how_many_requests_a_program_may_send() -> None:
    assert f"A client has at most {QueueLimits().session} requests waiting or running" in README.read_text()
