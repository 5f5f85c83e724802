"""Claims as data: how many verdicts there are, that rows and code meet, and how a number is judged."""

from __future__ import annotations

from collections import Counter

import pytest

from compute.claims import verdict
from compute.claims.verdict import Check, claims_of, decimals, judge, listing, shown, texts
from compute.database.build import all_claims
from compute.types import SEVERITIES, VERDICTS, BadInput

# In the order of VERDICTS: conflict, tables differ, not significant, rounding, cannot be recomputed, reproduces.
COUNTS = {
    "UniSim-Bench": (35, 0, 5, 13, 16, 667),
    "PairBench": (10, 0, 1, 7, 56, 26),
    "MIEB": (25, 3, 0, 43, 44, 861),
    "cFreD": (17, 0, 0, 4, 17, 56),
}
ROW = {
    "paper": "P",
    "where": "Table 1",
    "claim": "{name}",
    "printed": "{printed}",
    "formula": "",
    "note": "",
    "verdict": "",
    "severity": "table",
    "why": "",
}


def test_verdicts_of_every_paper() -> None:
    listed = all_claims()
    counts = Counter((claim.paper, claim.verdict) for claim in listed)
    assert len(listed) == sum(map(sum, COUNTS.values())) == 1906
    assert {paper: tuple(counts[paper, name] for name in VERDICTS) for paper in COUNTS} == COUNTS
    assert set(texts()) and {row["paper"] for row in texts().values()} == set(COUNTS)


def test_no_placeholder_is_left_and_no_text_is_empty() -> None:
    for claim in all_claims():
        assert claim.claim and claim.where
        assert not set("{}") & set(claim.claim + claim.where + claim.printed + claim.note + claim.formula)
        assert "nan" not in claim.recomputed.split()


def test_every_claim_has_a_severity_and_every_headline_says_why_it_matters() -> None:
    rows = {key: row for key, row in texts().items() if "/" not in key}
    assert {row["severity"] for row in rows.values()} == set(SEVERITIES)
    assert [key for key, row in rows.items() if row["severity"] == "headline" and len(row["why"].split()) < 6] == []
    notes = [row for key, row in texts().items() if "/" in key]
    assert {row["severity"] + row["why"] for row in notes} == {""}
    headlines = Counter(claim.paper for claim in all_claims() if claim.severity == "headline")
    assert set(headlines) == set(COUNTS) and max(headlines.values()) < 30, "a headline is rare"


def test_the_keys_of_claims_are_their_own() -> None:
    keys = [claim.key for claim in all_claims()]
    assert len(set(keys)) == len(keys)
    families = {key for key in texts() if "/" not in key}
    own = {
        f"{family}/{word}"
        for claim in all_claims()
        if (family := claim.key.partition("/")[0]) in families
        for word in (claim.claim, claim.verdict)
    }
    assert {key for key in texts() if "/" in key} <= own, "a note is on a claim that exists"
    assert {"mieb-tasks", "cfred-table-3-rho/of-mps-with-human-preference-on-coco"} <= set(keys)


def made(rows: dict[str, dict[str, str]], checks: dict[str, Check | list[Check]], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verdict, "texts", lambda: {key: ROW | row for key, row in rows.items()})
    return claims_of("P", (lambda: checks,))


def test_a_family_and_its_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        "family": {"note": "All."},
        "family/b": {"note": "Only b."},
        "family/conflict": {"note": "Conflicts."},
        "stated": {"claim": "s", "printed": "half", "verdict": "cannot be recomputed"},
        "text": {"claim": "t", "printed": "4 of 4"},
    }
    checks = {
        "family": [
            Check(value=1.04, words={"name": "a", "printed": "1.0"}),
            Check(value=2, words={"name": "b", "printed": "1"}),
        ],
        "text": Check("4 of 4"),
    }
    listed = [(row.claim, row.recomputed, row.verdict, row.note) for row in made(rows, checks, monkeypatch)]
    assert listed == [
        ("a", "1.040", "reproduces", "All."),
        ("b", "2", "conflict", listed[1][3]),
        ("s", "", "cannot be recomputed", ""),
        ("t", "4 of 4", "reproduces", ""),
    ]
    assert listed[1][3] == "All. Only b. Conflicts."
    assert [row.key for row in made(rows, checks, monkeypatch)] == ["family/a", "family/b", "stated", "text"]


@pytest.mark.parametrize(
    ("rows", "checks", "message"),
    [
        ({"a": {}}, {}, r"differ in \['a'\]"),
        ({}, {"a": Check("x")}, r"differ in \['a'\]"),
        ({"a": {"verdict": "conflict"}}, {"a": Check("x")}, r"differ in \['a'\]"),
    ],
    ids=["row without code", "code without row", "both"],
)
def test_rows_and_code_meet(rows, checks, message, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=message):
        made(rows, checks, monkeypatch)


@pytest.mark.parametrize(
    ("printed", "recomputed", "slack", "expected"),
    [
        ("72.6", 72.65, 0.0, "reproduces"),  # half up or half to even
        ("72.6", 72.66, 0.0, "conflict"),
        ("72.6", 72.66, 0.05, "rounding"),
        ("82.4%", 82.44, 0.0, "reproduces"),
        ("88K", 86.3, 0.0, "conflict"),
        ("1.3M", 1.302, 0.0, "reproduces"),
        ("1", None, 0.0, "cannot be recomputed"),
        ("1", float("nan"), 0.0, "cannot be recomputed"),
    ],
)
def test_judge(printed: str, recomputed: float | None, slack: float, expected: str) -> None:
    assert judge(printed, recomputed, slack=slack) == expected


def test_a_text_is_not_judged_as_a_number() -> None:
    assert decimals("72.60%") == 2 and decimals("88K") == 0
    for text in ("nearly 50%", "nan"):
        with pytest.raises(BadInput, match="number"):
            judge(text, 1.0)


def test_figures_in_words_are_rounded_as_everywhere() -> None:
    """Half to even on the decimal: 37.45 is 37.4, whatever its binary approximation."""
    assert listing({"a": 37.45, "b": 37.55}) == "a 37.4, b 37.6"
    assert shown(0.3745 * 100, like="37") == "37.45" and shown(1.00125, like="1.00") == "1.0012"
