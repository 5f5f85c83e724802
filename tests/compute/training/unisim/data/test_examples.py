from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from compute.content.items import content_key, images, texts
from compute.training.unisim.data.examples import ColumnExamples, batches, by_task
from compute.types import BadInput


def png(value: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (value % 256, value // 256, 7)).save(file, "PNG")
    return file.getvalue()


def of_texts(count: int, *, dataset: str = "captions") -> ColumnExamples:
    return ColumnExamples(
        task="text-for-image",
        dataset=dataset,
        reference=images([png(row) for row in range(count)], of=dataset),
        alternatives=(
            texts([f"{dataset} {row} right" for row in range(count)], of=dataset),
            texts([f"{dataset} {row} wrong" for row in range(count)], of=dataset),
        ),
        preferred=np.zeros(count, int),
    )


def of_images(count: int, *, task: str = "image-for-text") -> ColumnExamples:
    return ColumnExamples(
        task=task,
        dataset="pictures",
        reference=texts([f"prompt {row}" for row in range(count)], of="pictures"),
        alternatives=(images([png(row) for row in range(count)], of="p"), images([png(255)] * count, of="p")),
        preferred=np.arange(count) % 2,
    )


def seen(sets, *, task: str, steps: int, batch_size: int = 8, seed: int = 0) -> list[str]:
    return [
        example.alternatives[0].read()
        for step in range(steps)
        for example in batches(sets, batch_size=batch_size, seed=seed, step=step)[task]
    ]


def test_an_example_reads_its_contents_when_they_are_used():
    example = of_images(3)[1]
    assert (example.reference.text(), example.preferred) == ("prompt 1", 1)
    assert example.alternatives[0].image().getpixel((0, 0)) == (1, 0, 7)
    assert example.alternatives[0].data() == png(1)
    assert [content.key() for content in example.contents] == of_images(3).keys()[1].tolist()
    assert example.reference.key() == content_key("prompt 1")


def test_every_example_comes_once_an_epoch_and_in_another_order_in_the_next():
    sets = [of_texts(24)]
    first, second = seen(sets, task="text-for-image", steps=3), seen(sets, task="text-for-image", steps=6)[24:]
    assert len(set(first)) == 24 == len(set(second))
    assert first != second


def test_an_epoch_may_end_within_a_batch():
    told = Counter(seen([of_texts(5)], task="text-for-image", steps=5, batch_size=4))  # 20 examples: four epochs
    assert set(told.values()) == {4}


def test_batches_are_a_function_of_seed_and_step():
    sets = [of_texts(50), of_images(30)]
    whole = [batches(sets, batch_size=8, seed=3, step=step) for step in range(12)]
    again = batches(sets, batch_size=8, seed=3, step=11)
    read = lambda batch: {task: [each.reference.read() for each in rows] for task, rows in batch.items()}  # noqa: E731
    assert read(again) == read(whole[11])
    assert read(batches(sets, batch_size=8, seed=4, step=11)) != read(again)


def test_every_task_has_a_whole_batch_whatever_its_size():
    batch = batches([of_images(500), of_texts(3), of_images(40, task="quality")], batch_size=32, seed=0, step=0)
    assert {task: len(rows) for task, rows in batch.items()} == {
        "image-for-text": 32,
        "text-for-image": 32,
        "quality": 32,
    }
    assert {row.task for row in batch["quality"]} == {"quality"}


def test_data_sets_of_a_task_are_mixed_by_size():
    told = seen([of_texts(90, dataset="large"), of_texts(30, dataset="small")], task="text-for-image", steps=15)
    assert Counter(text.split()[0] for text in told) == {"large": 90, "small": 30}  # one epoch of 120
    assert {text.split()[0] for text in told[:40]} == {"large", "small"}


def test_tasks_of_equally_many_examples_are_not_shuffled_alike():
    batch = batches([of_images(200), of_images(200, task="quality")], batch_size=32, seed=0, step=0)
    first, second = ([row.reference.read() for row in rows] for rows in batch.values())
    assert first != second


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "No training examples. Name at least one data set"),
        ([of_texts(0)], "captions: no example of text-for-image"),
    ],
    ids=["no set", "an empty set"],
)
def test_without_examples_nothing_is_trained(sets, message):
    with pytest.raises(BadInput, match=message):
        by_task(sets)


def test_a_task_that_is_not_a_core_task_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match="No task 'image-for-texts' to train on. Did you mean 'image-for-text'"):
        of_images(2, task="image-for-texts")


def test_columns_of_another_modality_or_length_are_refused():
    with pytest.raises(BadInput, match="examples of text-for-image are image, text, text, not text, image, image"):
        of_images(2, task="text-for-image")
    whole = of_images(3)
    with pytest.raises(BadInput, match="columns of unlike lengths"):
        ColumnExamples(
            task="quality",
            dataset="pictures",
            reference=whole.reference,
            alternatives=whole.alternatives,
            preferred=np.zeros(2, int),
        )


def test_what_cannot_be_read_is_named():
    broken = ColumnExamples(
        task="quality",
        dataset="pictures",
        reference=texts([" "], of="prompts"),
        alternatives=(images([b"no image"], of="left"), images([png(1)], of="right")),
        preferred=np.array([0]),
    )
    with pytest.raises(BadInput, match="left, image 0: not an image"):
        broken[0].alternatives[0].image()
    with pytest.raises(BadInput, match="prompts, text 0: an empty text"):
        broken[0].reference.text()
