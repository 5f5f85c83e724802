"""How often estimates of incomplete models hold: the tables of docs/ranks.md, in points.

Run: python -m tests.bench.bench_estimates. Every complete model in turn loses all but some tasks, and its family takes
no part in anything: not in the prediction, nor in the intervals and their widening.
"""

from __future__ import annotations

import sys
import zlib

import numpy as np

from compute import paths
from compute.analysis import estimates
from compute.analysis.estimates import EDGE, Pattern
from compute.analysis.table import of_database
from compute.database import store

SUITES = ("mieb", "mieb-lite", "vidore-v3", "unisim-core", "pairbench")
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
DRAWS = 10


def complete_table(suite):
    """The complete rows of a suite, and their models: families (of one without, its own) and dates, by key."""
    (table,) = of_database(paths.DATABASE, suites=(suite,), origin="usual")
    table = table.columns(np.flatnonzero(table.counted))
    table = table.rows(np.flatnonzero(~np.isnan(table.values).any(axis=1)))
    models = store.frames(paths.DATABASE, names=("models",))["models"].set_index("key").loc[list(table.models)]
    return table, models.assign(family=[family or str(at) for at, family in enumerate(models["family"].fillna(""))])


def parts(table, models):
    """For each family, the other models as estimates take them, and its own rows."""
    for family in dict.fromkeys(models["family"]):
        own = (models["family"] == family).to_numpy()
        yield estimates.complete(table.rows(np.flatnonzero(~own)), models), np.flatnonzero(own)


def held_out(table, split, shown):
    """Of each model: error of the predicted mean, half its interval before widening and after, and whether it has an
    estimate. shown [models, tasks]."""
    found = np.full((len(table.models), 4), np.nan)
    for of, own in split:
        patterns = {}
        for row in own:
            seen = np.flatnonzero(shown[row])
            pattern = patterns.setdefault(seen.tobytes(), None) or Pattern.fit(of, seen)
            patterns[seen.tobytes()] = pattern
            scores = np.where(shown[row], table.values[row], np.nan)
            unseen, scale = of.predict(scores, seen, pattern.penalty)
            half = float(pattern.half(pattern.project(pattern.errors)[:, :1], scale)[0])
            error = (unseen - table.values[row][~shown[row]]) @ of.weights[~shown[row], 0]
            given = len(seen) >= of.needed and not isinstance(estimates._estimate(pattern, scores), str)
            found[row] = error, half / pattern.check.widened, half, given
    return found


def line(name, found, groups):
    """A row of the table: error, share with an estimate, and coverage and width of all intervals and of the given."""
    error, raw, wide, given = np.moveaxis(found, -1, 0)
    given, held, first = given > 0, np.abs(error) <= wide, np.abs(error) <= raw
    weights, best, newest = groups
    each = [np.mean(held), np.average(held.mean(axis=0), weights=weights), held[:, best].mean(), held[:, newest].mean()]
    kept = f"{held[given].mean():.0%}, ± {100 * wide[given].mean():.1f}" if given.any() else "none"
    print(
        f"| {name} | {100 * np.sqrt(np.mean(error**2)):.2f} | {first.mean():.0%}, ± {100 * raw.mean():.1f} | "
        f"{' / '.join(f'{one:.0%}' for one in each)}, ± {100 * wide.mean():.1f} | {given.mean():.0%}: {kept} |",
        flush=True,
    )


def shares(table, split, shown):
    """Of each model with an estimate from the tasks `shown`: its row, the shares of its places by the errors of the
    complete models, summed up to each place, and its place."""
    for of, own in split:
        pattern = Pattern.fit(of, np.flatnonzero(shown))
        errors = pattern.project(pattern.errors)[:, 0] / pattern.scales
        for row in own:
            scores = np.where(shown, table.values[row], np.nan)
            one = estimates._estimate(pattern, scores)
            if isinstance(one, str):
                continue
            scale = of.predict(scores, pattern.seen, pattern.penalty)[1]
            places = 1 + (of.means > (of.sign * one.mean + scale * errors)[:, None]).sum(axis=1)
            place = 1 + (of.means > of.sign * table.values[row] @ of.weights[:, 0]).sum()
            yield row, np.cumsum(np.bincount(places, minlength=len(of.means) + 2)[1:]) / len(places), place


def calibration(suite):
    """How often a model has a place up to k, by the share that says so, of 30 to 60% of the tasks hidden."""
    table, known = complete_table(suite)
    split, tasks, rng = list(parts(table, known)), len(table.tasks), np.random.default_rng(zlib.crc32(suite.encode()))
    draws = [
        np.isin(np.arange(tasks), rng.permutation(tasks)[: round(rng.uniform(0.4, 0.7) * tasks)]) for _ in range(30)
    ]
    found = [each for draw in draws for each in shares(table, split, draw)]
    for first in (1, 3, 5, 10, 20):
        rows = np.array([row for row, _, _ in found])
        said = np.array([share[first - 1] for _, share, _ in found])
        held = np.array([place <= first for _, _, place in found])
        bins, cells, error = np.minimum((5 * said).astype(int), 4), [], 0.0
        open_ = (said > 0) & (said < 1)
        for one in range(5):
            at = open_ & (bins == one)
            if at.any():
                error += at.sum() / open_.sum() * abs(said[at].mean() - held[at].mean())
            models = len(set(rows[at]))
            cells.append(
                f"{said[at].mean():.0%}: {held[at].mean():.0%} of {at.sum()} ({models})" if at.any() else "none"
            )
        print(f"| {suite}, first {first} | {error:.1%} | {' | '.join(cells)} | {(~open_).sum()} |", flush=True)


def main(suites):
    estimates.FEWEST_MODELS = 12  # without a family, some suites have fewer
    print("| shown | error | as calibrated | widened: models / families / best / newest | with an estimate |")
    print("| --- | --- | --- | --- | --- |")
    for suite in suites:
        table, known = complete_table(suite)
        split, (models, tasks) = list(parts(table, known)), table.values.shape
        turned = table.mean if table.higher_is_better else -table.mean
        groups = (
            1 / known.groupby("family")["family"].transform("size").to_numpy(),
            np.argsort(turned)[-EDGE:],
            np.argsort(known["released"].fillna("").to_numpy())[-EDGE:],
        )
        of = f"{models} models of {len(split)} families, {tasks} tasks, spread {100 * table.mean.std():.1f}"
        print(f"| **{suite}**: {of} | | | | |")
        rng = np.random.default_rng(zlib.crc32(suite.encode()))
        for share in SHARES:
            count = max(2, round(share * tasks))
            draws = [np.isin(np.arange(tasks), rng.permutation(tasks)[:count]) for _ in range(DRAWS)]
            found = [held_out(table, split, np.broadcast_to(draw, table.values.shape)) for draw in draws]
            line(f"{count} at random", np.array(found), groups)
        if suite == "mieb":
            lite = np.isin(table.tasks, complete_table("mieb-lite")[0].tasks)
            line(
                f"MIEB-lite's {lite.sum()}",
                held_out(table, split, np.broadcast_to(lite, table.values.shape))[None],
                groups,
            )
        hours = np.where(np.isnan(table.hours), np.nanmedian(table.hours), table.hours)
        for part in (30, 10) if not np.isnan(table.hours).all() else ():
            shown = np.zeros((models, tasks), bool)
            for of, own in split:  # chosen without the family too
                scores, anything = np.full(tasks, np.nan), np.ones(tasks, bool)
                budget = hours.sum() / part
                steps = estimates.next_tasks(of, scores, hours=hours, budget=budget, among=anything).tasks
                shown[np.ix_(own, steps)] = True
            if shown.sum(axis=1).min() > 1:
                line(f"{len(steps)} that `plan` chooses in {budget:.1f} h", held_out(table, split, shown)[None], groups)
        z = (table.turned - table.turned.mean(axis=0)) / table.turned.std(axis=0)
        place = (-(z - z.mean(axis=1, keepdims=True))).argsort(axis=1).argsort(axis=1)
        count = round(0.5 * tasks)
        best = held_out(table, split, place < count)
        line(f"its own best {count}", best[None], groups)
        plain = (np.nanmean(np.where(place < count, table.values, np.nan), axis=1) - table.values.mean(axis=1)).mean()
        print(f"| bias of these: estimates {100 * best[:, 0].mean():+.1f}, plain means {100 * plain:+.1f} | | | | |")


if __name__ == "__main__":
    main(sys.argv[1:] or SUITES)
    print(
        "| of shares between 0 and 1 | error | said: held of estimates (models), 0 to 20% | ... | 80 to 100% | 0 or 1 |"
    )
    for each in SUITES[:2]:
        calibration(each)
