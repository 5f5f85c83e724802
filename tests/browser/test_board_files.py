"""The board's files, its size on a phone, its motion and its contrast."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from compute.rounding import rounded
from tests.browser.boards import ROWS, header, idle

# ---- files


def download(page: Any, scope: str, name: str) -> Any:
    """Presses one button of the export panel; the file's path, its own name kept."""
    page.get_by_role("button", name="Export", exact=True).click()
    panel = page.get_by_role("dialog", name="Export")
    with page.expect_download() as waiting:
        panel.get_by_role("button" if scope == "view" else "link", name=name, exact=True).click()
    if scope != "view":
        panel.press("Escape")
    return waiting.value


def test_the_view_comes_as_files_that_open_again(open_board: Callable, tmp_path: Path) -> None:
    """CSV, Parquet and JSON hold the rows of the view in its order; the texts hold a table; BibTeX cites the paper."""
    page = open_board("q=clip&sort=-mean&families=IQA&columns=unisim/nights&origin=published")
    titles = [row["title"] for row in page.evaluate(ROWS)]
    assert len(titles) > 3
    files = {}
    for name in ("CSV", "Parquet", "JSON", "Markdown", "LaTeX", "BibTeX"):
        got = download(page, "view", name)
        files[name] = tmp_path / got.suggested_filename
        got.save_as(files[name])
    assert [path.suffix for path in files.values()] == [".csv", ".parquet", ".json", ".md", ".tex", ".bib"]
    csv = pd.read_csv(files["CSV"])
    parquet = duckdb.sql(f"SELECT * FROM '{files['Parquet']}'").df()
    rows = json.loads(files["JSON"].read_text())
    assert list(csv["title"]) == list(parquet["title"]) == [row["title"] for row in rows] == titles
    assert list(csv.columns) == list(parquet.columns) == list(rows[0])
    assert {"rank", "rank_low", "rank_high", "mean", "mean_low", "mean_high", "IQA", "unisim/nights"} <= set(
        csv.columns
    )
    assert csv["IQA"].between(0, 100).all()
    place = header(page, "IQA").get_attribute("aria-colindex")
    cell = page.locator(f".lk-body .lk-row[aria-rowindex='3'] [aria-colindex='{place}']").inner_text()
    assert rounded(csv["IQA"].iloc[0], 1) == cell
    markdown, latex = files["Markdown"].read_text(), files["LaTeX"].read_text()
    assert sum(line.startswith("|") for line in markdown.splitlines()) == len(titles) + 2
    assert latex.count("\\begin{") == latex.count("\\end{") == 2 and "\\toprule" in latex
    assert re.search(r"@\w+\{\w+,.*author", files["BibTeX"].read_text(), re.DOTALL)


def test_weights_of_the_view_are_in_its_file(open_board: Callable, tmp_path: Path) -> None:
    page = open_board("w=Img-2AFC:0,IT-2AFC:0,Text-2AFC:0&origin=published")
    got = download(page, "view", "CSV")
    got.save_as(tmp_path / "view.csv")
    frame = pd.read_csv(tmp_path / "view.csv").dropna(subset=["mean"])
    assert len(frame) > 10
    assert ((frame["mean"] - frame["IQA"]).abs() < 0.01).all(), "only IQA counts, so the mean is IQA"


def test_everything_comes_as_files_that_open_again(open_board: Callable, tmp_path: Path) -> None:
    page = open_board()
    counts = set()
    for name in ("CSV", "Parquet", "JSON", "DuckDB file"):
        got = download(page, "everything", name)
        path = tmp_path / got.suggested_filename
        got.save_as(path)
        if name == "DuckDB file":
            with duckdb.connect(str(path), read_only=True) as database:
                counts.add(database.sql("SELECT count(*) FROM leaderboard_scores").fetchall()[0][0])
        else:
            reader = {"CSV": "read_csv", "Parquet": "read_parquet", "JSON": "read_json"}[name]
            counts.add(duckdb.sql(f"SELECT count(*) FROM {reader}('{path}')").fetchall()[0][0])
    assert len(counts) == 1 and counts.pop() > 5000


# ---- eyes


def test_on_a_phone_the_page_does_not_scroll_sideways(open_board: Callable) -> None:
    page = open_board("suite=mieb", width=390)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    cell = page.locator(".lk-body .lk-model").first.bounding_box()
    assert cell["x"] >= 0 and cell["width"] <= 200


@pytest.mark.parametrize("width", [390, 1280])
def test_a_name_fits_its_row_at_the_size_of_the_table(open_board: Callable, width: int) -> None:
    page = open_board(width=width)
    found = page.evaluate("""() => [...document.querySelectorAll('.lk-body .lk-model')].map((cell) => {
      const name = cell.querySelector('.lk-name');
      return [parseFloat(getComputedStyle(name).fontSize), name.offsetHeight <= cell.offsetHeight];
    })""")
    assert len(found) > 5
    assert all(size <= 15 and fits for size, fits in found), found[:3]


def test_reduced_motion_is_kept(open_board: Callable) -> None:
    page = open_board(reduced=True)
    page.get_by_role("button", name="Weights", exact=True).click()
    moving = page.evaluate("""() => {
      const nodes = [...document.querySelectorAll('.likeness-board, .likeness-board *')];
      return nodes.filter((node) => {
      const style = getComputedStyle(node);
      const longest = (text) => Math.max(...text.split(',').map(parseFloat));
      const animated = style.animationName !== 'none' && longest(style.animationDuration) > 0.01;
      return animated || longest(style.transitionDuration) > 0.01;
    }).map((node) => node.className);
    }""")
    assert moving == []


CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((byte) => byte / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  let checked = 0;
  for (const node of document.querySelectorAll('.lk-grid *, .lk-bar *, .lk-legend *, .lk-suites *, .lk-about')) {
    const text = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!text || !node.offsetParent || node.disabled) continue;
    checked += 1;
    const pair = [luminance(parse(getComputedStyle(node).color)), luminance(behind(node))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) weak.push(`${node.className} ${node.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return {checked, weak: weak.slice(0, 10)};
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("query", ["", "suite=mieb&coverage=0&columns=all", "suite=cfred-hpdv2", "w=IQA:3"])
def test_every_text_of_the_table_stands_out_from_what_is_behind_it(
    open_board: Callable, query: str, dark: bool
) -> None:
    """WCAG 2.2 contrast (relative luminance) of each drawn text, at least 4.5."""
    page = open_board(query, dark=dark)
    idle(page)
    assert page.evaluate("document.body.classList.contains('dark')") is dark
    found = page.evaluate(CONTRAST)
    assert found["checked"] > 60
    assert found["weak"] == []
