"""The catalogue: every row's metadata, and what a wrong row is told."""

import re
import shutil
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest

from compute import paths
from compute.catalog import catalog as catalogs
from compute.catalog.catalog import CATALOG, MODEL_KEY, known, shipped
from compute.cli.listing import NOUNS, model_lines
from compute.io.tables import read_csv
from compute.tasks import calibration
from compute.types import BadInput, Model
from tests.compute.commands import assert_refused, likeness

CATALOGUE = shipped()


def test_the_facts_of_every_model_are_possible():
    for model in CATALOGUE.models:
        assert MODEL_KEY.fullmatch(model.key) and model.title.strip() == model.title != ""
        assert model.parameters_m is None or 0.01 < model.parameters_m < 2_000_000
        assert model.embed_dim is None or 16 <= model.embed_dim <= 20000
        assert model.image_size is None or 8 <= model.image_size <= 4096
        released = f"{model.released}-01"[:10]  # of some the month alone is known
        assert model.released == "" or date(2010, 1, 1) < date.fromisoformat(released) < date(2030, 1, 1)
        assert model.facts_from and all(re.fullmatch("[a-z]{3}-[A-Z][a-z]{3}", each) for each in model.languages)
        assert set(model.modalities) <= {"image", "text", "video", "audio", "image_text"}
        assert model.weights == "" or re.fullmatch(r"[\w.-]+/[\w.-]+|package:[\w-]+", model.weights)


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(CATALOG, tmp_path / "catalog"))


def with_cell(folder, name, column, text):
    """Writes `text` into the first row's cell of a column."""
    frame = read_csv(folder / name)
    frame.loc[0, column] = text
    frame.to_csv(folder / name, index=False)


def test_a_wrong_cell_is_named(folder):
    for name, column, text in (
        ("models.csv", "kind", "oracle"),
        ("models.csv", "parameters_m", "many"),
        ("models.csv", "options", "{"),
        ("models.csv", "abilities", "fly"),
        ("models.csv", "trained_on", "nowhere"),
        ("tasks.csv", "benchmark", "none"),
        ("tasks.csv", "metrics", "joy"),
        ("tasks.csv", "n_items", "nan"),
        ("suites.csv", "aggregate", "vote"),
        ("suites.csv", "baselines", "nobody"),
        ("aliases.csv", "model", "nobody"),
        ("tasks.csv", "key", "mieb/cifar10clustering"),
        ("tasks.csv", "dataset", "nowhere"),
        ("tasks.csv", "dataset", ""),
    ):
        whole = (folder / name).read_bytes()
        with_cell(folder, name, column, text)
        with pytest.raises(BadInput) as caught:
            catalogs.load(folder)
        said = str(caught.value)
        assert (column in said or text in said) and "\n" not in said, (name, column, text, said)
        (folder / name).write_bytes(whole)


def test_the_row_that_contributing_shows_is_read(folder):
    row = re.search(r"```csv\n(.+\n)```", (paths.ROOT / "CONTRIBUTING.md").read_text("utf-8"))[1]
    with (folder / "models.csv").open("a", encoding="utf-8") as file:
        file.write(row)
    model = catalogs.load(folder).models[-1]
    assert (model.key, model.embed_dim, model.image_size, model.license) == ("my-org/my-clip", 512, 224, "mit")


def test_a_file_that_cannot_be_read_is_named(folder):
    for name in ("models", "tasks"):
        path = folder / f"{name}.csv"
        whole = path.read_bytes()
        for damaged in (whole.replace(b",", b",un", 1), b"\xff\xfe\x81", b""):
            path.write_bytes(damaged)
            with pytest.raises(BadInput, match=f"{name}\\.csv"):
                catalogs.load(folder)
        path.unlink()
        with pytest.raises(BadInput, match=f"{name}\\.csv"):
            catalogs.load(folder)
        path.write_bytes(whole)


MINE = """key,title,adapter,weights,abilities,parameters_m,license
my/clip,My CLIP,clip,./mine,embed_image;embed_text,2.5,mit
my/other,Another,,,,,
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A user's table of models."""
    monkeypatch.setattr(paths, "USER_MODELS", tmp_path / "models.csv")
    paths.USER_MODELS.write_text(MINE)
    return paths.USER_MODELS


def test_a_users_table_adds_models(table):
    assert known().models[: len(CATALOGUE.models)] == CATALOGUE.models and known().tasks == CATALOGUE.tasks
    assert known().models[len(CATALOGUE.models) :] == (
        Model(
            key="my/clip",
            title="My CLIP",
            adapter="clip",
            weights=str(table.parent / "mine"),
            abilities=("embed_image", "embed_text"),
            parameters_m=2.5,
            license="mit",
        ),
        Model(key="my/other", title="Another"),
    )
    listed = likeness("list", "models", "--missing").output
    assert re.search(r"my/clip +clip +My CLIP .*weights not here: .*/mine", listed), listed
    assert re.search(r"my/other +\(nothing loads it\) +Another", listed), listed
    table.unlink()
    assert known() is shipped()


@pytest.mark.parametrize(
    "before, after, words",
    [
        ("my/clip", "tiny", ("row 1, column 'key'", "'tiny' is listed already")),
        ("my/other", "my/clip", ("row 1, column 'key'", "'my/clip' is listed already")),
        ("my/other", "My/Other", ("row 2, column 'key'", "lower-case")),
        ("Another", " ", ("row 2, column 'title'", "empty")),
        ("mit", '"of two\nlines"', ("row 1, column 'license'", "line")),
        ("embed_image;", "embd_image;", ("row 1, column 'abilities'", "Did you mean 'embed_image'?")),
        ("embed_image;embed_text", "", ("row 1, column 'abilities'", "embed_image, embed_text")),
        (",clip,", ",clpi,", ("row 1, column 'adapter'", "Did you mean 'clip'?")),
        ("2.5", "many", ("row 1, column 'parameters_m'", "'many'")),
        ("license", "licence", ("column 'licence'", "Did you mean 'license'?")),
        ("title", "name", ("column 'title'",)),
    ],
)
def test_a_wrong_cell_of_a_users_table_is_named(table, before, after, words):
    table.write_text(MINE.replace(before, after, 1))
    assert_refused(likeness("list", "models"), BadInput, "models.csv", *words)


@pytest.mark.parametrize("noun", [noun for noun in NOUNS if noun != "options"])
def test_list_has_one_line_a_row(noun):
    found = likeness("list", noun).stdout.splitlines()
    more = {"tasks": calibration.TASKS, "suites": [calibration.SUITE]}.get(noun, ())  # which no board has
    assert [line.split()[0] for line in found] == [row.key for row in (*getattr(CATALOGUE, noun), *more)]
    assert not any("None" in line for line in found)
    assert_refused(likeness("list", f"{noun}x"), BadInput, f"{noun}x")


def test_models_are_listed_by_family_and_by_whether_they_can_run_here(monkeypatch):
    monkeypatch.delenv("LIKENESS_ENDPOINT", raising=False)
    monkeypatch.setattr("compute.versions.metadata.version", _without_scipy)
    runnable, missing = (
        {line.split()[0]: line for line in model_lines(CATALOGUE.models, **{flag: True})}
        for flag in ("runnable", "missing")
    )
    assert {*runnable, *missing} == {row.key for row in CATALOGUE.models} and not {*runnable} & {*missing}
    assert "psnr" in runnable and "tiny" in runnable
    assert "needs scipy, not installed here: pip install" in missing["ssim"]
    assert "LIKENESS_ENDPOINT is not set" in missing["gemini-1.5-pro"]
    assert "nothing here loads it" in missing["mps"]
    assert "weights not here" in missing["royokong/e5-v"]
    found = likeness("list", "models", "--family", "siglip", "--runnable", "--missing").output.splitlines()
    assert {line.split()[0] for line in found} == {row.key for row in CATALOGUE.models if row.family == "siglip"}
    assert_refused(likeness("list", "models", "--family", "siglpi"), BadInput, "Did you mean 'siglip'?")
    assert_refused(likeness("list", "tasks", "--runnable"), BadInput, "--runnable")


def _without_scipy(name):
    if name == "scipy":
        raise metadata.PackageNotFoundError
    return "1.0"
