"""Many pairs at once, in the browser: a table goes out, scores come back, and others are answered meanwhile."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from tests.compute.live import zips
from tests.compute.live.pictures import png

HOSTILE = '<img src=x onerror="window.harmed=1">${window.harmed=1}{{7*7}}'
PLACE, TRAY = ".likeness-batch", ".likeness-tray[data-ready=true]"


@pytest.fixture
def opened(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the page with models ticked, the tiny one at least, and the part for tables."""

    def open_part(*, models: str = "tiny", inputs: str = "astronaut,text-astronaut", **how: Any) -> Any:
        page = visit(f"compare?models={models}&inputs={inputs}", ready=TRAY, **how)
        page.locator(f"{PLACE} summary").click()
        return page

    return open_part


def add(page: Any, data: bytes, name: str = "pairs.csv") -> None:
    page.locator(f"{PLACE} input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )


def ended(page: Any, *, timeout: float = 120_000) -> str:
    """What is said in the end."""
    page.locator(f"{PLACE}[data-state=idle]").wait_for(timeout=timeout)
    return page.locator(f"{PLACE} [role=status]").inner_text()


def downloaded(page: Any) -> list[dict[str, str]]:
    with page.expect_download() as file:
        page.locator(f"{PLACE} .bt-download").click()
    assert file.value.suggested_filename == "likeness-pairs.csv"
    with open(file.value.path(), encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_the_sample_is_scored_and_comes_back_as_a_file(opened: Callable[..., Any]) -> None:
    page = opened()
    with page.expect_download() as sample:
        page.locator(f"{PLACE} .bt-sample").click()
    with open(sample.value.path(), encoding="utf-8", newline="") as text:
        asked = list(csv.DictReader(text))
    assert len(asked) > 3 and {key for row in asked for key in row} == {"name", "first", "second"}
    page.get_by_role("button", name="Run the sample").click()
    page.locator(f"{PLACE} .bt-download").wait_for(timeout=120_000)
    assert ended(page) == f"{len(asked)} pairs done."
    found = downloaded(page)
    assert [(row["name"], row["first"], row["second"]) for row in found] == [tuple(row.values()) for row in asked]
    assert all(-1 <= float(row["tiny score"]) <= 1 and row["problem"] == "" for row in found)
    assert page.locator(f"{PLACE} tbody tr").count() == min(10, len(asked))


def test_images_in_a_zip_and_rows_that_fail_or_would_do_harm(opened: Callable[..., Any]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows(
        [
            ["first", "second", "name"],
            ["red.png", "a red square", "=cmd()"],
            ["red.png", "none.png", HOSTILE],
            ["red.png", HOSTILE, "third"],
        ]
    )
    page = opened(dark=True)
    add(page, zips.packed({"set/a.csv": out.getvalue().encode(), "set/red.png": png("red")}), "set.zip")
    assert ended(page) == "3 pairs done. 1 row without every score: the column problem says why."
    first, second, third = downloaded(page)
    assert first["name"] == "'=cmd()" and first["tiny score"] and third["tiny score"]
    assert second["tiny score"] == "" and second["problem"].startswith("There is no image none.png in the ZIP")
    assert third["second"] == HOSTILE and page.locator(f"{PLACE} img").count() == 0
    assert page.evaluate("window.harmed") is None


def test_a_file_that_cannot_be_used_is_a_sentence_each_time(opened: Callable[..., Any]) -> None:
    page = opened(width=390)
    for turn in range(2):  # the second is as new as the first
        add(page, b"left,right\na,b\n")
        page.locator(f"{PLACE}[data-turn='{turn + 1}']").wait_for()
        assert ended(page).startswith("The table needs a heading with the columns first and second")
    add(page, b"")
    page.locator(f"{PLACE} [role=status]").get_by_text("pairs.csv is empty.", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_others_are_answered_while_a_table_is_at_work_and_a_cancel_keeps_what_is_done(
    opened: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = opened(models="tiny,ms-ssim", inputs="astronaut,rocket")
    pictures = {f"{number}.png": png("red", (2000 + number, 1500)) for number in range(21)}
    table = "first,second\n" + "".join(f"{one}.png,{two}.png\n" for one, two in [*combinations(range(21), 2)][:200])
    add(page, zips.packed({"a.csv": table.encode(), **pictures}), "long.zip")
    page.locator(f"{PLACE}[data-state=running]").wait_for(timeout=120_000)
    other = visit("compare?mode=pair&models=tiny&inputs=astronaut,text-astronaut", ready=TRAY)
    other.locator(".cp-result[data-done=yes]").wait_for(timeout=120_000)
    assert page.locator(PLACE).get_attribute("data-state") == "running"
    page.get_by_role("button", name="Cancel", exact=True).click()
    said = ended(page)
    found = downloaded(page)
    assert said.startswith("Stopped: ") and 0 < len(found) < 200 and any(row["tiny score"] for row in found)
    assert said.split()[1] == str(sum(row["problem"] == "" for row in found)) and "of 200 pairs" in said
    assert {row["problem"] for row in found if not row["ms-ssim score"]} <= {"ms-ssim: Stopped before its turn"}
