"""Scores that the rest contradicts: the failed runs of the shipped results, and faults planted in their boards."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.audit import COPY, EXCHANGED, FAR, ONE_CLASS, OUTSIDE, audit, expectations
from compute.analysis.table import ScoreTable, of_database
from compute.catalog import shipped
from compute.interface.audit import audit as audit_table

CHANCE = {task.key: task.chance for task in shipped().tasks}


def chances(table):
    return np.array([np.nan if CHANCE[task] is None else CHANCE[task] for task in table.tasks])


@pytest.fixture(scope="module")
def mieb(database):
    (table,) = of_database(database, suites=["mieb"], origin="imported")
    whole = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    return table.rows(whole)


@pytest.fixture(scope="module")
def sound(mieb):
    """The board with the expected values in place of what is doubtful."""
    values = mieb.values.copy()
    for doubt in audit(mieb, chance=chances(mieb)):
        values[mieb.models.index(doubt.model), mieb.tasks.index(doubt.task)] = doubt.expected
    return replace(mieb, values=values)


def planted(sound, rng, kind):
    """The board with one fault, and the cell that holds it."""
    values = sound.values.copy()
    row, task = rng.integers(values.shape[0]), rng.integers(values.shape[1])
    if kind == ONE_CLASS:
        guess = chances(sound)
        task = rng.choice(np.flatnonzero(np.nanmedian(values, axis=0) > 20 * guess))
        values[row, task] = guess[task]
    elif kind == FAR:
        task = rng.choice(np.flatnonzero(np.median(values, axis=0) > 0.5))
        values[row, task] /= 3
    elif kind == OUTSIDE:
        task = rng.choice(np.flatnonzero(sound.values[row] > 0.02))
        values[row, task] *= 100
    return replace(sound, values=values), (sound.models[row], sound.tasks[task])


@pytest.mark.parametrize("kind, share", [(ONE_CLASS, 0.9), (FAR, 0.3), (OUTSIDE, 1.0)])
def test_planted_faults_are_found(sound, kind, share):
    rng, found = np.random.default_rng(52), 0
    for _ in range(20):
        table, cell = planted(sound, rng, kind)
        found += cell in [(one.model, one.task) for one in audit(table, chance=chances(table))]
    assert found >= share * 20


def test_a_sound_board_has_hardly_any_flag(sound):
    expected, _ = expectations(sound.values, np.zeros(sound.values.shape, bool))
    scale = 1.4826 * np.median(np.abs(sound.values - expected), axis=0)
    rng, flags = np.random.default_rng(0), 0
    for _ in range(20):
        values = np.clip(expected + rng.normal(0, scale, expected.shape), 0.001, 0.999)
        flags += len(audit(replace(sound, values=values), chance=chances(sound)))
    assert flags <= 2


def test_a_table_of_any_unit_and_one_that_is_too_small(mieb):
    frame = pd.DataFrame(100 * mieb.values, index=mieb.models, columns=mieb.tasks)
    frame = frame.loc[:, (frame.min() > 1.5) | frame.columns.str.contains("imagenet1k")]
    found = audit_table(frame.rename_axis("model").reset_index(), weights={"mieb/imagenet1k": 1})
    worst = found.frame().iloc[0]
    assert worst["value"] < 1 < worst["low"] and "doubtful score" in str(found)
    assert audit(ScoreTable(values=np.random.default_rng(0).random((5, 5)))) == []


def test_a_copied_column_of_digits_is_a_copy():
    rng = np.random.default_rng(3)
    values = rng.random((6, 9))
    values[4, :7] = values[1, :7]
    found = audit(ScoreTable(values=values))
    assert {(one.model, one.task) for one in found} == {(model, str(task)) for model in "14" for task in range(7)}
    assert {one.kind for one in found} == {COPY} and "7 of 9" in found[0].reason


def test_two_models_scores_of_a_task_that_were_exchanged_are_told_with_the_other():
    rng = np.random.default_rng(4)
    level = rng.normal(0, 1, 40)
    values = level[:, None] * rng.uniform(0.5, 1, 30) + rng.normal(0, 0.1, (40, 30))
    worst, best = (int(row) for row in np.argsort(level)[[5, 34]])
    values[[best, worst], 7] = values[[worst, best], 7]
    found = {one.model: one for one in audit(ScoreTable(values=values))}
    assert set(found) == {str(best), str(worst)} and {one.task for one in found.values()} == {"7"}
    assert {one.kind for one in found.values()} == {EXCHANGED} and f"fits {worst}," in found[str(best)].reason
