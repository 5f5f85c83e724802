"""Nothing that is drawn to train on or to choose a step by is an image of the mini suite."""

from __future__ import annotations

from compute.tasks import mini as suite
from compute.tasks.data import every_column, size
from compute.training import drawn
from compute.training.question_groups import QUESTIONS


def test_validation_has_the_suite_s_tasks_and_shares_no_image_with_it_or_with_training():
    def images(data) -> set[bytes]:
        columns = [column for subsets in data for column in every_column(subsets) if column.modality == "image"]
        return {key for column in columns for key in column.keys.tolist()}

    validation = drawn.validation()
    assert tuple(validation) == (*drawn.CORE, *drawn.OOD)
    for key, subsets in validation.items():
        of_suite = suite.drawn(key)
        assert tuple(subsets) == tuple(of_suite)
        assert all(size(part) > 0.8 * size(of_suite[subset]) for subset, part in subsets.items())
    held_out, shown = images(validation.values()), images(map(suite.drawn, suite.TASKS))
    trained = {
        content.key()
        for part in drawn.training(seed=5, count=1)
        for row in range(QUESTIONS)
        for content in part[row].contents
        if content.modality == "image"
    }
    assert len(trained) > 60 and len(shown) > 5000 and len(held_out) > 1000
    assert not trained & shown and not trained & held_out and not held_out & shown
