"""The study of drawn generators from end to end on the bundled encoder: runs, what they hold, and the table."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.generators.sensitivity import BLIND, REWARDS, SEES
from compute.catalog import shipped
from compute.database import build
from compute.engine import fault_study, run_folders
from compute.engine.bench import assemble
from compute.engine.generators import figures as generator_figures
from compute.engine.generators.backbones import KERNELS, METRICS, NEEDS
from compute.engine.generators.record import GeneratorFigure
from compute.metrics.distribution import intervals
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
        ("clipscore", "tiny"),
    }
    headline = run_folders.headline(stored)
    assert (headline.metric, headline.subset, headline.n) == ("cfred", "default", 256)
    assert {score.metric for score in stored.scores} == {*METRICS} - {*NEEDS}
    assert all(score.stderr > 0 for score in stored.scores if score.value not in (0, 1))
    items = pd.read_parquet(stored.folder / run_folders.ITEMS)
    assert list(items["expected"]) == [prompt.text for prompt in drawn.all_prompts()]
    assert items["value"].mean() == pytest.approx(
        next(score.value for score in stored.scores if score.metric == "clipscore"), abs=1e-5
    )
    assert stored.run.settings["per_prompt"] == {"kinds": ["clipscore", "distance"], "backbones": ["tiny", "tiny"]}
    details = [json.loads(text) for text in items["detail"]]
    assert all(detail["metrics"] == ["distance"] and detail["scores"][0] >= 0 for detail in details)
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
    assert found["clipscore", "tiny", "prompts"].verdict == SEES


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
    assert "Not run: FID, Inception Score. InceptionV3 is missing, and the study downloads no weights." in text
    assert not any("Not run" in line and "KID" in line for line in text)
    assert text[-1] == "Missing: wordllama-that-is-not-here: Its weights are not on this machine"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Features of the clean generator and of the strongest blur on the bundled encoder, and what is computed."""
    folder = tmp_path_factory.mktemp("features")
    catalog = shipped()
    bench = assemble(features=folder, source=Source(offline=True), hardware=Hardware(device="cpu", dtype="float32"))
    generators = [drawn.BY_KEY["clean"], drawn.BY_KEY["blur-4"]]
    missing: list[str] = []
    features = fault_study.encode(["tiny"], generators=generators, catalog=catalog, bench=bench, missing=missing)
    assert missing == []
    return features, fault_study.choices(["tiny"])


def test_its_figures_are_those_of_the_command(two):
    """Value, interval, standard error and value at infinite N of every metric, but for rounding."""
    features, chosen = two
    measured = fault_study.measure(features, chosen=chosen)
    own = {(name, each.figure.metric): each.figure for name, of in measured.items() for each in of}
    command = generator_figures.figures(features, chosen=chosen[0], intervals=True)
    assert {(row.generator, row.metric) for row in command} == set(own)
    for row in command:
        mine = own[row.generator, row.metric]
        limits = () if row.metric in KERNELS else ("limit", "limit_low", "limit_high")
        for name in ("value", "low", "high", "stderr", *limits):
            expected = getattr(row, name)
            assert getattr(mine, name) == (
                None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12)
            ), (
                row.metric,
                name,
            )


def test_a_new_metric_of_the_command_is_in_the_study(two, monkeypatch):
    """Nothing of the study names it: its value, and its values without each block and of fewer prompts."""
    features, chosen = two

    def brightness(features):
        for name in features.generated:
            sets = features.images["tiny"]
            value = float(np.mean(sets[name]))
            yield GeneratorFigure(generator=name, metric="fid", backbone="tiny", value=value, n=len(sets[name]))

    monkeypatch.setattr(generator_figures, "_means", brightness)
    made = fault_study.measure(features, chosen=[replace(chosen[0], cfred=(), text=(), metrics=("fid",))])
    [added] = made["clean"]
    assert added.figure.value == pytest.approx(np.mean(features.images["tiny"]["clean"]))
    assert added.figure.stderr > 0 and len(added.left_out) == intervals.BLOCKS
    assert [part.count for part in added.smaller] == [32, 64, 85, 128]


def test_curves_are_of_the_clean_and_the_strongest_generators(study):
    outcome, *_ = study
    curved = {stored.run.model for stored in outcome.runs if "smaller" in stored.run.settings["found"]["tiny"]["fd"]}
    assert curved == {"mini/clean", "mini/prompts-4", "mini/blur-4", "mini/copies-4"}


def test_fewer_prompts_raise_a_frechet_distance_and_leave_clipscore(study):
    outcome, _, _, _ = study
    found = outcome.runs[0].run.settings["found"]["tiny"]
    whole = {score.metric: score.value for score in outcome.runs[0].scores}
    values = [found["fd"]["smaller"][size][0] for size in ("32", "64", "85", "128")]
    limit, low, high = found["fd"]["limit"]
    assert values == sorted(values, reverse=True) and values[-1] > whole["fd"] > limit
    assert low < limit < high < whole["fd"]
    assert not any("limit" in found[metric] for metric in ("clipscore", "vendi", "recall"))
    assert all(
        value == pytest.approx(whole["clipscore"], rel=0.01) for value, *_ in found["clipscore"]["smaller"].values()
    )


def test_images_of_one_prompt_lower_the_kid_of_few_prompts(study):
    """Of paired sets each prompt's two images are alike, and one in N pairs is of one prompt: a bias in 1 / N."""
    outcome, _, _, _ = study
    found = outcome.runs[0].run.settings["found"]["tiny"]["kid"]
    values = [found["smaller"][size][0] for size in ("32", "64", "128")]
    limit, low, high = found["limit"]
    assert values[0] < values[1] < values[2] < 0 and low < 0 < high
    assert values[0] * 32 == pytest.approx(values[2] * 128, rel=0.35)


def test_the_database_takes_the_runs(study, tmp_path):
    *_, root = study
    report = build.build(tmp_path / "likeness.duckdb", results=root)
    assert not [problem for problem in report.problems if "mini" in problem]
    assert report.computed >= 13


def test_other_models_are_refused(study):
    _, _, catalog, root = study
    with pytest.raises(UnknownKey, match="No model 'tiny'"):
        fault_study.execute(catalog, bench=None, results=root, models=("tiny",))
