"""Balanced batches: a function of seed and step, every example once an epoch, and contents read when they are used."""

from __future__ import annotations

from collections import Counter

import pytest

from compute.training.examples import batches, check_task
from compute.types import BadInput
from tests.compute.training.small_training import ListedExamples, picture


def of_texts(count: int, *, dataset: str = "captions", group_size: int = 1, task: str = "text-for-image"):
    """Examples whose contents are never read as images."""
    rows = [("p", f"{dataset} {row}", "wrong") for row in range(count)]
    return ListedExamples(task=task, rows=rows, preferred=[0] * count, dataset=dataset, group_size=group_size)


def seen(sets, *, steps: range, batch_size: int = 8, seed: int = 0, task: str = "text-for-image") -> list[str]:
    return [
        example.alternatives[0].read()
        for step in steps
        for example in batches(sets, batch_size=batch_size, seed=seed, step=step)[task]
    ]


def test_every_example_comes_once_an_epoch_in_an_order_of_seed_and_step():
    sets = [of_texts(24)]
    first, second = seen(sets, steps=range(3)), seen(sets, steps=range(3, 6))
    assert len(set(first)) == 24 == len(set(second)) and first != second
    assert seen(sets, steps=range(2, 3)) == first[16:] != seen(sets, steps=range(2, 3), seed=4)
    told = Counter(seen([of_texts(5)], steps=range(5), batch_size=4))  # an epoch may end within a batch
    assert set(told.values()) == {4}


def test_every_task_has_a_whole_batch_and_its_own_order():
    sets = [of_texts(200), of_texts(200, task="quality"), of_texts(3, task="image-for-text")]
    batch = batches(sets, batch_size=32, seed=0, step=0)
    assert {task: len(rows) for task, rows in batch.items()} == dict.fromkeys((part.task for part in sets), 32)
    first, second = ([row.alternatives[0].read() for row in batch[part.task]] for part in sets[:2])
    assert first != second


def test_data_sets_of_a_task_are_mixed_by_size():
    told = seen([of_texts(90, dataset="large"), of_texts(30, dataset="small")], steps=range(15))
    assert Counter(text.split()[0] for text in told) == {"large": 90, "small": 30}  # one epoch of 120
    assert {text.split()[0] for text in told[:40]} == {"large", "small"}


def test_groups_stay_together_and_tasks_come_to_the_same_ones():
    sets = [of_texts(96, group_size=16), of_texts(96, group_size=16, task="quality")]
    epoch = [seen(sets, steps=range(step, step + 1), batch_size=32) for step in range(3)]
    assert len(set(sum(epoch, []))) == 96
    assert all(len({int(text.split()[1]) // 16 for text in batch}) == 2 for batch in epoch)
    assert seen(sets, steps=range(3), batch_size=32, task="quality") == sum(epoch, [])
    assert seen(sets, steps=range(3, 4), batch_size=32) != epoch[0]


def test_what_cannot_be_read_or_trained_on_is_named():
    part = ListedExamples(task="quality", rows=[(" ", b"no image", picture(1))], preferred=[0], dataset="pictures")
    assert part[0].alternatives[1].image().size == (40, 40)
    with pytest.raises(BadInput, match="pictures 0, 1"):
        part[0].alternatives[0].image()
    with pytest.raises(BadInput, match="pictures 0, 0"):
        part[0].reference.text()
    with pytest.raises(BadInput, match="'image-for-text'"):
        check_task("image-for-texts")
