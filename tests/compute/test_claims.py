"""The papers' claims: some worked by hand. The freeze has how every row becomes a claim, and all verdicts."""

import numpy as np
import pytest

from compute import claims, paths
from compute.claims import PAPERS, all_claims, printed_tables, read_paper, rho_slack
from compute.metrics.agreement import squared_correlation
from compute.metrics.judge import evenness


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
