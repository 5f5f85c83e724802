"""What the audit finds of faults planted in shipped boards, what it flags without one, and how long it takes.

python -m tests.bench.bench_audit
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np

from compute import paths
from compute.analysis import audit as audits
from compute.analysis.audit import audit, expectations
from compute.analysis.table import ScoreTable, of_database
from compute.catalog import shipped

PLANTED, BOARDS = 100, 100
CHANCE = {task.key: task.chance for task in shipped().tasks}
KINDS = (audits.ONE_CLASS, audits.UNIT, audits.TURNED, audits.EXCHANGED, audits.FAR, audits.COPY, audits.OUTSIDE)


def chances(table):
    """The value of guessing on each task."""
    return np.array([np.nan if CHANCE[task] is None else CHANCE[task] for task in table.tasks])


def board(suite, origin):
    """The complete rows of a shipped board, with what is expected in place of what is doubtful."""
    (table,) = of_database(paths.DATABASE, suites=[suite], origin=origin)
    table = table.rows(np.flatnonzero(~np.isnan(table.values).any(axis=1)))
    values = table.values.copy()
    for doubt in audit(table, chance=chances(table)):
        if not np.isnan(doubt.expected):
            values[table.models.index(doubt.model), table.tasks.index(doubt.task)] = doubt.expected
    return replace(table, values=values)


def planted(sound, rng, kind):
    """The board with one fault, and the cells that hold it."""
    values, guess = sound.values.copy(), chances(sound)
    row, other = rng.choice(len(values), 2, replace=False)
    middles = np.median(values, axis=0)
    tasks = rng.permutation(values.shape[1])
    if kind == audits.ONE_CLASS:
        tasks = rng.permutation(np.flatnonzero(middles > 20 * guess))
        values[row, tasks[0]] = guess[tasks[0]]
    elif kind == audits.UNIT:
        values[row, tasks[0]] /= 100
    elif kind == audits.TURNED:
        values[row, tasks[0]] *= -1
    elif kind == audits.EXCHANGED:
        tasks = rng.permutation(np.flatnonzero(np.abs(values[row] - values[other]) > values.std(axis=0)))
        values[[row, other], tasks[0]] = values[[other, row], tasks[0]]
    elif kind == audits.FAR:
        tasks = rng.permutation(np.flatnonzero(middles > 0.4))
        values[row, tasks[0]] /= 2
    elif kind == audits.COPY:
        values[row] = values[other]
    else:
        values[row, tasks[0]] = 1 + values[row, tasks[0]] * 99
    cells = {(sound.models[row], sound.tasks[tasks[0]])}
    return replace(sound, values=values), cells


def noisy(sound, rng):
    """The board without a fault: of each task, what no other score predicts goes to other models, by how much such
    residuals of a model usually are."""
    expected, _ = expectations(sound.values, np.zeros(sound.values.shape, bool))
    residuals = sound.values - expected
    usual = np.median(np.abs(residuals), axis=1, keepdims=True)
    return replace(sound, values=np.clip(expected + usual * rng.permuted(residuals / usual, axis=0), 1e-4, 1 - 1e-4))


def main():
    """Prints a row a kind, the flags without a fault, and times."""
    for suite, origin in (("mieb", "imported"), ("datacomp", "imported:open_clip")):
        sound = board(suite, origin)
        print(f"{suite}, {origin}: {' x '.join(map(str, sound.values.shape))}")
        for kind in KINDS:
            rng, found, named, others = np.random.default_rng(52), 0, 0, 0
            for _ in range(PLANTED):
                table, cells = planted(sound, rng, kind)
                doubts = audit(table, chance=chances(table))
                hit = [one for one in doubts if (one.model, one.task) in cells]
                found += bool(hit)
                named += any(one.kind == kind for one in hit)
                others += sum(one.kind not in (audits.COPY, kind) for one in doubts if one not in hit)
            print(f"  {kind:10} found {found}, as such {named}, others {others} of {PLANTED}")
        rng = np.random.default_rng(0)
        flags = []
        for _ in range(BOARDS):
            flags += audit(noisy(sound, rng), chance=chances(sound))
        print(f"  no fault: {len(flags)} flags in {BOARDS} boards {dict(Counter(one.kind for one in flags))}")
        began = time.perf_counter()
        audit(sound, chance=chances(sound))
        print(f"  {time.perf_counter() - began:.2f} s")
    rng = np.random.default_rng(0)
    values = 1 / (1 + np.exp(-rng.normal(size=(700, 6)) @ rng.normal(size=(6, 130)) / 2))
    began = time.perf_counter()
    audit(ScoreTable(values=values))
    print(f"700 x 130: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
