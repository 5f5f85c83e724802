"""The page of an own model: its mark, its digest, how to run it again, and nothing of the machine that ran it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import Markup

from compute.catalog import shipped
from compute.catalog.own import models as own_models
from compute.database import build
from compute.models.own.own_model import ModelSource
from compute.types import Model
from leaderboard.data import payload
from leaderboard.data.database import Database
from leaderboard.data.own_models import commands, own_facts
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.model import page as model
from leaderboard.pages.models import listing
from tests.compute.catalog.own.test_models import stored

HOSTILE = '<img src=x onerror="window.harmed=1">{{7*7}}'
DIGEST = "0123456789abcdef0123456789abcdef"
COMMIT = "89abcdef" * 5


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("own")
    results = folder / "results"
    task = next(task for task in shipped().tasks if "mini" in task.suites)
    models = (
        (
            row("own/my-model", HOSTILE, weights=str(folder / "My Model"), revision=f"files-{DIGEST}"),
            "folder",
            "My Model",
        ),
        (
            replace(
                row("org/name", "Org/Name", weights="Org/Name", revision=COMMIT), trained_on=(task.dataset, "nowhere")
            ),
            "hub",
            f"Org/Name@{COMMIT}",
        ),
        (row("own/held", "Held", adapter="own"), "session", "Towers"),
    )
    for own, kind, name in models:
        arguments = ("preprocess",) if kind == "session" else ()
        source = ModelSource(kind=kind, name=name, arguments=arguments)
        named = own_models.record(own, digest=DIGEST, results=results, source=source)
        stored(results, model=named.key, task=task.key, metric=task.metrics[0], subset=task.subsets[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "all_claims", list)  # they take seconds, and have nothing of one's own
        database = Database(build.build(folder / "likeness.duckdb", results=results).path)
    return SimpleNamespace(db=database, suite_cache=SuiteCache(database), network=None, panel=trying())


def trying(*own: Model) -> SimpleNamespace:
    """Of a site whose host named these models for the Try page."""
    return SimpleNamespace(live=SimpleNamespace(own=own))


def row(key: str, title: str, **fields: str) -> Model:
    return Model(
        **{"adapter": "vision", **fields}, key=key, title=title, abilities=("embed_image",), modalities=("image",)
    )


def text(markup: str) -> str:
    return " ".join(Markup(markup).striptags().split())


AGAIN = {
    "own/my-model": "python -m compute run --suite mini --models 'FOLDER/My Model' # FOLDER: the one that holds it",
    "org/name": f"python -m compute run --suite mini --models hub:Org/Name@{COMMIT}",
    "own/held": 'compute.evaluate(model, suite="mini", name="Held", preprocess=...) # model: Towers',
}


@pytest.mark.parametrize("key", list(AGAIN))
def test_the_page_says_that_it_is_an_own_model_and_how_to_run_it_again(own_site, key: str) -> None:
    head, _, _ = model.page(own_site, model=key, suite="", by="category")
    words = text(head)
    assert "Your own model. It is in no catalogue, and no paper has published figures for it" in words
    assert DIGEST in words and AGAIN[key] in words
    assert "not available on the Try page: " in words and ("with --models" in words) == (key != "own/held")
    assert "/tmp" not in head and str(Path.home()) not in head
    assert ("huggingface.co" in head) == (key == "org/name")


def test_scores_on_what_its_card_names_are_marked(own_site) -> None:
    table = own_site.suite_cache.table("mini")
    trained = {row.model: table.trained(at) for at, row in enumerate(table.rows) if row.model in AGAIN}
    assert trained == {"own/my-model": "unknown", "org/name": "yes", "own/held": "unknown"}


def test_a_card_that_names_other_data_sets_does_not_say_that_it_was_trained_on_nothing_else(own_site) -> None:
    table = own_site.suite_cache.table("mini")
    models = table.models.copy()
    models["trained_on"] = [["nights"]] * len(models)
    table = replace(table, models=models, trained_models=frozenset())
    assert {table.trained(at) for at, row in enumerate(table.rows) if row.model in AGAIN} == {"unknown"}
    assert {table.trained(at) for at, row in enumerate(table.rows) if row.model not in AGAIN} == {"no"}


def test_a_model_without_scores_is_not_said_to_have_any(own_site, tmp_path: Path) -> None:
    own = row("own/new", "New", weights=str(tmp_path / "New"), revision=f"files-{DIGEST}")
    own = replace(own, trained_on=("nights",))
    own_models.record(own, digest=DIGEST, results=tmp_path, source=ModelSource(kind="folder", name="New"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "all_claims", list)
        database = Database(build.build(tmp_path / "likeness.duckdb", results=tmp_path).path)
    site = SimpleNamespace(db=database, suite_cache=SuiteCache(database), network=None, panel=trying())
    head, _, _ = model.page(site, model="own/new", suite="", by="category")
    assert "It is a checkpoint in a folder, and has no scores yet." in text(head)
    assert "NIGHTS, as model cards say" in text(head)
    assert "Run itpython -m compute run --suite mini --models FOLDER/New # FOLDER: the one that holds it" in text(head)
    head, _, _ = model.page(own_site, model="own/my-model", suite="", by="category")
    assert "its scores were computed here from a checkpoint in a folder" in text(head) and "not known" in text(head)


def test_what_the_host_named_can_be_tried(own_site) -> None:
    named = SimpleNamespace(**{**vars(own_site), "panel": trying(row("own/my-model", "Mine"))})
    head, _, _ = model.page(named, model="own/my-model", suite="", by="category")
    assert 'href="compare?models=own/my-model"' in head and "not available" not in head
    head, _, _ = model.page(named, model="own/held", suite="", by="category")
    assert "compare?models=" not in head and "not available on the Try page: it is no checkpoint" in head


def test_a_hostile_title_is_text(own_site) -> None:
    head, _, rest = model.page(own_site, model="own/my-model", suite="", by="category")
    for markup in (head, rest, model.every_model(own_site)):
        assert "<img" not in markup and "49" not in re.findall(r"onerror.{0,40}", markup)
    assert "&lt;img src=x" in head and "{{7*7}}" in head and "(own)" in head


def test_models_of_the_catalogue_have_no_such_part(own_site) -> None:
    head, _, _ = model.page(own_site, model="openai/clip-vit-base-patch32", suite="", by="category")
    assert "Your own model" not in head and "Try it on your own images" in head


def test_the_board_marks_the_row_and_gives_it_its_origin(own_site) -> None:
    table = own_site.suite_cache.table("mini")
    own = {row.model: row.origin for row in table.rows if row.model in AGAIN}
    assert own == dict.fromkeys(AGAIN, "computed")
    assert all("(own)" in table.models.loc[key, "title"] for key in AGAIN)


def test_the_board_knows_which_rows_are_of_own_models(own_site) -> None:
    suite_cache = own_site.suite_cache
    content = payload.board(own_site.db, suite_cache.table("mini"), suite_cache.ranked("mini"))
    assert {row["model"] for row in content["rows"] if row["own"]} == set(AGAIN)
    assert any(not row["own"] and row["origin"] == "computed" for row in content["rows"])


def test_the_list_of_models_offers_none_to_try(own_site) -> None:
    rows = listing.models(own_site.suite_cache)
    live = {row[0]: row[rows["fields"].index("live")] for row in rows["rows"]}
    assert [live[key] for key in AGAIN] == [False] * 3 and live["openai/clip-vit-base-patch32"] is True


@pytest.mark.parametrize("options", ["", "{}", None, '{"own": 3}', json.dumps({"own": {"source": "network"}})])
def test_what_is_no_note_is_none(options: str | None) -> None:
    assert own_facts(options) is None and commands(options, title="", suites=["mini"]) == []


def test_a_model_is_run_again_on_what_it_ran_on_under_the_name_it_had() -> None:
    note = {"own": {"source": "session", "name": "Net", "digest": DIGEST, "arguments": ["preprocess", "tokenizer"]}}
    assert commands(json.dumps(note), title="Net (own, 01234567)", suites=["own-photos", "mini"]) == [
        'compute.evaluate(model, suite="own-photos", preprocess=..., tokenizer=...)  # model: Net',
        'compute.evaluate(model, suite="mini", preprocess=..., tokenizer=...)  # model: Net',
    ]
    assert commands(json.dumps(note), title="Net", suites=[]) == []
