"""MIEB's claims: counts by verdict, known verdicts, and that a changed figure changes the verdict."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from compute.claims import mieb
from compute.claims.mieb import TABLE_2, across_languages, cells, half, long_names, mean_of
from compute.claims.tables import column_checks
from compute.claims.verdict import judge
from compute.types import Claim


@pytest.fixture(scope="module")
def found() -> list[Claim]:
    return mieb.claims()


def one(found: list[Claim], statement: str, where: str) -> Claim:
    matches = [claim for claim in found if claim.claim == statement and claim.where == where]
    assert len(matches) == 1
    return matches[0]


@pytest.mark.parametrize(
    ("statement", "where", "printed", "recomputed", "verdict"),
    [
        ("voyage-multimodal-3: Clus. (5)", "Table 22", "82.41", "82.4120", "reproduces"),
        ("Tasks behind Mean (Eng.)", "Table 22, heading", "125", "120", "conflict"),
        ("E5-V: saving by MIEB-lite", "Table 5", "82.4%", "82.424", "reproduces"),
        ("E5-V: average over the languages of xFlickr&CO", "Table 3", "90.8", "83.169", "conflict"),
        ("royokong/e5-v: average nDCG@5 on ViDoRe", "Section 5.7", "62.69", "62.6870", "reproduces"),
        (
            "Linear probing is generally the category with the highest average",
            "Section 5.4",
            "generally the highest",
            "LP. is highest for 10 of 20 models",
            "cannot be recomputed",
        ),
        ("Overall rank of E5-V", "Tables 2 and 22", "2", "4", "tables differ"),
        ("BLIP models among the five best in vision-centric QA", "Section 5.9", "2", "1", "conflict"),
        (
            "The figures agree with the public result files of the same models",
            "Tables 9 to 21",
            "the same",
            "12 of 5,698 differ by more than 0.5 points; mean difference +0.028",
            "tables differ",
        ),
    ],
)
def test_known_verdicts(found: list[Claim], statement: str, where: str, printed: str, recomputed: str, verdict: str):
    claim = one(found, statement, where)
    assert (claim.printed, claim.recomputed, claim.verdict) == (printed, recomputed, verdict)


def test_public_files_that_are_not_here_leave_their_claim_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(mieb.paths, "IMPORTED", tmp_path)
    (claim,) = (claim for claim in mieb.claims() if claim.key == "mieb-public-files")
    assert (claim.verdict, claim.recomputed) == ("cannot be recomputed", "")


def test_rules_cover_the_counts_of_the_headings():
    def counts(*, lite: bool) -> dict[str, int]:
        return {
            column: len(sum((names for _, names in cells(*tables, lite=lite)), []))
            for column, tables in TABLE_2.items()
        }

    full = counts(lite=False)
    del full["Rtrv."]  # Table 21 splits its tasks otherwise
    assert full == {"Clus.": 5, "ZS.": 23, "LP.": 22, "Cmp.": 7, "VC.": 6, "Doc.": 10, "vSTS (en)": 7}
    assert counts(lite=True) == {
        "Rtrv.": 11,
        "Clus.": 2,
        "ZS.": 7,
        "LP.": 8,
        "Cmp.": 6,
        "VC.": 5,
        "Doc.": 6,
        "vSTS (en)": 2,
    }


def test_a_lost_cell_leaves_no_average(monkeypatch: pytest.MonkeyPatch):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, float("nan")]}, index=["whole", "torn"])
    monkeypatch.setattr(mieb, "figures", lambda table: frame)
    means = mean_of(((9, ["a", "b"]),))
    text = pd.Series("2.0", index=["whole", "torn", "absent"])
    verdicts = [judge("2.0", check.value) for check in column_checks(text, means)]
    assert means["whole"] == 2.0
    assert verdicts == ["reproduces", "cannot be recomputed", "cannot be recomputed"]


def test_a_changed_cell_is_a_conflict():
    text = half("MIEB Full")["Doc."].copy()
    text["E5-V"] = "62.9"
    checks = column_checks(text, mean_of(cells(*TABLE_2["Doc."])), slack=0.01, names=long_names())
    verdicts = {check.words["name"]: judge(check.words["printed"], check.value, slack=check.slack) for check in checks}
    assert verdicts["E5-V"] == "conflict"
    assert verdicts["Voyage-multimodal-3"] == "reproduces"


def test_across_languages_is_the_mean_of_two_means():
    assert across_languages()["voyage-multimodal-3"] == pytest.approx((67.785 + 73.0489) / 2, abs=1e-3)
