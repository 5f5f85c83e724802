"""likeness frechet --grid: every pair of backbones from images or features, stored once, resumed."""

import io
import json
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from compute.database import build, store
from compute.engine.generators import grid
from compute.metrics.distribution.cfred import cfred
from compute.types import BadInput
from tests.compute.commands import assert_refused, command, done
from tests.compute.tasks.files import put, table

N = 60
IMAGES, TEXTS = {"timm/small": 6, "wide": 20}, {"short": 4, "long": 10}
GENERATORS = ("a", "b", "c", "d")
frechet = command("frechet --grid")
real_grid = grid.cfred_grid


def save(folder, seed, widths, *, noise=1.0, change=lambda rows: rows):
    """Features of the same prompts by backbone; more noise is farther from the reference."""
    meaning, slopes, rng = (np.random.default_rng(each) for each in (0, 1, seed))
    shared = meaning.normal(size=(N, 5))
    made = {
        key: (shared @ slopes.normal(size=(5, width)) + noise * rng.normal(size=(N, width))).astype(np.float32)
        for key, width in widths.items()
    }
    return put(folder, {f"{key.replace('/', '__')}.npy": change(rows) for key, rows in made.items()})


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    root = tmp_path_factory.mktemp("features")
    save(root / "real", 10, IMAGES)
    for at, name in enumerate(GENERATORS):
        save(root / name, 20 + at, IMAGES, noise=1 + at)
    save(root / "texts", 30, TEXTS, noise=0.5)
    table(root / "rates.csv", "generator,rate|a,70%|b,60%|c,50%|d,20%")
    return root


def sets(features, results, prompts=None):
    generated = " ".join(f"{name}={features}/{name}" for name in GENERATORS)
    prompts = prompts or features / "texts"
    return f"--reference {features}/real --generated {generated} --prompts {prompts} --results {results}"


@pytest.fixture(scope="module")
def made(features, tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    return frechet(f"{sets(features, results)} --human {features}/rates.csv --format json"), results


def test_every_cell_is_cfred_of_its_pair_with_the_agreement_of_people(made, features):
    result, _ = made
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    rows, people = found["figures"], found["people"]
    pairs = [f"{image}|{text}" for image in IMAGES for text in TEXTS]
    assert {(row["backbone"], row["generator"]) for row in rows} == {*product(pairs, GENERATORS)} and len(rows) == 16
    # The noisier a generator the fewer people like it: every pair of backbones agrees.
    assert sorted(people["metrics"]) == [["cfred", pair] for pair in sorted(pairs)]
    assert all(one["pearson"]["value"] < -0.7 and one["accuracy"]["value"] == 1 for one in people["agreements"])
    for row in rows:
        image, text = row["backbone"].split("|")
        files = (f"real/{image}", f"{row['generator']}/{image}", f"texts/{text}")
        sides = (np.load(features / f"{name.replace('timm/', 'timm__')}.npy") for name in files)
        alone = cfred(**dict(zip(("real", "generated", "condition"), sides, strict=True)))
        assert row["value"] == pytest.approx(alone.value, rel=1e-9)
    assert "8 runs of the suite grid-texts" in result.stderr and "timm/small (1 of 2): 4 new" in result.stderr


def test_one_more_generator_costs_its_own_cells_and_the_runs_are_an_own_suite_with_a_score_a_pair(
    without_imports, made, features, tmp_path
):
    first, results = made
    again = frechet(f"{sets(features, results)} --format csv")
    assert again.exit_code == 0 and again.stderr.count("): 0 new") == 2
    before, now = json.loads(first.stdout)["figures"], pd.read_csv(io.StringIO(again.stdout))
    assert [row["value"] for row in before] == pytest.approx(now["value"].tolist(), rel=1e-12)
    save(tmp_path / "e", 30, IMAGES)
    asked = []
    with patch.object(grid, "cfred_grid", side_effect=lambda **sides: asked.append(sides) or real_grid(**sides)):
        done(frechet(f"{sets(features, results)} --generated e={tmp_path}/e"))
    assert [list(sides["generated"]) for sides in asked] == [["e"], ["e"]]
    report = build.build(tmp_path / "own.duckdb", results=results)
    assert not [problem for problem in report.problems if "grid" in problem]
    frames = store.frames(tmp_path / "own.duckdb", names=("leaderboard_scores", "tasks"))
    scores = frames["leaderboard_scores"].query("suite == 'grid-texts'")
    assert set(scores["benchmark"]) == {"own"} and set(scores["model"]) == {
        f"own/{name}" for name in (*GENERATORS, "e")
    }
    pairs = {f"{image}|{text}" for image in IMAGES for text in TEXTS}
    assert set(scores["subset"]) == {"default", *pairs} and set(scores["n"].dropna()) == {N}
    tasks = frames["tasks"].set_index("key")
    # Distances under unlike backbones make no mean; people's ratings stay where a later grid names none.
    assert [tasks["ranked"][f"own/grid-texts/{image}"] for image in ("timm-small", "wide")] == [True, False]
    assert list(tasks["metrics"]["own/grid-texts/timm-small"]) == ["cfred", "human_rate"]
    rates = scores[scores["metric"] == "human_rate"].set_index("model")["value"]
    assert rates.to_dict() == pytest.approx({"own/a": 0.7, "own/b": 0.6, "own/c": 0.5, "own/d": 0.2})


def test_ratings_that_come_later_are_added_to_stored_runs(features, tmp_path):
    done(frechet(sets(features, tmp_path)))
    done(frechet(f"{sets(features, tmp_path)} --human {features}/rates.csv"))
    found = [pd.read_parquet(path) for path in tmp_path.glob("own__a/*/*/scores.parquet")]
    assert sorted("human_rate" in set(each["metric"]) for each in found) == [False, True]
    runs = {path: path.read_bytes() for path in tmp_path.rglob("run.json")}
    done(frechet(f"{sets(features, tmp_path)} --human {features}/rates.csv"))
    assert {path: path.read_bytes() for path in tmp_path.rglob("run.json")} == runs and len(runs) == 8


def test_other_features_of_a_generator_are_computed_and_of_the_reference_a_suite_of_their_own(made, features, tmp_path):
    _, results = made
    save(tmp_path / "a", 40, IMAGES)
    changed = done(frechet(sets(features, results).replace(f"a={features}/a", f"a={tmp_path}/a")))
    assert changed.stderr.count("): 1 new") == 2
    save(tmp_path / "real", 11, IMAGES)
    done(frechet(sets(features, results).replace(f"{features}/real", f"{tmp_path}/real")))
    suites = {path.stem for path in (results / "suites").glob("*.json")}
    assert len(suites) == 2 and "grid-texts" in suites


def test_a_grid_that_was_stopped_resumes_behind_the_last_image_backbone(features, tmp_path):
    def stopped(**sides):
        cells = list(real_grid(**sides))
        if sides["real"].shape[1] == 20:  # of the second image backbone
            raise KeyboardInterrupt
        yield from cells

    with patch.object(grid, "cfred_grid", side_effect=stopped):
        halted = frechet(sets(features, tmp_path))
    assert halted.exit_code == 130 and "run the same command again to resume" in halted.output
    resumed = done(frechet(sets(features, tmp_path)))
    assert "timm/small (1 of 2): 0 new" in resumed.stderr and "wide (2 of 2): 4 new" in resumed.stderr


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda rows: rows[:50], ("b timm/small",)),
        (lambda rows: np.where(np.arange(N)[:, None] == 7, np.nan, rows), ("b timm/small", "row 7")),
        (None, ("no image backbone",)),
    ],
)
def test_bad_features_are_refused_by_name_and_nothing_is_stored(change, words, features, tmp_path):
    if change:
        save(tmp_path / "b", 5, IMAGES, change=change)
    else:
        save(tmp_path / "b", 5, {"other": 7})
    refused = frechet(
        f"--reference {features}/real --generated a={features}/a b={tmp_path}/b --prompts {features}/texts "
        f"--results {tmp_path}/results"
    )
    assert_refused(refused, BadInput, *words)
    assert not list((tmp_path / "results").rglob("run.json")) and not (tmp_path / "results" / "suites").exists()


def test_options_that_do_not_fit_are_refused(features, tmp_path):
    prompts = table(tmp_path / "prompts.csv", "image,prompt")
    for options, words in (
        ("--backbones wide,nothing", "nothing"),
        ("--backbones wide", "text backbone"),
        ("--metrics fd", "cFreD"),
        (f"--generated e={tmp_path}", "mixed"),
        (f"--prompts {prompts}", "prompts"),
    ):
        assert_refused(frechet(f"{sets(features, tmp_path)} {options}"), BadInput, words)
