"""Nothing that a visitor reads moves while a page loads: the layout shift of every view, as browsers measure it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.pages import VIEWS
from tests.browser.test_pages import settle

MOST = 0.1  # what browsers call good
VIEWS_OF_DATA = ("board?suite=mieb", "model?model=openai/clip-vit-base-patch32", "task?task=unisim/imagenet-ooo")
ADDRESSES = [*(view.key for view in VIEWS), *VIEWS_OF_DATA]
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
    const moved = sources.map(({ node, previousRect, currentRect }) =>
      `${node?.nodeName} ${node?.id ?? ''} ${node?.className ?? ''} from ${previousRect.y} to ${currentRect.y}`);
    if (!hadRecentInput) window.shifts.push({ value, at: startTime, moved });
  }
}).observe({ type: 'layout-shift', buffered: true });
"""


def layout_shift(shifts: list[dict[str, Any]]) -> float:
    """The largest sum in one session: shifts less than 1 s apart, for at most 5 s, as web.dev/articles/cls has it."""
    most = total = began = last = 0.0
    for shift in shifts:
        if not total or shift["at"] - last > 1000 or shift["at"] - began > 5000:
            began, total = shift["at"], 0.0
        total, last = total + shift["value"], shift["at"]
        most = max(most, total)
    return most


def test_sessions_end_after_a_pause_and_after_five_seconds() -> None:
    def shifts(*ends: float) -> list[dict[str, Any]]:
        return [{"value": 0.06, "at": at} for at in ends]

    assert layout_shift([]) == 0
    assert layout_shift(shifts(0, 500)) == pytest.approx(0.12)
    assert layout_shift(shifts(0, 1600)) == pytest.approx(0.06)
    assert layout_shift(shifts(0, 900, 1800, 2700, 3600, 4500, 5400)) == pytest.approx(0.36)


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("address", ADDRESSES, ids=[address or "overview" for address in ADDRESSES])
def test_a_page_stands_still_while_it_loads(visit: Callable[..., Any], address: str, width: int) -> None:
    page = visit(address, width=width, before=lambda page: page.add_init_script(WATCH))
    settle(page)
    shifts = page.evaluate("window.shifts")
    assert layout_shift(shifts) < MOST, shifts
