"""The mark of drawn items: it stands where they are shown, and nowhere else."""

from __future__ import annotations

import pandas as pd

from leaderboard.html import synthetic


def test_only_the_drawn_benchmark_is_marked() -> None:
    assert synthetic.is_synthetic("mini") and not synthetic.is_synthetic("mieb") and not synthetic.is_synthetic(None)
    assert "synthetic" in synthetic.badge("mini") and synthetic.badge("unisim") == ""
    assert synthetic.SENTENCE in synthetic.note("mini") and synthetic.note("unisim") == ""


def test_a_title_is_marked_once() -> None:
    suites = pd.DataFrame(
        {
            "key": ["mini", "m", "mieb"],
            "title": ["Mini", "Mini (Synthetic)", "MIEB"],
            "benchmark": ["mini", "mini", "mieb"],
        }
    )
    assert synthetic.listed(suites) == [("Mini (synthetic)", "mini"), ("Mini (Synthetic)", "m"), ("MIEB", "mieb")]
