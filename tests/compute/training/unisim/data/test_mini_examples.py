"""Drawn training examples: answers that hold, the suite's forms, and nothing that is evaluated."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from compute.tasks import mini as suite
from compute.tasks.data import every_column, size
from compute.tasks.drawing.photographs import PARTS
from compute.training.unisim.data import drawn_groups, mini
from compute.training.unisim.data.examples import TASKS, batches
from compute.types import LikenessError

COUNT = mini.whole_groups(1)


@pytest.fixture(scope="module")
def sets() -> dict[str, mini.DrawnExamples]:
    return {part.task: part for part in mini.training(seed=5, count=COUNT)}


@pytest.fixture(scope="module")
def validation() -> dict:
    return mini.validation(count=40)


def image_keys(part: mini.DrawnExamples) -> set[bytes]:
    return {
        key
        for column, content in zip(part.keys().T, part[0].contents, strict=True)
        if content.modality == "image"
        for key in column.tolist()
    }


@pytest.mark.parametrize("task", TASKS)
def test_contents_are_of_the_tasks_modalities_and_keys_are_their_own(sets, task):
    of_reference, of_alternatives = TASKS[task]
    part = sets[task]
    assert part.keys().shape == (COUNT, 3)
    for row in (0, 1, COUNT - 1):
        example = part[row]
        assert [content.modality for content in example.contents] == [of_reference, of_alternatives, of_alternatives]
        assert [content.key() for content in example.contents] == part.keys()[row].tolist()
        for content in example.contents:
            assert content.text() if content.modality == "text" else content.image().size == (64, 64)
    with pytest.raises(IndexError):
        part[COUNT]


@pytest.mark.parametrize("task", TASKS)
def test_an_example_is_the_same_from_any_thread_and_whatever_was_drawn_before(sets, task):
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda row: [content.key() for content in sets[task][row].contents], range(COUNT)[::-1]))
    assert drawn[::-1] == sets[task].keys().tolist()
    assert mini.DrawnExamples(task=task, seed=6, count=COUNT).keys().tolist() != sets[task].keys().tolist()


def test_a_second_process_draws_the_same(sets):
    """Contents, keys and answers; what it drew is cached like what is drawn here, so each is asked anew."""

    def drawn() -> list:
        drawn_groups.group.cache_clear()
        return [
            (
                content.key(),
                content.data(),
                content.name(),
                content.image().tobytes() if content.modality == "image" else "",
            )
            for part in sets.values()
            for row in (0, COUNT - 1)
            for content in part[row].contents
        ]

    here = drawn()
    with drawn_groups.second_process():
        there = drawn()
    drawn_groups.group.cache_clear()
    assert here == there and len(here) == 24


def test_a_second_process_that_ends_is_said_and_one_whose_parent_ends_ends_too(sets):
    with drawn_groups.second_process():
        drawn_groups.group.cache_clear()
        sets["quality"][0]
        (worker,) = drawn_groups._second._processes.values()
        worker.kill()
        worker.join()
        with pytest.raises(LikenessError, match="The process that draws training images was killed"):
            mini.DrawnExamples(task="quality", seed=77, count=COUNT)[0]
    script = (
        "import os\nfrom compute.training.unisim.data import drawn_groups, mini\n"
        "if __name__ == '__main__':\n"
        "    with drawn_groups.second_process():\n"
        "        mini.training(count=144)[3][0]\n"
        "        print(*drawn_groups._second._processes, flush=True)\n"
        "        os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    child = int(run.stdout)
    assert run.returncode == -9
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the process still draws for nobody")


@pytest.mark.parametrize("task", TASKS)
def test_the_preferred_alternative_stands_on_either_side(sets, task):
    preferred = [sets[task][row].preferred for row in range(COUNT)]
    assert 0.25 < np.mean(preferred) < 0.75
    alternatives = sets[task].keys()[:, 1:]
    assert (alternatives[:, 0] != alternatives[:, 1]).all()


def test_no_training_image_is_an_image_of_the_suite_or_of_validation(sets, validation):
    trained = set().union(*map(image_keys, sets.values()))
    shown = mini.suite_images()
    held_out = {
        key
        for data in validation.values()
        for column in every_column(data)
        if column.modality == "image"
        for key in column.keys.tolist()
    }
    assert len(trained) > 60 and len(shown) > 5000 and len(held_out) > 1000
    assert not trained & shown
    assert not trained & held_out
    assert not held_out & shown


def test_validation_has_the_suites_tasks_and_forms(validation):
    assert tuple(validation) == (*mini.CORE, *mini.OOD)
    for key, subsets in validation.items():
        drawn = suite.drawn(key)
        assert tuple(subsets) == tuple(drawn)
        for subset, part in subsets.items():
            assert type(part) is type(drawn[subset])
            assert size(part) > (30 if key in mini.CORE else 0.8 * size(drawn[subset]))


def test_photographs_of_training_are_cut_from_another_part():
    assert PARTS["train"][1] <= PARTS["test"][0]


def test_keys_are_drawn_once_and_stored(tmp_path):
    part = mini.DrawnExamples(task="text-for-image", count=8, cache=tmp_path)
    first = part.keys()
    (stored,) = tmp_path.iterdir()
    changed = first.copy()
    changed[0, 0] = b"0" * 32
    np.save(stored, changed)  # what is stored is read, not drawn again
    assert part.keys().tolist() == changed.tolist()
    assert mini.DrawnExamples(task="text-for-image", count=9, cache=tmp_path).keys().shape == (9, 3)


def test_batches_take_drawn_examples(sets):
    batch = batches(list(sets.values()), batch_size=4, seed=0, step=3)
    assert tuple(batch) == tuple(TASKS) and {len(rows) for rows in batch.values()} == {4}
    assert batch["quality"][0].reference.text() == "A high quality photo."
