"""likeness frechet, on drawn images with known faults: one table, stored runs, a suite of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compute.database import build, store
from compute.engine.generators.references import SavedReference
from compute.types import NotHere
from tests.compute.commands import assert_refused, command, save_images, save_prompts
from tests.compute.tasks import drawn_generators as drawn
from tests.compute.tasks.files import table

COUNT = 24


frechet = command("frechet")


def sets(images: Path, results: Path, **generated: Path) -> str:
    """The options of a comparison with the real images, by their prompts."""
    named = " ".join(f"{name}={path}" for name, path in generated.items())
    return f"--reference {images}/real --prompts {images}/prompts.csv --results {results} --generated {named}"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    root = tmp_path_factory.mktemp("images")
    save_images(root / "real", drawn.reference_image, COUNT)
    save_images(root / "clean", drawn.clean_image, COUNT)
    save_images(root / "swapped", lambda row: drawn.clean_image((row + 1) % COUNT), COUNT)
    save_prompts(root / "prompts.csv", COUNT)
    return root


@pytest.fixture(scope="module")
def made(images, tmp_path_factory):
    """Two generators and the reference as a third, rated by people."""
    results = tmp_path_factory.mktemp("results")
    rates = table(results.parent / "rates.csv", "generator,rate,rank|clean,61%,1|swapped,20%,3|real,55%,2")
    generated = {name: images / name for name in ("clean", "swapped", "real")}
    more = f"--backbones tiny --human {rates} --format json --save-reference {results}/Mine.npz"
    return frechet(f"{sets(images, results, **generated)} {more}"), results


def test_every_figure_of_every_generator_comes_in_one_table(made):
    result, _ = made
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)["figures"]
    value = {(row["metric"], row["generator"]): row["value"] for row in figures}
    # Swapped prompts: the set of images is the same, so no distance of sets sees it, and cFreD does.
    assert value["fd", "clean"] == pytest.approx(value["fd", "swapped"], rel=1e-6)
    assert value["cfred", "swapped"] > 1.5 * value["cfred", "clean"] > 0
    conditional = [row for row in figures if row["metric"] == "cfred"]
    assert {row["backbone"] for row in conditional} == {"tiny|tiny"}
    assert conditional[0]["warnings"][0].startswith("24 prompts are fewer than twice the 128 dimensions")


def test_the_runs_are_a_suite_of_their_own_that_people_rank_never_among_published_rows(made, tmp_path):
    result, results = made
    people = json.loads(result.stdout)["people"]
    assert people["metric"] == "human_rate" and people["ratings"] == pytest.approx([0.61, 0.20, 0.55])
    assert len(people["agreements"]) == len(people["metrics"]) and people["agreements"][0]["pearson"]["low"] is None
    assert not any(pair["told_apart"] for pair in people["differences"])
    report = build.build(tmp_path / "own.duckdb", results=results)
    assert not [problem for problem in report.problems if "own" in problem or "generators" in problem]
    frames = store.frames(tmp_path / "own.duckdb", names=("leaderboard_scores", "models", "suites", "items"))
    scores = frames["leaderboard_scores"]
    own = scores[scores["suite"] == "generators-prompts"]
    assert set(own["benchmark"]) == {"own"} and set(own["origin"]) == {"computed"}
    assert set(own["model"]) == {"own/clean", "own/swapped", "own/real"} and {"cfred", "fd"} <= set(own["metric"])
    assert {"default", "tiny", "tiny|tiny"} == set(own["subset"])
    assert len(own) == scores["model"].str.startswith("own/").sum()
    models, suites = (frames[name].set_index("key") for name in ("models", "suites"))
    assert models.loc["own/clean", ["kind", "title"]].tolist() == ["generator", "clean"]
    assert suites.loc["generators-prompts", "aggregate"] == "human"
    rate = own[own["metric"] == "human_rate"].set_index("model")["value"]
    assert rate.to_dict() == pytest.approx({"own/clean": 0.61, "own/swapped": 0.20, "own/real": 0.55})
    assert frames["items"]["run"].str.startswith("computed/own/").sum() == 3 * COUNT


def test_the_reference_is_saved_with_what_made_it(made, images):
    plain, paired = (SavedReference.read(made[1] / f"{name}.npz") for name in ("mine-tiny", "mine-tiny-tiny"))
    assert plain.n == COUNT and plain.images.backbone == "tiny" and plain.images.preprocessing["dtype"] == "float32"
    assert paired.condition.backbone == "tiny" and plain.source == str(images / "real")


def test_another_generator_joins_the_suite_and_no_image_is_encoded_twice(made, images):
    _, results = made
    shards = sorted((results / "features").rglob("*.safetensors"))
    again = frechet(f"{sets(images, results, copy=images / 'real')} --backbones tiny --format csv")
    assert again.exit_code == 0, again.output
    assert sorted((results / "features").rglob("*.safetensors")) == shards
    assert "24 of 24 images are exact copies of reference images" in again.stderr
    rows = [line.split(",") for line in again.stdout.splitlines()]
    zero = {row[1]: float(row[3]) for row in rows[1:] if row[1] in ("fd", "cfred")}
    assert zero == pytest.approx({"fd": 0, "cfred": 0}, abs=1e-6)
    record = json.loads((results / "suites" / "generators-prompts.json").read_text())
    assert [row["key"] for row in record["models"]] == ["own/clean", "own/swapped", "own/real", "own/copy"]


def test_missing_weights_are_named_at_once_with_the_way_without_a_network(images, tmp_path):
    refused = frechet(f"{sets(images, tmp_path, clean=images / 'clean')} --offline")
    missing = "timm/vit_giant_patch14_dinov2.lvd142m, open_clip/convnext_base_w"
    assert_refused(refused, NotHere, missing, "likeness fetch --models", "--backbones tiny runs anywhere")
    assert not (tmp_path / "features").exists()
