"""The papers' claims: some worked by hand, and how a row becomes a claim. The freeze has all verdicts."""

import shutil

import numpy as np
import pytest

from compute import claims, paths
from compute.claims import PAPERS, all_claims, decimals, judge, printed_tables, read_paper, rho_slack, shown
from compute.metrics.agreement import squared_correlation
from compute.metrics.judge import evenness
from compute.types import BadInput


@pytest.fixture(scope="module")
def tables():
    with printed_tables() as opened:
        for name in PAPERS:
            read_paper(name, opened)
        yield opened


def test_public_files_that_are_not_here_leave_their_claim_open(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "IMPORTED", tmp_path)
    (claim,) = (claim for claim in all_claims() if claim.key == "mieb-public-files")
    assert (claim.verdict, claim.recomputed) == (claims.CANNOT, "") and "not here" in claim.note


@pytest.mark.parametrize(
    "tau, models, claimed, verdict",
    [
        (0.4, 12, "none", "not significant"),  # p = 0.09
        (0.9, 12, "none", "conflict"),
        (-0.9, 12, "none", "conflict"),
        (-0.9, 12, "weak", "reproduces"),
        (0.9, 12, "weak", "conflict"),
        (0.6, 5, "weak", "not significant"),
        (0.0, 400, "none", "reproduces"),
        (0.2, 400, "none", "conflict"),
        (0.2, 400, "weak", "reproduces"),
        (-0.03, 12, "positive", "not significant"),  # p = 0.89
        (0.9, 12, "positive", "reproduces"),
        (-0.9, 12, "positive", "conflict"),
        (1.0, 12, "positive", "not significant"),  # no interval
    ],
)
def test_a_claim_on_a_correlation_stands_or_falls_only_where_its_interval_says_so(
    tables, tau, models, claimed, verdict
):
    tables.execute("INSERT INTO taus VALUES (?, 'a-b', 'core', 0, ?, ?)", [f"{tau} {models}", models, tau])
    (held,) = tables.execute(
        "SELECT DISTINCT holds FROM figure_3(?, 'a-b', ?)", [f"{tau} {models}", claimed]
    ).fetchone()
    assert held == verdict


def test_slack_bounds_what_rounding_can_do(tables):
    rng = np.random.default_rng(1)
    scores, human = np.array([0.94, 0.63, 0.39, 0.29]), np.array([69.84, 46.10, 42.68, 29.21])
    centre, half = squared_correlation(scores=scores, human=human), [0.005] * 4
    slack = rho_slack(scores, human, half, half)
    for _ in range(200):
        moved = [values + rng.uniform(-0.005, 0.005, 4) for values in (scores, human)]
        assert abs(squared_correlation(scores=moved[0], human=moved[1]) - centre) <= slack * 1.01
    assert rho_slack(scores, human, [0] * 4, [0] * 4) == 0
    splits = tables.execute("FROM splits WHERE slack IS NOT NULL AND least(sensitive, invariant) > 1").df()
    assert len(splits) > 400
    assert splits["control"].to_numpy() == pytest.approx(
        100 * evenness(sensitive=splits["sensitive"], invariant=splits["invariant"])
    )
    for _ in range(50):
        a, b = (splits[name] + rng.uniform(-0.005, 0.005, len(splits)) for name in ("sensitive", "invariant"))
        moved = 100 * evenness(sensitive=a, invariant=b)
        assert (np.abs(moved - splits["control"]) <= splits["slack"] + 1e-9).all()


MADE = """
paper = "P"
tables = "CREATE TABLE made AS FROM (VALUES ('a', '1.0', 1.04), ('b', '1', 2.0), ('c', '', NULL)) t(name, text, value)"
[claims.family]
severity = "table"
where = "Table 1"
claim = "{name}"
printed = "{text}"
note = "All."
query = "FROM made ORDER BY name"
notes = {b = "Only b.", conflict = "Conflicts."}
[claims.stated]
severity = "table"
where = "Section 1"
claim = "s"
printed = "half"
verdict = "cannot be recomputed"
[claims.text]
severity = "table"
where = "Section 2"
claim = "t"
printed = "4 of 4"
recomputed = "{n} of 4"
query = "SELECT 4 AS n"
[claims.held]
severity = "detail"
where = "Section 3"
claim = "u"
recomputed = "gap {gap:+.1f}"
query = "SELECT -0.25::DOUBLE AS gap, gap > 0 AS holds"
"""


def test_a_row_with_placeholders_is_a_family_with_notes(monkeypatch, tmp_path):
    shutil.copy(paths.CLAIMS / "common.sql", tmp_path)
    (tmp_path / "made.toml").write_text(MADE)
    monkeypatch.setattr(paths, "CLAIMS", tmp_path)
    monkeypatch.setattr(claims, "PAPERS", ("made",))
    assert [(row.key, row.claim, row.recomputed, row.verdict, row.note) for row in all_claims()] == [
        ("family/a", "a", "1.040", "reproduces", "All."),
        ("family/b", "b", "2.00", "conflict", "All. Only b. Conflicts."),
        ("family/c", "c", "", "cannot be recomputed", "All."),
        ("stated", "s", "", "cannot be recomputed", ""),
        ("text", "t", "4 of 4", "reproduces", ""),
        ("held", "u", "gap −0.2", "conflict", ""),
    ]


@pytest.mark.parametrize(
    "printed, recomputed, slack, expected",
    [
        ("72.6", 72.65, 0.0, "reproduces"),  # half up or half to even
        ("72.6", 72.66, 0.0, "conflict"),
        ("72.6", 72.66, 0.05, "rounding"),
        ("82.4%", 82.44, 0.0, "reproduces"),
        ("88K", 86.3, 0.0, "conflict"),
        ("1.3M", 1.302, 0.0, "reproduces"),
        ("1", None, 0.0, "cannot be recomputed"),
    ],
)
def test_judge(printed, recomputed, slack, expected):
    assert judge(printed, recomputed, slack=slack) == expected


def test_a_text_is_not_judged_as_a_number():
    assert decimals("72.60%") == 2 and decimals("88K") == 0
    for text in ("nearly 50%", "nan"):
        with pytest.raises(BadInput, match="number"):
            judge(text, 1.0)


def test_numbers_are_rounded_as_everywhere():
    """Half to even on the decimal: 37.45 is 37.4, whatever its binary approximation."""
    assert shown(0.3745 * 100, like="37") == "37.45" and shown(1.00125, like="1.00") == "1.0012"
    assert shown(23, like="23.0") == "23" and shown(None, like="1") == ""
