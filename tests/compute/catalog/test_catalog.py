"""The catalogue: every row's metadata, and what a wrong row is told."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest

from compute import paths, procedures
from compute.catalog import catalog as catalogs
from compute.catalog.catalog import CATALOG, MODEL_KEY, known, shipped
from compute.cli.listing import NOUNS, lines, model_lines
from compute.io.tables import read_csv
from compute.tasks import mieb
from compute.types import BadInput, Metric, Model, Suite, Task, UnknownKey, nearest
from tests.compute.commands import assert_refused, likeness

RUNNABLE = {one.key for one in procedures.PROCEDURES}
MODALITIES = {"image", "text", "video", "audio", "image_text"}
CATALOGUE = shipped()


def check_model(model: Model) -> None:
    assert MODEL_KEY.fullmatch(model.key) and model.title.strip() == model.title != ""
    assert model.parameters_m is None or 0.01 < model.parameters_m < 2_000_000
    assert model.embed_dim is None or 16 <= model.embed_dim <= 20000
    assert model.image_size is None or 8 <= model.image_size <= 4096
    released = f"{model.released}-01"[:10]  # of some the month alone is known
    assert model.released == "" or date(2010, 1, 1) < date.fromisoformat(released) < date(2030, 1, 1)
    assert model.facts_from and all(re.fullmatch("[a-z]{3}-[A-Z][a-z]{3}", language) for language in model.languages)
    assert set(model.modalities) <= MODALITIES
    assert model.weights == "" or re.fullmatch(r"[\w.-]+/[\w.-]+|package:[\w-]+", model.weights)
    assert len(set(model.trained_on)) == len(model.trained_on)
    json.dumps(model.options)


def check_task(task: Task) -> None:
    assert MODEL_KEY.fullmatch(task.key) and task.key.startswith(f"{task.benchmark}/") and task.title
    assert task.category and task.metrics and task.subsets and len(set(task.subsets)) == len(task.subsets)
    assert task.procedure in RUNNABLE | (
        {"frechet", "ranking"} if task.benchmark not in ("unisim", "mieb", "pairbench") else set()
    )
    assert task.n_items is None or task.n_items > 0
    together = [other for other in CATALOGUE.tasks if other.cluster and other.cluster == task.cluster]
    assert len(together) != 1 and len({other.benchmark for other in together}) <= 1
    metric = CATALOGUE.metric(task.metrics[0])
    if task.chance is not None:
        assert 0 <= task.chance < 1 and metric.lower is not None and metric.lower <= task.chance
    # ViDoRe's first version is part of MIEB.
    assert all(CATALOGUE.suite(key).benchmark == task.benchmark for key in task.suites if key != "vidore-v1")


def check_metric(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z0-9_]+", metric.key) and metric.title
    assert metric.scale > 0 and 0 <= metric.digits <= 6
    if metric.lower is not None and metric.upper is not None:
        assert metric.lower < metric.upper
    assert not metric.proportion or (metric.lower, metric.upper) == (0.0, 1.0)


def check_suite(suite: Suite) -> None:
    tasks = [task for task in CATALOGUE.tasks if suite.key in task.suites]
    assert tasks and suite.title and suite.description and 0 <= suite.minimum_coverage <= 1
    assert suite.minimum_coverage > 0 or suite.aggregate == "human"


def test_every_row_is_sound():
    wrong = []
    for rows, check in (
        (CATALOGUE.models, check_model),
        (CATALOGUE.tasks, check_task),
        (CATALOGUE.metrics, check_metric),
        (CATALOGUE.suites, check_suite),
    ):
        for row in rows:
            try:
                check(row)
            except (AssertionError, ValueError, UnknownKey) as error:
                wrong.append(f"{row.key}: {error}")
        wrong += [f"{row.key} is listed twice" for row in rows if sum(other.key == row.key for other in rows) > 1]
    assert not wrong, "\n".join(wrong)


def test_suites_have_the_sizes_the_papers_state():
    """MIEB section 3: 130 tasks, 51 in the lite version; UniSim-Bench tables 2 and 3: 4 and 3 kinds of task."""
    sizes = {suite.key: sum(suite.key in task.suites for task in CATALOGUE.tasks) for suite in CATALOGUE.suites}
    assert (sizes["mieb"], sizes["mieb-lite"], sizes["mieb-img"]) == (130, 51, 49)
    assert [sizes[f"vidore-{version}"] for version in ("v1", "v2", "v3", "v3-1")] == [10, 4, 10, 10]
    lite = {task.key for task in CATALOGUE.tasks if "mieb-lite" in task.suites}
    assert lite <= {task.key for task in CATALOGUE.tasks if "mieb" in task.suites}
    assert len({task.category for task in CATALOGUE.tasks if "unisim-core" in task.suites}) == 4
    assert len({task.category for task in CATALOGUE.tasks if "unisim-ood" in task.suites}) == 3


def test_an_unknown_key_is_told_the_nearest():
    with pytest.raises(UnknownKey, match="'openai/clip-vit-large-patch14'"):
        CATALOGUE.model("openai/clip-vit-large-pach14")
    with pytest.raises(BadInput, match="'retreival'; there are: choice, "):
        procedures.procedure("retreival")
    with pytest.raises(UnknownKey, match="list suites"):
        CATALOGUE.suite("nothing-like-it-at-all-0")
    assert nearest("clip", ("clipscore", "openai/clip-b32")) == "openai/clip-b32", "begun, but not another name"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(CATALOG, tmp_path / "catalog"))


def with_cell(folder: Path, name: str, column: str, text: str) -> None:
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


def test_every_mieb_task_has_items_of_its_own():
    tasks = [task for task in CATALOGUE.tasks if task.benchmark == "mieb"]
    items = [  # of one data set's rows CV-Bench's tasks take those of their name
        (replace(mieb.rows.row(task), name=""), task.subsets, task.procedure, task.n_items, task.title[:7] == "CVBench")
        for task in tasks
    ]
    assert len(tasks) == 132 and sum(items.count(one) > 1 for one in items if not one[-1]) == 0


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
    ("before", "after", "words"),
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
    assert [line.split()[0] for line in found] == [row.key for row in getattr(CATALOGUE, noun)]
    assert not any("None" in line for line in found)
    assert_refused(likeness("list", f"{noun}x"), BadInput, f"{noun}x")


def test_what_cannot_be_computed_and_what_to_know_before_a_run_is_listed():
    found = {line.split()[0]: line for line in lines(CATALOGUE, noun="models")}
    assert "not computable" in found["salesforce/blip-vqa-base"] and "caution" in found["tiger-lab/vlm2vec-full"]
    assert "caution" not in found["tiny"] and "not computable" not in found["tiny"]
    assert {row.key for row in CATALOGUE.models if not row.adapter} == {
        key for key, line in found.items() if "(nothing loads it)" in line
    }


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
    assert "weights not here" in missing["tiger-lab/vlm2vec-full"]
    found = likeness("list", "models", "--family", "siglip", "--runnable", "--missing").output.splitlines()
    assert {line.split()[0] for line in found} == {row.key for row in CATALOGUE.models if row.family == "siglip"}
    assert_refused(likeness("list", "models", "--family", "siglpi"), BadInput, "Did you mean 'siglip'?")
    assert_refused(likeness("list", "tasks", "--runnable"), BadInput, "--runnable")


def _without_scipy(name: str) -> str:
    if name == "scipy":
        raise metadata.PackageNotFoundError
    return "1.0"


def test_options_are_listed_with_their_values_and_owners():
    found = {line.split()[0]: line for line in lines(CATALOGUE, noun="options")}
    assert "prompt, clip-iqa, clip-iqa-tempered  (choice)" in found["quality"]
    assert "sum, joint  (retrieval, multiple_choice; e5_v takes joint by default; gme takes" in found["fusion"]
    assert found["alternatives"].endswith("(unisim/hpdv2)") and "mieb/gtsrbzeroshot" in found["prompts"]
