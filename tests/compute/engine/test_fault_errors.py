"""The simulation of studies without a fault: what its generators are, and that its rates count what it says."""

from __future__ import annotations

import numpy as np
import pytest

from compute.analysis.generators.sensitivity import BLIND
from compute.catalog import shipped
from compute.engine import fault_errors
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.tasks.mini import generators as drawn

DRAWS = 12


@pytest.fixture(scope="module")
def pool() -> SetFeatures:
    """Draws of independent features: no encoder."""
    rng = np.random.default_rng(0)
    names = tuple(map(str, range(DRAWS)))
    prompts = tuple(prompt.text for prompt in drawn.all_prompts())
    return SetFeatures(
        reference=names[0],
        generated=names[1:],
        prompts=prompts,
        images={"tiny": {name: rng.standard_normal((len(prompts), 3)) for name in names}},
        texts={"tiny": rng.standard_normal((len(prompts), 2))},
        scores={"clipscore": {name: rng.random(len(prompts)) for name in names[1:]}},
        scored_by={"clipscore": "tiny"},
    )


def test_a_strength_is_a_growing_share_of_another_draw(pool: SetFeatures) -> None:
    study = fault_errors._study(pool, np.random.default_rng(1))
    assert set(study.generated) == set(drawn.BY_KEY)
    clean = study.images["tiny"]["clean"]
    before = np.zeros(len(clean), bool)
    for strength, share in zip(drawn.STRENGTHS, drawn.SHARES[1:], strict=True):
        name = f"blur-{strength}"
        changed = (study.images["tiny"][name] != clean).any(axis=1)
        assert changed.sum() == round(share * len(clean)) and (changed >= before).all()
        assert ((study.scores["clipscore"][name] != study.scores["clipscore"]["clean"]) == changed).all()
        before = changed
    assert not any(
        np.array_equal(study.images["tiny"]["reference"], of) for of in (clean, study.images["tiny"]["blur-4"])
    )


def test_rates_are_shares_of_false_verdicts(pool: SetFeatures, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every verdict turned into a false one the rate of studies is 1; as it is it is small."""
    few = Backbones(image=("tiny",), cfred=(), text=(), metrics=("fd", "kid", "clipscore"))
    monkeypatch.setattr(fault_errors.fault_study, "choices", lambda present: (few,))
    monkeypatch.setattr(fault_errors, "_pool", lambda count, **_: pool)
    rows = {row.metric: row for row in fault_errors.simulate(catalog=shipped(), bench=None, studies=2, pool=DRAWS)}
    assert set(rows) == {"fd", "kid", "clipscore"}
    assert all(0 <= row.single < 0.4 and row.study in (0, 0.5, 1) and row.studies == 2 for row in rows.values())
    monkeypatch.setattr(fault_errors, "BLIND", f"not {BLIND}")
    again = fault_errors.simulate(catalog=shipped(), bench=None, studies=1, pool=DRAWS)
    assert {row.study for row in again} == {1}
