"""What each method that preserves generalisation gives and costs over seeds, and whether one wins clearly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compute.analysis.ranks import variance
from compute.analysis.ranks.ties import holm
from compute.rounding import rounded

# The strengths compared by default: of `interpolate` the base's share of the weights. On mini the hinge losses sum to
# 0.04 to 0.08, and the term of `distill` comes to about 0.001 before its strength.
STRENGTHS: Mapping[str, tuple[float, ...]] = {
    "none": (0.0,),
    "interpolate": (0.25, 0.5),
    "distill": (3.0, 10.0),
    "features": (0.1, 0.3),
}
RULE = (
    "A method becomes the default when, over the same seeds, its out-of-distribution average is significantly higher "
    "than that of plain tuning and its core average is not significantly lower, on validation items (paired t tests at "
    "5%; the gains out of distribution with Holm's correction over all methods and strengths compared)."
)
SIDE_WORDS = {"core": "core", "ood": "out-of-distribution"}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One training: how generalisation is preserved, how strongly, and the seed."""

    keep: str  # of preserving.METHODS
    strength: float
    seed: int

    @property
    def name(self) -> str:
        """`distill 10`; plain tuning is `none`."""
        return setting(self.keep, self.strength)


@dataclass(frozen=True, kw_only=True)
class TrialOutcome:
    """Both averages of a trial less the base's, fractions: of validation items, which decide, and of the suite's."""

    trial: Trial
    core: float
    ood: float
    suite_core: float
    suite_ood: float


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A mean over seeds, and the half width of its 95% interval; NaN of a single seed."""

    mean: float
    half_width: float


@dataclass(frozen=True, kw_only=True)
class SettingSummary:
    """A method and its strength over its seeds; `verdict`: what the rule says of it beside plain tuning."""

    keep: str
    strength: float
    seeds: int
    core: Spread  # of validation items
    ood: Spread
    suite_core: Spread
    suite_ood: Spread
    wins: bool
    verdict: str

    @property
    def name(self) -> str:
        """As `Trial.name`."""
        return setting(self.keep, self.strength)


def setting(keep: str, strength: float) -> str:
    """A method and its strength in words."""
    return keep if keep == "none" else f"{keep} {strength:g}"


def trials(methods: Mapping[str, Sequence[float]], seeds: Sequence[int]) -> list[Trial]:
    """Every trial: a seed at a time, plain tuning first."""
    order = sorted(methods, key=lambda keep: keep != "none")
    return [
        Trial(keep=keep, strength=strength, seed=seed) for seed in seeds for keep in order for strength in methods[keep]
    ]


def summaries(outcomes: Sequence[TrialOutcome]) -> list[SettingSummary]:
    """Each setting over its seeds, in the order of the outcomes."""
    groups: dict[tuple[str, float], dict[int, TrialOutcome]] = {}
    for each in outcomes:
        groups.setdefault((each.trial.keep, each.trial.strength), {})[each.trial.seed] = each
    plain = groups.get(("none", 0.0), {})
    against = {key: _against(by_seed, plain) for key, by_seed in groups.items() if key[0] != "none"}
    # A loss of core is tested without correction, which would excuse it.
    gains = dict(zip(against, holm([_p(each.ood) for each in against.values()]), strict=True))
    out = []
    for (keep, strength), by_seed in groups.items():
        wins, verdict = False, "plain tuning"
        if (keep, strength) in against:
            wins, verdict = _verdict(against[keep, strength], gain=bool(gains[keep, strength]), settings=len(against))
        spreads = {
            name: spread([getattr(each, name) for each in by_seed.values()])
            for name in ("core", "ood", "suite_core", "suite_ood")
        }
        out.append(
            SettingSummary(keep=keep, strength=strength, seeds=len(by_seed), wins=wins, verdict=verdict, **spreads)
        )
    return out


def winner(rows: Sequence[SettingSummary]) -> SettingSummary | None:
    """Of the settings that win by RULE the one with the highest sum of both averages; None where none wins."""
    return max((row for row in rows if row.wins), key=lambda row: row.core.mean + row.ood.mean, default=None)


def spread(values: Sequence[float]) -> Spread:
    """The mean of (n,) values with the half width of its 95% t interval."""
    array, n = np.asarray(values, float), len(values)
    if n < 2:
        return Spread(mean=float(array.mean()), half_width=math.nan)
    half = variance.half_width(variance=np.array([array.var(ddof=1) / n]), dof=np.array([n - 1.0]))
    return Spread(mean=float(array.mean()), half_width=float(half[0]))


@dataclass(frozen=True, kw_only=True)
class _Against:
    """A setting's averages less those of plain tuning, (seeds,): of the seeds that both have."""

    core: tuple[float, ...]
    ood: tuple[float, ...]


def _against(by_seed: Mapping[int, TrialOutcome], plain: Mapping[int, TrialOutcome]) -> _Against:
    shared = sorted(by_seed.keys() & plain.keys())
    return _Against(
        core=tuple(by_seed[seed].core - plain[seed].core for seed in shared),
        ood=tuple(by_seed[seed].ood - plain[seed].ood for seed in shared),
    )


def _p(differences: Sequence[float]) -> float:
    """Two-sided p of the t test that the mean of (n,) differences is 0; NaN of a single one."""
    array, n = np.asarray(differences, float), len(differences)
    if n < 2:
        return math.nan
    parts = (array.mean(), array.var(ddof=1) / n, n - 1.0, n)
    difference, of_mean, dof, tasks = (np.array([part], float) for part in parts)
    return 2 * float(variance.one_sided(difference=difference, variance=of_mean, dof=dof, tasks=tasks)[0])


def _verdict(against: _Against, *, gain: bool, settings: int) -> tuple[bool, str]:
    """Whether it wins, and why. `gain`: its difference out of distribution is significant among those of `settings`."""
    if len(against.core) < 2:
        return False, "not known: it takes two seeds of this and of plain tuning"
    core, ood = spread(against.core), spread(against.ood)
    better, worse = gain and ood.mean > 0, core.mean + core.half_width < 0
    gained = f"out of distribution {_points(ood.mean)} ± {_width(ood)}"
    if not gain and ood.mean - ood.half_width > 0:
        gained += f" (not significant among {settings} settings)"
    cost = f"core {_points(core.mean)} ± {_width(core)}"
    return better and not worse, f"{gained}, {cost} against plain tuning"


def lines(rows: Sequence[SettingSummary], *, names: Sequence[str] = ()) -> list[str]:
    """Differences to the base in points, of the suite's own items, with 95% intervals over seeds; `names` of rows."""
    table = [["", "seeds", "core", "", "out of distribution", ""]]
    for row, name in zip(rows, names or [row.name for row in rows], strict=True):
        table.append(
            [
                name,
                str(row.seeds),
                _points(row.suite_core.mean),
                _plus_minus(row.suite_core),
                _points(row.suite_ood.mean),
                _plus_minus(row.suite_ood),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip() for name, *cells in table]


def conclusions(rows: Sequence[SettingSummary]) -> list[str]:
    """What the rule says of each setting, and which setting wins by it."""
    return [*(f"{row.name}: {row.verdict}" for row in rows if row.keep != "none"), decision(rows)]


def decision(rows: Sequence[SettingSummary]) -> str:
    """The rule and which setting wins by it."""
    best = winner(rows)
    return f"{RULE} {best.name if best else 'None'} does."


def _plus_minus(part: Spread) -> str:
    return "" if math.isnan(part.half_width) else f"± {_width(part)}"


def _width(part: Spread) -> str:
    return rounded(part.half_width, 1, scale=100)


def _points(value: float) -> str:
    return rounded(value, 1, scale=100, sign=True)
