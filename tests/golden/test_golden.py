"""Rankings, boards, claims, runs and distances are what they were; see `outputs.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.golden import outputs


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with outputs.site() as found:
        yield found


def same(before: str, now: str) -> bool:
    try:
        return float(now) == pytest.approx(float(before), rel=1e-4, abs=1e-7)
    except ValueError:
        return before == now


def check(name: str, table: outputs.Table) -> None:
    differences = [
        f"before {before}\n   now {now}"
        for before, now in zip_longest(outputs.stored(name), table)
        if before is None or now is None or len(before) != len(now) or not all(map(same, before, now))
    ]
    assert not differences, f"{name}: {len(differences)} rows differ\n" + "\n".join(differences[:20])


def test_rankings(client: Any) -> None:
    check("rankings", outputs.rankings(client))


def test_claims(client: Any) -> None:
    check("claims", outputs.claims(client))


@pytest.mark.parametrize("suite", outputs.BOARDS)
def test_boards(client: Any, suite: str) -> None:
    check(f"board-{suite}", outputs.board(client, suite))


def test_runs() -> None:
    check("runs", outputs.runs())


def test_frechet() -> None:
    check("frechet", outputs.frechet())


@pytest.mark.parametrize("table", sorted((outputs.HERE / "tables").glob("*.csv")), ids=lambda path: path.stem)
def test_rank(table: Path) -> None:
    check(f"rank-{table.stem}", outputs.rank(table))
