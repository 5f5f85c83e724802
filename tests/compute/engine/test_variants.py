"""Which of several runs is shown."""

from pathlib import Path

from compute.engine import variants
from compute.engine.run_folders import StoredRun
from compute.types import Run, Score, Task

TASKS = [
    Task(key=key, title="", benchmark="u", category=category, dataset="")
    for key, category in zip("abc", ("IQA", "IQA", "PAA"), strict=True)
]


def kept(task, value, variant="", *, started="1", status="complete", model="m"):
    name = f"{model}-{task}-{variant}-{started}"
    return StoredRun(
        run=Run(
            id=name,
            model=model,
            task=task,
            started=started,
            status=status,
            settings={"variant": variant},
            fingerprint=name,
        ),
        scores=(Score(run=name, subset="default", metric="accuracy", value=value),),
        folder=Path(name),
    )


def shown(*runs):
    return {run.run.id for run in variants.main_runs(runs, tasks=TASKS).values()}


def test_the_newest_whole_run_is_shown():
    assert shown(kept("a", 0.9, started="1"), kept("a", 0.1, started="2")) == {"m-a--2"}
    assert shown(kept("a", 0.9, started="1"), kept("a", 0.1, started="2", status="partial")) == {"m-a--1"}
    assert shown(kept("a", 0.1, status="partial")) == {"m-a--1"}


def test_the_way_that_is_better_on_average_is_shown_for_the_whole_category():
    prompt = [kept("a", 0.9, "quality=prompt"), kept("b", 0.2, "quality=prompt"), kept("c", 0.9, "quality=prompt")]
    clip = [kept("a", 0.6, "quality=clip-iqa"), kept("b", 0.6, "quality=clip-iqa"), kept("c", 0.1, "quality=clip-iqa")]
    assert shown(*prompt, *clip) == {"m-a-quality=clip-iqa-1", "m-b-quality=clip-iqa-1", "m-c-quality=prompt-1"}


def test_ways_over_unlike_tasks_are_not_compared():
    """A mean over other tasks is no better way: the one that more tasks have is shown, the other where it is alone."""
    assert shown(
        kept("a", 0.3, "quality=prompt"), kept("b", 0.3, "quality=prompt"), kept("a", 0.9, "quality=clip-iqa")
    ) == {"m-a-quality=prompt-1", "m-b-quality=prompt-1"}
    assert shown(kept("a", 0.3, "quality=prompt"), kept("b", 0.9, "quality=clip-iqa")) == {
        "m-a-quality=prompt-1",
        "m-b-quality=clip-iqa-1",
    }


def test_what_was_asked_by_hand_is_shown_only_where_there_is_nothing_else():
    assert shown(kept("a", 0.1), kept("a", 0.9, "wording=code", started="2")) == {"m-a--1"}
    assert shown(kept("a", 0.9, "wording=code")) == {"m-a-wording=code-1"}
