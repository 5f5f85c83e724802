"""The page of an own model: its mark, its digest, how to run it again, and nothing of the machine that ran it."""

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
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.model import page as model
from tests.compute.test_build_computed import keep

HOSTILE = '<img src=x onerror="window.harmed=1">{{7*7}}'
DIGEST = "0123456789abcdef0123456789abcdef"
COMMIT = "89abcdef" * 5


@pytest.fixture(scope="module")
def own_site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    results = folder / "results"
    task = next(task for task in shipped().tasks if "mini" in task.suites)
    files = {"weights": str(folder / "My Model"), "revision": f"files-{DIGEST}"}
    hub = row("org/name", "Org/Name", weights="Org/Name", revision=COMMIT)
    judge = row("endpoint/judge", "Judge", adapter="endpoint")
    models = (
        (row("own/my-model", HOSTILE, **files), "folder", "My Model"),
        (replace(hub, trained_on=(task.dataset, "nowhere")), "hub", f"Org/Name@{COMMIT}"),
        (replace(judge, abilities=("choose",), kind="mllm"), "endpoint", "Org/Judge@host"),
        (row("own/held", "Held", adapter="own"), "session", "Towers"),
        (row("own/made", "made", adapter="own"), "file", "made.py:make_model"),  # as older versions recorded it
    )
    for own, kind, name in models:
        arguments = ("preprocess",) if kind == "session" else ()
        source = ModelSource(kind=kind, name=name, arguments=arguments)
        named = own_models.record(own, digest=DIGEST, results=results, source=source)
        keep(results, model=named.key, task=task.key, metric=task.metrics[0], subset=task.subsets[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "all_claims", list)  # these and imports take seconds, and have nothing of one's own
        for name in ("IMPORTED", "COMPUTED"):
            patch.setattr(build.paths, name, folder / name)
        database = Database(build.build(folder / "likeness.duckdb", results=results).path)
    return SimpleNamespace(db=database, suite_cache=SuiteCache(database), network=None, live=SimpleNamespace(own=()))


def row(key, title, **fields):
    return Model(
        **{"adapter": "vision", **fields}, key=key, title=title, abilities=("embed_image",), modalities=("image",)
    )


AGAIN = {
    "own/my-model": "likeness run --suite mini --models 'FOLDER/My Model' # FOLDER: the one that holds it",
    "org/name": f"likeness run --suite mini --models hub:Org/Name@{COMMIT}",
    "endpoint/judge": "likeness run --suite mini --models endpoint:Org/Judge # LIKENESS_ENDPOINT at host",
    "own/held": 'compute.evaluate(model, suite="mini", name="Held", preprocess=...) # model: Towers',
    "own/made": 'compute.evaluate(model, suite="mini", name="made") # model: made.py:make_model',
}


def shown(site, key):
    """The page's markup."""
    top, head, _, rest = model.page(site, model=key, suite="", by="category")
    return top + head + rest


@pytest.mark.parametrize("key", list(AGAIN))
def test_the_page_says_that_it_is_an_own_model_and_how_to_run_it_again(own_site, key):
    markup = shown(own_site, key)
    words = " ".join(Markup(markup).striptags().split())
    assert "Your own model. It is not in a catalogue, and no paper has published scores of it" in words
    assert DIGEST in words and AGAIN[key] in words
    assert "not available on the Try page: " in words and ("with --models" in words) == (
        key not in ("own/held", "own/made")
    )
    assert "/tmp" not in markup and str(Path.home()) not in markup
    assert ("huggingface.co" in markup) == (key == "org/name")


def test_scores_on_what_its_card_names_are_marked(own_site):
    table = own_site.suite_cache.table("mini")
    own = {row.model: (row.origin, table.trained(at)) for at, row in enumerate(table.rows) if row.model in AGAIN}
    assert own == dict.fromkeys(AGAIN, ("computed", "unknown")) | {"org/name": ("computed", "yes")}
    assert all("(own)" in table.models.loc[key, "title"] for key in AGAIN)


def test_what_the_host_named_can_be_tried(own_site):
    named = SimpleNamespace(**vars(own_site) | {"live": SimpleNamespace(own=(row("own/my-model", "Mine"),))})
    can, cannot = (shown(named, key) for key in ("own/my-model", "own/held"))
    assert 'href="try?models=own/my-model"' in can and "not available" not in can
    assert "try?models=" not in cannot and "not available on the Try page: it is not a checkpoint" in cannot
