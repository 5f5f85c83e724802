"""likeness frechet --grid: every pair of backbones from images or features, stored once, resumed."""

import csv
import io
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
    return put(folder, {f"{key}.npy": change(rows) for key, rows in made.items()})


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    root = tmp_path_factory.mktemp("features")
    save(root / "real", 10, IMAGES)
    for at, name in enumerate(GENERATORS):
        save(root / name, 20 + at, IMAGES, noise=1 + at)
    texts = save(root / "texts", 30, TEXTS, noise=0.5)
    np.savez(root / "prompts.npz", **{key: np.load(texts / f"{key}.npy") for key in TEXTS})
    table(root / "rates.csv", "generator,rate|a,70%|b,60%|c,50%|d,20%")
    return root


def sets(features, results, prompts=None):
    generated = " ".join(f"{name}={features}/{name}" for name in GENERATORS)
    prompts = prompts or features / "prompts.npz"
    return f"--reference {features}/real --generated {generated} --prompts {prompts} --results {results}"


@pytest.fixture(scope="module")
def made(features, tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    return frechet(f"{sets(features, results)} --human {features}/rates.csv --format csv"), results


def test_every_cell_is_cfred_of_its_pair_with_the_agreement_of_people(made, features):
    result, _ = made
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["backbone"], row["generator"]) for row in rows] == [
        (f"{image}|{text}", name) for image in IMAGES for text in TEXTS for name in GENERATORS
    ]
    for row in rows:
        image, text = row["backbone"].split("|")
        files = (f"real/{image}", f"{row['generator']}/{image}", f"texts/{text}")
        sides = (np.load(features / f"{name}.npy") for name in files)
        alone = cfred(**dict(zip(("real", "generated", "condition"), sides, strict=True)))
        assert float(row["value"]) == pytest.approx(alone.value, rel=1e-9)
        # The noisier a generator the fewer people like it: every pair of backbones agrees.
        assert float(row["rho_squared"]) > 0.5 and float(row["accuracy"]) == float(row["spearman"]) == 1
    assert "16 cells, 16 of them new; 8 runs of the suite grid-prompts" in result.stderr
    assert "Of the 46 image backbones of the cFreD paper 0 are here" in result.stderr


def test_the_runs_are_an_own_suite_with_a_score_a_pair_and_one_ranked_task(made, tmp_path):
    _, results = made
    report = build.build(tmp_path / "own.duckdb", results=results)
    assert not [problem for problem in report.problems if "grid" in problem]
    frames = store.frames(tmp_path / "own.duckdb", names=("leaderboard_scores", "tasks"))
    scores = frames["leaderboard_scores"].query("suite == 'grid-prompts'")
    assert set(scores["benchmark"]) == {"own"} and set(scores["model"]) == {f"own/{name}" for name in GENERATORS}
    pairs = {f"{image}|{text}" for image in IMAGES for text in TEXTS}
    assert set(scores["subset"]) == {"default", *pairs} and set(scores["n"].dropna()) == {N}
    ranked = frames["tasks"].set_index("key")["ranked"]
    # Distances under unlike backbones make no mean.
    assert [ranked[f"own/grid-prompts/{image}"] for image in ("timm-small", "wide")] == [True, False]


def test_nothing_is_computed_twice_and_one_more_text_backbone_costs_its_own_cells(made, features, tmp_path):
    first, results = made
    again = frechet(f"{sets(features, results)} --format csv")
    assert "16 cells, 0 of them new" in again.stderr and again.exit_code == 0
    before, now = (pd.read_csv(io.StringIO(each.stdout)) for each in (first, again))
    pd.testing.assert_frame_equal(before[now.columns], now)
    put(tmp_path, {f"prompts/{key}.npy": np.load(features / f"texts/{key}.npy") for key in TEXTS})
    more = save(tmp_path / "prompts", 31, {"third": 3})
    asked = []
    with patch.object(grid, "cfred_grid", side_effect=lambda **sides: asked.append(sides) or real_grid(**sides)):
        wider = frechet(f"{sets(features, results, more)} --name prompts")
    assert wider.exit_code == 0, wider.output
    assert "24 cells, 8 of them new" in wider.stderr
    assert [list(sides["condition"]) for sides in asked] == [["third"], ["third"]]
    build.build(tmp_path / "own.duckdb", results=results)
    scores = store.frames(tmp_path / "own.duckdb", names=("scores",))["scores"]
    # People's ratings stay where a later grid names none.
    newer = scores[scores["run"].isin(scores[scores["subset"] == "timm/small|third"]["run"])]
    assert sorted(newer[newer["metric"] == "human_rate"]["value"], reverse=True) == pytest.approx([0.7, 0.6, 0.5, 0.2])


def test_a_generator_without_the_pair_that_the_task_names_first_is_not_ranked(features, tmp_path):
    assert frechet(sets(features, tmp_path)).exit_code == 0
    prompts = save(tmp_path / "prompts", 31, {"third": 3})
    new = f"--reference {features}/real --generated new={features}/a --prompts {prompts} --results {tmp_path}"
    assert frechet(new).exit_code == 0
    found = [pd.read_parquet(path) for path in tmp_path.glob("own__new/*/*/scores.parquet")]
    assert sorted(each["subset"].tolist() for each in found) == [["timm/small|third"], ["wide|third"]]


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
    assert "16 cells, 8 of them new" in resumed.stderr


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
        f"--reference {features}/real --generated a={features}/a b={tmp_path}/b --prompts {features}/prompts.npz "
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
