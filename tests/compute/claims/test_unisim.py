"""UniSim-Bench's claims: a few checked by hand, and none without a verdict."""

from __future__ import annotations

import pandas as pd
import pytest

from compute.claims import unisim
from compute.claims.unisim import taus
from compute.claims.verdict import NOT_SIGNIFICANT
from compute.types import Claim

CLAIMS = unisim.claims()


def find(claim: str, where: str) -> Claim:
    matches = [row for row in CLAIMS if row.claim == claim and row.where == where]
    assert len(matches) == 1, (claim, where, len(matches))
    return matches[0]


@pytest.mark.parametrize(
    ("claim", "where", "printed", "recomputed", "verdict"),
    [
        # (85.1 + 68.6 + 80.2) / 3 = 77.967
        ("CLIP ViT-B/32, Img-2AFC average", "Table 2", "78.0", "77.967", "reproduces"),
        # (57.1 + 67.0 + 79.9) / 3 = 68.0
        ("LLaVA-NeXT-7B, Img-2AFC average", "Table 6", "79.4", "68.000", "conflict"),
        # (27.3 + 57.2) / 2 = 42.25 rounds to 42.2 or 42.3
        ("DS Ensemble, IR average", "Table 8", "42.2", "42.250", "reproduces"),
        # 196 * sqrt(0.851 * 0.149 / 1824) = 1.634
        ("CLIP ViT-B/32, NIGHTS, 95% interval", "Table 6", "1.6", "1.634", "reproduces"),
        ("Mantis Idefics-8B, HQ-EDIT (text), 95% interval", "Table 6", "1.8", "1.646", "conflict"),
        ("Qwen2-VL-7B, IMAGEREWARD, 95% interval", "Table 6", "", "4.808", "cannot be recomputed"),
        # (70.3 + 74.9 + 78.3 + 69.5) / 4 = 73.25
        (
            "Average of the smallest InternVL2.5 model on core tasks",
            "Section 4.4",
            "73.0",
            "73.25",
            "conflict",
        ),
        ("Test samples in total", "Table 1", "88K", "86.3K", "conflict"),
        ("Training samples in total", "Table 5", "1.3M", "1.30M", "reproduces"),
    ],
)
def test_checked_by_hand(claim: str, where: str, printed: str, recomputed: str, verdict: str) -> None:
    row = find(claim, where)
    assert (row.printed, row.recomputed, row.verdict) == (printed, recomputed, verdict)


def test_figure_3_by_hand() -> None:
    tie = pd.DataFrame({"a": [1.0, 2.0, 3.0, None], "b": [1.0, 3.0, 2.0, 9.0]})
    assert taus(tie, [("a", "b")])["a-b"] == pytest.approx(1 / 3)  # 2 pairs agree, 1 does not
    maps = {row.claim: row for row in CLAIMS if "Figure 3" in row.where}
    general = maps["Core tasks correlate positively among general-purpose models"]
    assert general.verdict == "not significant" and "Img-2AFC-Text-2AFC −0.03" in general.recomputed
    assert "IT-2AFC-Text-2AFC 0.54" in general.recomputed
    special = maps["Core tasks correlate weakly or negatively among specialised models"]
    assert special.verdict == "not significant" and "IT-2AFC-IQA −0.60" in special.recomputed


@pytest.mark.parametrize(
    ("tau", "models", "claim", "verdict"),
    [
        (0.4, 12, "none", NOT_SIGNIFICANT),  # p = 0.09
        (0.9, 12, "none", False),
        (-0.9, 12, "none", False),
        (-0.9, 12, "weak", True),
        (0.9, 12, "weak", False),
        (0.6, 5, "weak", NOT_SIGNIFICANT),
        (0.0, 400, "none", True),
        (0.2, 400, "none", False),
        (0.2, 400, "weak", True),
        (-0.03, 12, "positive", NOT_SIGNIFICANT),  # p = 0.89
        (0.9, 12, "positive", True),
        (-0.9, 12, "positive", False),
    ],
)
def test_a_claim_on_a_correlation_stands_or_falls_only_where_its_interval_says_so(
    tau: float, models: int, claim: str, verdict: bool | str
) -> None:
    frame = pd.DataFrame({"a": range(models), "b": permutation(models, tau=tau)})
    check = unisim.correlations(frame.astype(float), [("a", "b")], claim=claim)
    assert check.holds == verdict


def permutation(n: int, *, tau: float) -> list[int]:
    """An order of 0..n-1 whose Kendall tau with the identity is as near to `tau` as inversions allow."""
    left, order = round((1 - tau) / 2 * n * (n - 1) / 2), []
    for item in range(n):
        steps = min(left, item)
        order.insert(item - steps, item)
        left -= steps
    return order


def test_an_interval_moved_by_the_formula_does_not_count_as_reproduced() -> None:
    moved = [row for row in CLAIMS if "Moved one column right" in row.note]
    assert len(moved) == 11
    assert {row.verdict for row in moved} == {"cannot be recomputed"}
    assert all(row.printed and row.recomputed for row in moved)
    lost = [row for row in CLAIMS if row.note.startswith("Lost:")]
    assert [(row.claim, row.printed) for row in lost] == [
        ("Qwen2-VL-7B, IMAGEREWARD, 95% interval", ""),
        ("IR BLIP, AGIQA-3K (alignment), 95% interval", ""),
    ]
