"""cFreD's claims: a few worked by hand, and every one with a verdict."""

from __future__ import annotations

import numpy as np
import pytest

from compute.claims.cfred import claims, listed, metrics, rounding_slack
from compute.metrics.agreement import squared_correlation
from compute.types import Claim


def named(text: str) -> Claim:
    found = [claim for claim in claims() if claim.claim == text]
    assert len(found) == 1, text
    return found[0]


def test_parti_by_hand():
    # Ranks 3, 2, 1, 4 against 1, 2, 3, 4: three of six pairs are turned round.
    assert metrics(2).at["Aesthetic", "accuracy"] == pytest.approx(50)
    # Ranks 4, 2, 1, 3: only the second and the third stay before the fourth, two of six pairs.
    assert metrics(2).at["MPS", "accuracy"] == pytest.approx(100 / 3)
    assert metrics(2).at["cFreD", "accuracy"] == 100


def test_wrong_way_correlations_are_named():
    wrong = {(table, name) for table in (1, 2, 3) for name, row in metrics(table).iterrows() if not row["right_way"]}
    assert wrong == {(1, "CLIP"), (2, "MPS"), (3, "FID"), (3, "FD_DINOv2"), (3, "CLIP"), (3, "CMMD")}
    assert "wrong way" in named("ρ² of MPS with human preference on Parti-Prompts").note


def test_the_misprint_of_mps_explains_its_correlation():
    scores, elo = listed(3)["MPS"].to_numpy(), [1083, 1073, 1069, 997, 944, 890, 752, 740, 664]
    assert scores[4] == 2.35
    mended = np.where(scores == 2.35, 12.35, scores)
    assert squared_correlation(scores=mended, human=elo) == pytest.approx(0.48, abs=0.005)
    assert metrics(3).at["MPS", "rho"] == pytest.approx(0.02, abs=0.005)


def test_rounding_slack_bounds_small_steps():
    scores, found = listed(2)["ImReward"].to_numpy(), metrics(2).loc["ImReward"]
    rate = np.array([69.84, 46.10, 42.68, 29.21])
    rng = np.random.default_rng(1)
    for _ in range(200):
        moved = squared_correlation(
            scores=scores + rng.uniform(-0.005, 0.005, 4), human=rate + rng.uniform(-0.005, 0.005, 4)
        )
        assert abs(moved - found["rho"]) <= found["slack"] * 1.01
    still = rounding_slack(scores=scores, human=rate, scores_half=np.zeros(4), human_half=np.zeros(4))
    assert still == 0


@pytest.mark.parametrize(
    "claim, recomputed, verdict",
    [
        ("ρ² of cFreD with human preference on HPDv2", "0.9664", "reproduces"),
        ("ρ² of Aesthetic with human preference on HPDv2", "0.8351", "rounding"),
        ("Rank accuracy of cFreD on HPDv2", "91.111", "reproduces"),  # 41 of 45 pairs
        ("Rank accuracy of HPSv2 on HPDv2", "91.111", "conflict"),
        ("Ranks under cFreD on COCO", "4, 7, 1, 5, 1, 3, 6, 9, 8", "rounding"),
        ("cFreD is the third most aligned metric on COCO", "4 by ρ², 5 by rank accuracy", "conflict"),
    ],
)
def test_worked_claims(claim: str, recomputed: str, verdict: str):
    assert (named(claim).recomputed, named(claim).verdict) == (recomputed, verdict)
