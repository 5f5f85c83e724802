"""The drawn suites: the shape of each task's items, and answers that hold. See test_drawing on what is held out."""

import io

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks import columns, mini
from compute.tasks.data import (
    CONDITIONS,
    Choices,
    Clusters,
    Matches,
    OddOneOut,
    Probe,
    RatedPairs,
    Retrieval,
    Sentences,
    ZeroShot,
    size,
)
from compute.tasks.drawing.compose import facts
from compute.tasks.mini import pairs
from compute.tasks.pairbench.splits import SPLITS
from compute.tasks.source import Source

TASKS = {task.key: task for task in shipped().tasks if "mini" in task.suites}
PAIRS = {task.key: task for task in shipped().tasks if "mini-pairs" in task.suites}
# By procedure: the items' class, and what guessing gets: 1 / k, or 1/6 for two images and two captions, since one of
# the 24 orders of four scores in four puts both pairs on top.
SHAPES = {
    "choice": (Choices, lambda data: 1 / len(data.alternatives)),
    "odd_one_out": (OddOneOut, lambda data: 1 / len(data.members)),
    "retrieval": (Retrieval, lambda data: mean_gain(data, 10)),
    "probe": (Probe, lambda data: 1 / len(data.test.classes)),
    "zero_shot": (ZeroShot, lambda data: 1 / len(data.prompts)),
    "clustering": (Clusters, None),
    "sts": (Sentences, lambda data: 0),
    "matching": (Matches, lambda data: 1 / 6),
    "multiple_choice": (Retrieval, lambda data: len(data.queries) / len(data.candidates[0])),
}


def mean_gain(data, depth):
    """Of nDCG the mean gain of a random order over the best one's."""
    gains = 1 / np.log2(np.arange(2, depth + 2))
    relevant = np.bincount(data.relevant[0], minlength=len(data.queries))
    best = np.array([gains[:count].sum() for count in relevant])
    return float((relevant / len(data.documents) * gains.sum() / best).mean())


def image(column, row):
    return Image.open(io.BytesIO(column.read(row)))


@pytest.mark.parametrize("key", TASKS)
def test_items_are_what_the_catalogue_says(key):
    """Subsets, number of items, shape for the procedure, chance level, and keys that are the contents' own."""
    data = mini.load(task := TASKS[key])
    kind, chance = SHAPES[task.procedure]
    assert tuple(data) == task.subsets and "ynthetic" in task.notes
    assert all(type(part) is kind for part in data.values())
    assert {size(part) for part in data.values()} == {task.n_items} and task.n_items >= 20
    if task.chance is not None:
        assert task.chance == pytest.approx(chance(data["default"]), abs=6e-5)
    for column in columns(next(iter(data.values()))):
        for row in (0, len(column) - 1):
            content = column.read(row)
            assert content_key(content) == column.keys[row] and task.key in column.name(row)
            assert isinstance(content, str) and content or image(column, row).size == (64, 64)


def test_instances_are_ignored_by_protocol():
    """Radenovic et al. 2018: easy and hard views count at medium; at hard only hard ones do, easy ones are ignored."""
    medium, hard = mini.load(TASKS["mini/instances"]).values()
    for data, good, junk in ((medium, 6, 1), (hard, 3, 4)):
        assert np.bincount(data.relevant[0]).tolist() == [good] * 24
        assert np.bincount(data.ignored[0]).tolist() == [junk] * 24
        assert not {*zip(*data.relevant[:2], strict=True)} & {*zip(*data.ignored, strict=True)}


@pytest.mark.parametrize("key", PAIRS)
def test_pairs_are_what_the_catalogue_says(key):
    by_condition = mini.load(task := PAIRS[key])
    split = SPLITS[key.removeprefix("mini/pairs-")]
    assert tuple(by_condition) == task.subsets == CONDITIONS and "ynthetic" in task.notes
    for part in by_condition.values():
        assert type(part) is RatedPairs and 2 * size(part) == task.n_items
        assert {part.first.modality, part.second.modality} == set(task.modalities)
        assert part.transformations == split.transformations and len(set(part.sources)) == 30
        assert (part.first.keys != part.second.keys).all()
        assert all("mini-pairs" in column.name(1) for column in columns(part))
        assert image(part.first, 1).size in ((64, 64), (61, 61))
    variants = len(by_condition["invariant"].second_variants)
    assert variants == (5 if split.change else 0) and not by_condition["sensitive"].second_variants
    assert mini.needs(task, source=Source()).questions == 2 * task.n_items == 4 * size(part)
    assert {"pairs", "perturb"} <= set(mini.identity(task, source=Source()))


def test_captions_and_counterparts_are_true_of_their_scenes():
    scenes = {name: (scene, shows) for name, scene, shows in pairs._related()}
    assert len(scenes) == 30 and len({shows.objects for _, shows in scenes.values()}) >= 8
    for scene, shows in scenes.values():
        first, second = shows.objects
        assert f"relation {first} {shows.relation} {second}" in facts(scene)
        assert dict(shows.captions)[shows.relation] == f"a {first} {shows.relation} a {second}"
        assert len(shows.captions) == 4
    for split in ("sp", "sp-text"):
        part = mini.load(PAIRS[f"mini/pairs-{split}"])["sensitive"]
        assert set(part.expected[np.char.startswith(part.types, "transformed")]) == {8}
