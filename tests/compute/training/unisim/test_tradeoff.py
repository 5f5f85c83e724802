"""The trade-off over seeds: closed forms of the rule, what is drawn, the domains of the ablation."""

from __future__ import annotations

import math

import pytest

from compute.interface.pages import tradeoff as tradeoff_page
from compute.training.unisim import tradeoff
from compute.training.unisim.checkpoints import data_identity
from compute.training.unisim.data import ablation, mini
from compute.training.unisim.data.examples import by_task
from compute.training.unisim.tradeoff import Trial, TrialOutcome
from compute.types import UnknownKey


def outcome(keep: str, strength: float, seed: int, *, core: float, ood: float) -> TrialOutcome:
    return TrialOutcome(
        trial=Trial(keep=keep, strength=strength, seed=seed),
        core=core,
        ood=ood,
        suite_core=core,
        suite_ood=ood,
    )


def compared(core: tuple[float, ...], ood: tuple[float, ...]) -> list[tradeoff.SettingSummary]:
    """Plain tuning at +5 and -8 points, give or take a seed's luck, and a way that differs from it by `core`, `ood`."""
    luck = (0.0, 0.01, -0.01)
    plain = [outcome("none", 0, seed, core=0.05 + luck[seed], ood=-0.08 + luck[seed]) for seed in range(len(core))]
    other = [
        outcome("distill", 1, seed, core=0.05 + luck[seed] + core[seed], ood=-0.08 + luck[seed] + ood[seed])
        for seed in range(len(core))
    ]
    return tradeoff.summaries([*plain, *other])


def test_plain_tuning_comes_first_for_every_seed() -> None:
    methods = {"interpolate": (0.25, 0.5), "none": (0.0,)}
    assert [(each.seed, each.name) for each in tradeoff.trials(methods, (3, 4))] == [
        (seed, name) for seed in (3, 4) for name in ("none", "interpolate 0.25", "interpolate 0.5")
    ]


def test_the_mean_and_its_interval() -> None:
    """Of 1, 2, 3 the mean 2 and t(2) = 4.303 times 1 / sqrt(3); of one seed no interval."""
    part = tradeoff.spread([1, 2, 3])
    assert part.mean == 2 and part.half_width == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert math.isnan(tradeoff.spread([1]).half_width)


def test_better_out_of_distribution_at_no_loss_of_core_wins() -> None:
    rows = compared((0.001, -0.001, 0.0), (0.030, 0.032, 0.028))
    best = tradeoff.winner(rows)
    assert best is not None and best.name == "distill 1" and rows[0].wins is False
    assert tradeoff.conclusions(rows)[-1] == f"{tradeoff.RULE} distill 1 does."
    assert "out of distribution +3.0 ± 0.5" in rows[1].verdict


def test_a_gain_must_be_significant_among_all_that_were_compared() -> None:
    """t(2) = 6.93, p = 0.020: enough for the only setting, and too little for the best of three."""
    gains, luck = (0.03, 0.05, 0.04), (-0.02, 0.0, 0.02)
    alone = [
        *(outcome("none", 0, seed, core=0.05, ood=-0.08) for seed in range(3)),
        *(outcome("distill", 1, seed, core=0.05, ood=-0.08 + gains[seed]) for seed in range(3)),
    ]
    best = tradeoff.winner(tradeoff.summaries(alone))
    assert best is not None and best.name == "distill 1"
    others = [
        outcome("interpolate", strength, seed, core=0.05, ood=-0.08 + luck[seed])
        for strength in (0.25, 0.5)
        for seed in range(3)
    ]
    rows = tradeoff.summaries([*alone, *others])
    assert tradeoff.winner(rows) is None
    assert rows[1].verdict.startswith("out of distribution +4.0 ± 2.5 (not significant among 3 settings), core 0.0")
    assert "Holm" in tradeoff.decision(rows)


@pytest.mark.parametrize(
    ("core", "ood"),
    [
        ((-0.03, -0.031, -0.029), (0.03, 0.031, 0.029)),  # it costs core
        ((0.0, 0.001, -0.001), (0.05, -0.03, 0.01)),  # better by luck
        ((0.0,), (0.05,)),  # a single seed
    ],
)
def test_otherwise_nothing_wins(core: tuple[float, ...], ood: tuple[float, ...]) -> None:
    rows = compared(core, ood)
    assert tradeoff.winner(rows) is None and tradeoff.conclusions(rows)[-1].endswith("None does.")


def test_the_printed_table_and_the_page_show_the_same_settings() -> None:
    rows = compared((0.001, -0.001, 0.0), (0.030, 0.032, 0.028))
    printed = tradeoff.lines(rows)
    assert printed[1].split() == ["none", "3", "+5.0", "±", "2.5", "-8.0", "±", "2.5"]
    page = tradeoff_page.page(base="<b>tiny</b>", suite="mini", rows=rows, outcomes=[])
    assert "&lt;b&gt;tiny" in page and page.count('r="4"') == 2 and "distill 1 does." in page and "<script" not in page


def test_domains_are_apart_and_only_image_for_text_changes() -> None:
    sets = ablation.examples(("photographs", "plain"), seed=1, count=20)
    parts = by_task(sets)
    assert [part.dataset for part in parts["image-for-text"]] == [
        f"{mini.DATASET}, photographs",
        f"{mini.DATASET}, plain",
    ]
    assert [len(part) for part in parts["image-for-text"]] == [mini.whole_groups(20)] * 2
    assert {part["key"] for part in data_identity(sets)} == {mini.DATASET}
    first, second = (set(part.keys()[:, 1:].ravel().tolist()) for part in parts["image-for-text"])
    assert not first & second and len(parts["quality"][0]) == mini.whole_groups(20)
    with pytest.raises(UnknownKey, match="'plane'.*'plain'"):
        ablation.examples(("plane",), seed=1, count=20)
