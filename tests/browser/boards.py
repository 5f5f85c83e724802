"""What tests of the board share: its rows, headers, and its parameters in the address."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

BOARD = ".likeness-board"
ROWS = """() => [...document.querySelectorAll('.lk-body .lk-row')].map((row) => ({
  place: Number(row.getAttribute('aria-rowindex')),
  title: row.querySelector('.lk-name')?.textContent,
  rank: row.querySelector('.lk-rank b')?.textContent,
})).sort((one, other) => one.place - other.place)"""


def own_query(page: Any) -> dict[str, str]:
    """The address's parameters, the theme apart."""
    given = parse_qs(page.evaluate("location.search.slice(1)"))  # Playwright hears of a change later
    return {key: values[0] for key, values in given.items() if key != "__theme"}


def header(page: Any, key: str) -> Any:
    return page.locator(f'.lk-titles [data-key="{key}"]')


def idle(page: Any) -> None:
    page.wait_for_selector(f"{BOARD}:not([aria-busy])[data-ready=true]")


def wait_query(page: Any, key: str, value: str | None) -> None:
    """Until the address carries the parameter (or, with None, does not)."""
    page.wait_for_function(
        "([key, value]) => new URLSearchParams(location.search).get(key) === value", arg=[key, value]
    )
