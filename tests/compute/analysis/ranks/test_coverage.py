"""The table on the About page: every label is true. A fresh simulation: tests/slow/compute/analysis."""

import math

import pytest

from compute.analysis.ranks import coverage
from compute.paths import COVERAGE

SETTINGS, ROWS = coverage.load(COVERAGE)
MEASURED = [row for row in ROWS if row.mean is not None]


def name(row):
    return f"{','.join(map(str, row.tasks))}{' with errors' * row.errors}{' uneven' * row.uneven}"


def standard_error(trials):
    """Of a share of about 95%, were all intervals of a trial to hold the truth or miss it together."""
    return math.sqrt(0.95 * 0.05 / trials)


def test_the_table_holds_the_cases_that_are_simulated():
    names = ("tasks", "errors", "uneven", "together", "rho")
    simulated = [{"together": 1, "rho": 0.0} | given for given in coverage.settings()]
    assert [{name: getattr(row, name) for name in names} for row in ROWS] == simulated
    assert {1, 2, 3, 4, 5, 10} <= {size for row in ROWS for size in row.tasks}


def test_one_task_without_known_error_has_no_interval():
    for row in ROWS:
        lacks = 1 in row.tasks and not row.errors
        assert (row.label == coverage.NONE) == lacks == (row.mean is None) == (row.boards_close is None)


@pytest.mark.parametrize("row", MEASURED, ids=name)
def test_labels_are_true(row):
    slack = 3 * standard_error(SETTINGS["trials"])
    for share in (row.mean, row.difference):
        assert share >= 0.95 - slack
        if row.label == coverage.EXACT:
            assert 0.93 <= share <= 0.97
    slack = 3 * standard_error(SETTINGS["rank_trials"])
    assert min(row.rank_apart, row.rank_close) >= 0.95 - slack
    # Two tasks that decide beside forty and vary three times as much: the one case that pages name.
    worst = row.tasks == (40, 2) and row.uneven
    assert row.boards_close >= (0.92 if worst else 0.95) - slack


def test_a_row_holds_to_a_short_simulation():
    """Every row: tests/slow/compute/analysis."""
    row = next(row for row in MEASURED if row.tasks == (3,) * 6 and not row.errors and not row.uneven)
    fresh = coverage.simulate(tasks=row.tasks, errors=False, trials=60, seed=7)
    for measure in coverage.MEASURED:
        tolerance = 4 * math.hypot(standard_error(60), standard_error(SETTINGS["rank_trials"]))
        assert abs(getattr(fresh, measure) - getattr(row, measure)) < tolerance, measure
