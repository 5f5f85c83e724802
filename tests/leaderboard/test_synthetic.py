"""The mark of drawn items: it stands where they are shown, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from leaderboard import export, synthetic
from leaderboard.board import payload
from leaderboard.views import task


def test_only_the_drawn_benchmark_is_marked() -> None:
    assert synthetic.is_synthetic("mini") and not synthetic.is_synthetic("mieb") and not synthetic.is_synthetic(None)
    assert "synthetic" in synthetic.badge("mini") and synthetic.badge("unisim") == ""
    assert synthetic.SENTENCE in synthetic.note("mini") and synthetic.note("unisim") == ""


def test_a_title_is_marked_once() -> None:
    suites = pd.DataFrame({"key": ["mini", "m", "mieb"], "title": ["Mini", "Mini (Synthetic)", "MIEB"],
                           "benchmark": ["mini", "mini", "mieb"]})
    assert synthetic.listed(suites) == [("Mini (synthetic)", "mini"), ("Mini (Synthetic)", "m"), ("MIEB", "mieb")]


def test_the_suite_is_marked_on_the_board_and_in_its_exports(boards) -> None:
    facts = payload.suite_facts(boards.table("mini"))
    assert facts["synthetic"] and "synthetic" in facts["description"].lower()
    assert not payload.suite_facts(boards.table("mieb"))["synthetic"]
    listed = payload.board(boards.db, boards.table("mieb"), boards.ranked("mieb"))["suites"]
    assert [one["key"] for one in listed if one["synthetic"]] == ["mini"]
    assert not any("synthetic" in one["title"].lower() for one in listed), "the mark stands beside the title"
    assert "synthetic" in export._caption(boards.table("mini")).lower()


def test_its_task_says_so_first(boards) -> None:
    site = SimpleNamespace(db=boards.db, boards=boards)
    head, _, items, _ = task.page(site, task="mini/things", related=lambda suite: None)
    assert head.index(synthetic.SENTENCE) < head.index("pg-facts") and "pg-synthetic" in head
    assert items.count("pg-synthetic") == 2  # single items, and the map
