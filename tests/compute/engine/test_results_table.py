"""The table that a run prints, and which of several runs is shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from compute.engine import results_table, variants
from compute.engine.run_folders import StoredRun
from compute.types import Run, Score
from tests.compute.small_bench import CATALOG, NEAR


def kept(value=0.5, *, name="r", task="t", started="", status="complete", stderr=None, **settings):
    run = Run(id=name, model="m", task=task, started=started, status=status, settings=settings, fingerprint=name)
    score = Score(run=name, subset="default", metric="accuracy", value=value, n=100, stderr=stderr)
    return StoredRun(run=run, folder=Path(name), scores=(score,))


@pytest.mark.parametrize(
    "given, said",
    [
        (kept(0.851, stderr=0.01), "85.1 ± 2.0"),
        (kept(), "50.0"),
        (kept(1.0, stderr=0.0), "100.0 (≥ 96.3)"),
        (kept(0.0, stderr=0.0), "0.0 (≤ 3.7)"),
        (kept(0.851, stderr=0.01, coverage=0.98), "85.1 ± 2.0 (98.0% of items)"),
        (kept(tied=0.1754), "50.0 (17.5% tied)"),
        (kept(coverage=0.98, tied=1.0), "50.0 (98.0% of items, 100.0% tied)"),
    ],
)
def test_a_cell_is_in_the_units_that_papers_print(given, said):
    assert results_table.cell(given, CATALOG.metrics[0]) == said


def test_answers_without_a_score_are_told_beside_a_judges_figure():
    def told(**found):
        return results_table.how_answers_were_read(kept(found=found))

    clear = {"asked": 36, "errors": 0, "refused": 0, "truncated": 0, "invalid": 0}
    silent = told(sensitive={**clear, "errors": 1, "refused": 30, "invalid": 2}, invariant={**clear, "refused": 35})
    assert silent == ["m, t: 67 of 71 answers state no score (65 refused, 2 invalid)"] and told(sensitive=clear) == []
    [added] = told(sensitive={**clear, "added": 9}, invariant={**clear, "added": 0})
    assert "9 of 72" in added


TASKS = [replace(NEAR, key=key, category=category) for key, category in {"a": "IQA", "b": "IQA", "c": "PAA"}.items()]


def of(task, value, variant="", *, started="1", status="complete"):
    return kept(value, name=f"m-{task}-{variant}-{started}", task=task, started=started, status=status, variant=variant)


def shown(*runs):
    return {run.run.id for run in variants.main_runs(runs, tasks=TASKS).values()}


def test_the_newest_whole_run_is_shown():
    assert shown(of("a", 0.9, started="1"), of("a", 0.1, started="2")) == {"m-a--2"}
    assert shown(of("a", 0.9, started="1"), of("a", 0.1, started="2", status="partial")) == {"m-a--1"}
    assert shown(of("a", 0.1, status="partial")) == {"m-a--1"}


def test_the_way_that_is_better_on_average_is_shown_for_the_whole_category():
    prompt = [of("a", 0.9, "quality=prompt"), of("b", 0.2, "quality=prompt"), of("c", 0.9, "quality=prompt")]
    clip = [of("a", 0.6, "quality=clip-iqa"), of("b", 0.6, "quality=clip-iqa"), of("c", 0.1, "quality=clip-iqa")]
    assert shown(*prompt, *clip) == {"m-a-quality=clip-iqa-1", "m-b-quality=clip-iqa-1", "m-c-quality=prompt-1"}


def test_ways_over_unlike_tasks_are_not_compared():
    """A mean over other tasks is no better way: the one that more tasks have is shown, the other where it is alone."""
    assert shown(of("a", 0.3, "quality=prompt"), of("b", 0.3, "quality=prompt"), of("a", 0.9, "quality=clip-iqa")) == {
        "m-a-quality=prompt-1",
        "m-b-quality=prompt-1",
    }
    assert shown(of("a", 0.3, "quality=prompt"), of("b", 0.9, "quality=clip-iqa")) == {
        "m-a-quality=prompt-1",
        "m-b-quality=clip-iqa-1",
    }


def test_what_was_asked_by_hand_is_shown_only_where_there_is_nothing_else():
    assert shown(of("a", 0.1), of("a", 0.9, "wording=code", started="2")) == {"m-a--1"}
    assert shown(of("a", 0.9, "wording=code")) == {"m-a-wording=code-1"}
