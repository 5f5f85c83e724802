"""Computed sets of generators: read from runs, ranked with what is proven, beside people where they rated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from compute.analysis.generators.agreement import TOO_FEW
from compute.engine.generators.backbones import METRICS
from leaderboard.data.database import Database
from leaderboard.pages.generators.computed import ComputedSet, load
from tests.leaderboard import generator_stand_ins

RATES = {"good": 0.6, "same": 0.55, "worse": 0.3, "worst": 0.1}


def read(folder: Path, *, human: dict[str, float] | None = None) -> dict[str, ComputedSet]:
    return load(generator_stand_ins.opened(folder, human=human))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    return read(tmp_path_factory.mktemp("own"))[generator_stand_ins.SUITE]


def test_a_stored_comparison_is_a_set_with_every_metric(own):
    assert [generator.title for generator in own.generators] == sorted(generator_stand_ins.GENERATORS)
    assert (own.images, own.paired, own.people) == (60, True, None)
    assert list(own.columns) == [metric for metric in METRICS if metric in ("fd", "cfred", "kid", "clipscore")]
    column = own.column("fd")
    assert (column.subset, column.higher) == ("tiny", False)
    assert (column.low < column.values).all() and (column.values < column.high).all()


def test_only_proven_differences_move_a_generator_from_the_first_rank(own):
    column = own.column("fd")
    titles = [own.generators[row].title for row in column.first]
    assert sorted(titles) == ["good", "same"]
    rows = {generator.title: row for row, generator in enumerate(own.generators)}
    assert column.differences is not None and column.differences.pairs == 6
    assert column.differences.better[rows["good"], rows["worst"]]
    assert not column.differences.better[rows["good"], rows["same"]]
    scores = own.column("clipscore")
    assert scores.higher and scores.differences is not None and scores.differences.better[rows["good"], rows["worst"]]


def test_people_are_compared_with_the_metrics_where_they_rated(own, tmp_path):
    assert own.beside_people(own.every_column()) == ()
    rated = read(tmp_path, human=RATES)[generator_stand_ins.SUITE]
    assert rated.people is not None and rated.people[0] == "human_rate"
    readings = {reading.column.metric: reading for reading in rated.beside_people(rated.every_column())}
    assert set(readings) == set(rated.columns)
    assert readings["fd"].verdict == TOO_FEW  # of four generators
    assert readings["fd"].agreement is not None and readings["fd"].agreement.pearson.value < -0.8
    partly = read(tmp_path / "two", human=dict(list(RATES.items())[:2]))[generator_stand_ins.SUITE]
    reading = partly.beside_people((partly.column("fd"),))[0]
    assert reading.agreement is None and "three generators" in reading.reason


def test_a_backbone_that_a_metric_does_not_have_gives_its_nearest(tmp_path):
    mini = read(tmp_path)["mini-generators"]
    assert mini.benchmark == "mini" and len(mini.generators) == 4
    assert mini.column("fd").subset == "tiny"
    assert mini.column("fd", backbone="efficientnet-lite0").subset == "efficientnet-lite0"
    assert mini.column("cfred", backbone="efficientnet-lite0").subset == "efficientnet-lite0|tiny"
    assert mini.column("fd", backbone="tiny|wordllama").subset == "tiny"
    assert np.isfinite(mini.column("fd").low).all()  # from the values without each group of prompts


def test_a_value_without_an_interval_has_no_bounds_of_its_metric_in_its_stead(tmp_path):
    generator_stand_ins.make(tmp_path / "results")
    for path in (tmp_path / "results").glob("own__good/*/*/run.json"):
        record = json.loads(path.read_text())
        for part in ("low", "high"):
            record["settings"]["found"]["tiny"]["fd"][part] = None
        record["settings"]["found"]["tiny"]["fd"]["left_out"] = []
        path.write_text(json.dumps(record))
    own = load(Database(generator_stand_ins.database(tmp_path, results=tmp_path / "results")))
    column = own[generator_stand_ins.SUITE].column("fd")
    row = [generator.title for generator in own[generator_stand_ins.SUITE].generators].index("good")
    assert np.isfinite(column.values[row]) and np.isnan(column.low[row]) and np.isnan(column.high[row])
    assert column.differences is not None and column.differences.pairs == column.untested == 3
