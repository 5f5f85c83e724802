"""The drawn pairs for judges: what the catalogue says of them, relations that hold, and nothing that was trained on."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from compute.tasks import columns, mini
from compute.tasks.data import CONDITIONS, RatedPairs, size
from compute.tasks.drawing.scenes import facts
from compute.tasks.mini import pairs
from compute.tasks.pairbench.splits import SPLITS
from compute.tasks.source import Source
from compute.types import Task

TASKS = {task.key: task for task in shipped().tasks if "mini-pairs" in task.suites}


def test_the_catalogue_and_the_generator_have_the_same_tasks() -> None:
    assert set(TASKS) == set(mini.PAIRS) and not set(mini.PAIRS) & set(mini.TASKS)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.key)
def test_pairs_are_what_the_catalogue_says(task: Task) -> None:
    by_condition = mini.load(task)
    split = SPLITS[task.key.removeprefix("mini/pairs-")]
    assert tuple(by_condition) == task.subsets == CONDITIONS and "ynthetic" in task.notes
    for part in by_condition.values():
        assert type(part) is RatedPairs and 2 * size(part) == task.n_items
        assert {part.first.modality, part.second.modality} == set(task.modalities)
        assert part.transformations == split.transformations
        assert len(set(part.sources)) == 30
        assert (part.first.keys != part.second.keys).all()
        for column in columns(part):
            shown = column.read(1)
            assert "mini-pairs" in column.name(1)
            assert isinstance(shown, str) or Image.open(io.BytesIO(shown)).size in ((64, 64), (61, 61))
    variants = len(by_condition["invariant"].second_variants)
    assert variants == (5 if split.change else 0) and not by_condition["sensitive"].second_variants
    assert mini.needs(task, source=Source()).questions == 2 * task.n_items == 4 * size(part)
    assert {"pairs", "perturb"} <= set(mini.identity(task, source=Source()))


def test_captions_and_counterparts_are_true_of_their_scenes() -> None:
    scenes = {name: (scene, shows) for name, scene, shows in pairs._related()}
    assert len(scenes) == 30 and len({shows.objects for _, shows in scenes.values()}) >= 8
    for scene, shows in scenes.values():
        first, second = shows.objects
        assert f"relation {first} {shows.relation} {second}" in facts(scene)
        assert dict(shows.captions)[shows.relation] == f"a {first} {shows.relation} a {second}"
        assert len(shows.captions) == 4
    for split in ("sp", "sp-text"):
        part = mini.load(TASKS[f"mini/pairs-{split}"])["sensitive"]
        assert set(part.expected[np.char.startswith(part.types, "transformed")]) == {8}
