"""PairBench's claims: a few worked by hand, and every one with a verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from compute.claims.pairbench import claims, controllability, controllability_slack, mean_mmscore, splits
from compute.types import Claim


def named(text: str) -> Claim:
    found = [claim for claim in claims() if claim.claim == text]
    assert len(found) == 1, text
    return found[0]


def test_splits_pair_up():
    sensitive, invariant = splits()
    assert sensitive.shape == invariant.shape == (23, 24)
    assert list(sensitive.columns) == list(invariant.columns)
    assert sensitive.loc["GPT-4o-1120", "WU-IT-A"] == 18.97 and invariant.loc["GPT-4o-1120", "WU-IT-B"] == 34.99
    assert mean_mmscore(sensitive, invariant).isna().sum() == 1  # InternVL2-1B has two dashes


def test_controllability_by_hand():
    # 1 - |1 - 4| / sqrt(4) = -0.5, and equal scores give 1; a zero has no value.
    value = controllability(pd.DataFrame({"a": [1.0], "b": [7.0]}), pd.DataFrame({"a": [4.0], "b": [7.0]}))
    assert value.to_numpy().tolist() == [[-50.0, 100.0]]
    assert np.isnan(controllability(pd.DataFrame({"a": [0.0]}), pd.DataFrame({"a": [4.0]})).iloc[0, 0])


def test_controllability_slack_bounds_every_rounding():
    rng = np.random.default_rng(0)
    a, b = pd.Series(rng.uniform(5, 60, 24)), pd.Series(rng.uniform(5, 60, 24))
    centre = controllability(a.to_frame(), b.to_frame()).mean().iloc[0]
    slack = controllability_slack(a.to_frame().T, b.to_frame().T).item()
    for _ in range(200):
        moved = (
            controllability(
                (a + rng.uniform(-0.005, 0.005, 24)).to_frame(),
                (b + rng.uniform(-0.005, 0.005, 24)).to_frame(),
            )
            .mean()
            .iloc[0]
        )
        assert abs(moved - centre) <= slack + 1e-12
    assert slack < 0.1


@pytest.mark.parametrize(
    "claim, recomputed, verdict",
    [
        ("MMScore of Qwen2-VL-7B, all splits", "42.2710", "reproduces"),
        ("MMScore of LLaVA-OneVision-7B, all splits", "30.8856", "rounding"),
        ("MMScore of Gemini-1.5-Flash, all splits", "56.5290", "conflict"),
        ("Data-pair comparisons over all splits", "76256", "conflict"),  # 69648 + 3344 + 3264
        ("MMScore has the highest correlation with every benchmark", "8 of 8", "reproduces"),
        ("InternVL2.5-8B has the highest MMScore of the open models", "InternVL2.5-8B (55.05)", "reproduces"),
        (
            "GPT-4o-1120 lacks in symmetry and smoothness",
            "1-RelaxSym rank 3, smoothness rank 4 of ten",
            "conflict",
        ),
    ],
)
def test_worked_claims(claim: str, recomputed: str, verdict: str):
    assert (named(claim).recomputed, named(claim).verdict) == (recomputed, verdict)
