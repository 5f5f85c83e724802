"""The study of drawn generators from end to end on the bundled encoder: runs, what they hold, and the table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from compute.analysis.sensitivity import BLIND, REWARDS, SEES
from compute.catalog import shipped
from compute.database import build
from compute.engine import fault_study, run_folders
from compute.engine.bench import assemble
from compute.models.adapter import Hardware
from compute.tasks.mini import generators as drawn
from compute.tasks.source import Source
from compute.types import NotHere, UnknownKey

MODELS = tuple(f"mini/{fault}-{strength}" for fault in ("prompts", "blur", "copies") for strength in (1, 2, 3, 4))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three faults on one backbone; `again()` is the same command once more."""
    root = tmp_path_factory.mktemp("study")
    patch = pytest.MonkeyPatch()
    patch.setattr(fault_study, "IMAGE_BACKBONES", ("tiny",))
    patch.setattr(fault_study, "TEXT_BACKBONES", ("tiny", "wordllama-that-is-not-here"))
    models = {row.key: row for row in shipped().models}
    catalog = _Catalog(shipped(), models)
    bench = assemble(
        features=root / "features", source=Source(offline=True), hardware=Hardware(device="cpu", dtype="float32")
    )

    def make(*, again=False):
        return fault_study.execute(catalog, bench=bench, results=root, models=("mini/clean", *MODELS), again=again)

    yield make(), make, catalog, root
    patch.undo()


class _Catalog:
    """The shipped catalogue, in which one text backbone has weights that are not here."""

    def __init__(self, real, models):
        self._real, self._models = real, models

    def model(self, key):
        if key == "wordllama-that-is-not-here":
            raise NotHere("Its weights are not on this machine")
        return self._real.model(key)

    def __getattr__(self, name):
        return getattr(self._real, name)


def test_a_run_a_generator_with_the_headline_first(study):
    outcome, _, _, root = study
    assert (len(outcome.runs), outcome.made) == (13, 13)
    stored = outcome.runs[0]
    assert (stored.run.model, stored.run.task, stored.run.procedure) == ("mini/clean", "mini/generators", "frechet")
    assert {(score.metric, score.subset) for score in stored.scores} >= {
        ("cfred", "default"),
        ("cfred", "tiny|tiny"),
        ("fd", "default"),
        ("fd", "tiny"),
        ("clipscore", "default"),
        ("clipscore", "tiny|tiny"),
    }
    headline = run_folders.headline(stored)
    assert (headline.metric, headline.subset, headline.n) == ("cfred", "default", 256)
    assert all(score.stderr > 0 for score in stored.scores)
    items = pd.read_parquet(stored.folder / run_folders.ITEMS)
    assert list(items["expected"]) == [prompt.text for prompt in drawn.all_prompts()]
    assert items["value"].mean() == pytest.approx(
        next(score.value for score in stored.scores if score.metric == "clipscore"), abs=1e-5
    )
    assert "what is missing" not in json.dumps(stored.run.settings)
    assert outcome.missing == ("wordllama-that-is-not-here: Its weights are not on this machine",)


def test_what_is_stored_is_not_made_again(study):
    outcome, make, _, _ = study
    same = make()
    assert (same.made, [stored.run.id for stored in same.runs]) == (0, [stored.run.id for stored in outcome.runs])


def test_swapped_prompts_leave_fd_unchanged_and_raise_cfred(study):
    outcome, _, catalog, _ = study
    found = fault_study.sensitivities(outcome.runs, catalog=catalog)
    fd, cfred = found["fd", "tiny", "prompts"], found["cfred", "tiny|tiny", "prompts"]
    assert (fd.verdict, fd.spearman, set(fd.change)) == (BLIND, None, {0.0})
    assert (cfred.verdict, cfred.monotone) == (SEES, True)
    assert found["clipscore", "tiny|tiny", "prompts"].verdict == SEES


def test_distances_reward_copies_of_the_reference(study):
    outcome, _, catalog, _ = study
    copies = fault_study.sensitivities(outcome.runs, catalog=catalog)["fd", "tiny", "copies"]
    assert copies.verdict == REWARDS
    assert copies.values[-1] == pytest.approx(0, abs=1e-6)


def test_strengths_without_a_run_are_left_out(study):
    outcome, _, catalog, _ = study
    found = fault_study.sensitivities(outcome.runs[:-1], catalog=catalog)  # without copies-4
    assert {fault for _, _, fault in found} == {"prompts", "blur", "copies"}
    assert len(found["fd", "tiny", "copies"].strengths) == 4  # the strongest has no run
    assert fault_study.sensitivities(outcome.runs[1:], catalog=catalog) == {}  # without the clean generator


def test_the_table_names_verdicts_and_what_is_missing(study):
    outcome, _, catalog, _ = study
    text = fault_study.lines(outcome, catalog=catalog)
    row = next(line for line in text if line.startswith("| FD "))
    assert "rewards (-1.0)" in row and "| - " in row
    assert text[-1] == "Missing: wordllama-that-is-not-here: Its weights are not on this machine"


def test_groups_and_sets_are_of_all_prompts_and_disjoint():
    parts = fault_study.groups(256)
    assert sorted(np.concatenate(parts)) == list(range(256))
    assert {len(part) for part in parts} == {16}
    for size in fault_study.SIZES:
        sets = fault_study.sets(256, size)
        assert len(sets) == 256 // size
        assert len(np.unique(np.concatenate(sets))) == len(sets) * size


def test_fewer_prompts_raise_a_frechet_distance(study):
    outcome, _, _, _ = study
    sizes = outcome.runs[0].run.settings["found"]["tiny"]["fd"]["by_size"]
    values = [sizes[str(size)] for size in fault_study.SIZES]
    whole = next(score.value for score in outcome.runs[0].scores if score.metric == "fd")
    assert values[0] > values[1] > values[2] > whole


def test_the_database_takes_the_runs(study, tmp_path):
    *_, root = study
    report = build.build(tmp_path / "likeness.duckdb", results=root)
    assert not [problem for problem in report.problems if "mini" in problem]
    assert report.computed >= 13


def test_other_models_are_refused(study):
    _, _, catalog, root = study
    with pytest.raises(UnknownKey, match="No model 'tiny'"):
        fault_study.execute(catalog, bench=None, results=root, models=("tiny",))
