"""Balanced batches: a function of seed and step, every example once an epoch."""

from collections import Counter

from compute.training.examples import batches
from tests.compute.training.small_training import listed


def of_texts(count, *, dataset="captions", task="text-for-image"):
    """Examples whose contents are never read as images."""
    rows = [("p", f"{dataset} {row}", "wrong") for row in range(count)]
    return listed(task, rows, [0] * count, dataset=dataset)


def seen(sets, *, steps, batch_size=8, seed=0, task="text-for-image"):
    return [
        part.data.alternatives[0].read(row)
        for step in steps
        for part, row in batches(sets, batch_size=batch_size, seed=seed, step=step)[task]
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
    first, second = ([row for _, row in batch[part.task]] for part in sets[:2])
    assert first != second
