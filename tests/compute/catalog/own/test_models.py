"""Models of one's own: their records, and what a build does with them and with damaged or hostile ones."""

import json
from dataclasses import replace

import pytest

from compute import paths
from compute.catalog import shipped
from compute.catalog.own import models as own_models
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.database import build, store
from compute.models.files import weights
from compute.models.own.own_model import NOTE, ModelSource
from compute.tasks.own import read
from compute.types import BadInput, Model
from tests.compute.catalog.own.damaging import assert_left_out
from tests.compute.small_bench import CATALOG
from tests.compute.tasks.files import put
from tests.compute.test_build_computed import keep

DIGEST, OTHER = "files-0123456789abcdef0123456789abcdef", "files-fedcba9876543210fedcba9876543210"
SESSION = ModelSource(kind="session", name="Towers")
ROW = Model(
    key="own/my-model",
    title="my-model",
    adapter="own",
    abilities=("embed_image",),
    modalities=("image",),
    parameters_m=1.5,
    embed_dim=8,
    options={"temperature": 0.5},
)


def of_folder(folder):
    return replace(ROW, adapter="vision", weights=str(folder), revision=DIGEST)


def record(results, row=ROW, digest=DIGEST, source=SESSION):
    return own_models.record(row, digest=digest, results=results, source=source)


def test_a_record_is_read_back_as_it_was_returned(tmp_path):
    row = record(tmp_path)
    assert own_models.recorded(tmp_path) == ([row], [])
    note = {"source": "session", "name": "Towers", "digest": DIGEST}
    assert row == replace(ROW, title="my-model (own)", options={"temperature": 0.5, NOTE: note})
    assert own_models.source_of(row) == SESSION and own_models.source_of(ROW) is None
    assert own_models.files(tmp_path) == [tmp_path / "models" / "my-model.json"]


def test_a_folder_is_recorded_by_the_way_to_it_and_shown_by_its_name(tmp_path):
    folder = tmp_path / "checkpoints" / "Mine"
    source = ModelSource(kind="folder", name="Mine")
    row = record(tmp_path / "results", of_folder(folder), source=source)
    text = (tmp_path / "results" / "models" / "my-model.json").read_text()
    assert str(tmp_path) not in text and json.loads(text)["model"]["weights"] == "./../../checkpoints/Mine"
    ((again,), _) = own_models.recorded(tmp_path / "results")
    assert again == row and again.weights == str(folder)
    assert weights.by_name(again).weights == "Mine"


def test_a_name_with_another_digest_gets_its_beginning(tmp_path):
    first, second = record(tmp_path), record(tmp_path, digest=OTHER)
    assert (first.key, second.key) == ("own/my-model", "own/my-model-fedcba98")
    assert (first.title, second.title) == ("my-model (own)", "my-model (own, fedcba98)")
    assert record(tmp_path, replace(ROW, title=first.title)) == first and record(tmp_path, digest=OTHER) == second
    assert record(tmp_path, second, OTHER).key == second.key
    assert own_models.recorded(tmp_path) == ([second, first], [])


def test_a_hub_model_that_the_catalogue_has_at_another_revision_gets_a_key_of_its_own(tmp_path):
    listed = shipped().model("openai/clip-vit-base-patch32")
    commit = "89abcdef" * 5
    source = ModelSource(kind="hub", name=f"{listed.weights}@{commit}")
    row = record(tmp_path, replace(listed, revision=commit, title="CLIP, tuned"), commit, source)
    assert row.key == "openai/clip-vit-base-patch32-89abcdef"
    catalog, problems = own_models.extended(shipped(), own_models.recorded(tmp_path)[0])
    assert problems == [] and catalog.model(row.key) == row and catalog.model(listed.key) == listed


def test_a_key_that_a_catalogue_or_an_own_generator_has_is_not_taken(tmp_path, monkeypatch):
    catalog, problems = own_models.extended(replace(shipped(), models=(ROW,)), [replace(ROW, title="Another")])
    assert catalog.models == (ROW,) and "key" in problems[0]
    suite = own_suite.OwnSuite(
        suite=CATALOG.suites[0],
        tasks=(),
        data=(),
        models=(own_suite.own_generator("my-model", title="A generator"),),
    )
    monkeypatch.setattr(suite_records, "recorded", lambda results: ([suite], []))
    assert own_models.keyed(ROW, digest=DIGEST, results=tmp_path, source=SESSION).key == "own/my-model-01234567"


def test_what_could_not_be_read_back_is_not_recorded(tmp_path):
    for row, word in (
        (replace(ROW, title="two\nlines"), "title"),
        (replace(ROW, options={"trust_remote_code": True}), "trust_remote_code"),
        (replace(ROW, key="my model"), "key"),
        (replace(ROW, adapter="vision"), "adapter"),
    ):
        with pytest.raises(BadInput, match=word):
            record(tmp_path, row)
    assert own_models.files(tmp_path) == []


# A field's path, a value, and the word that names it in the reason.
HOSTILE = (
    ("version", 2, "version"),
    ("key", "openai/clip-vit-base-patch32", "name"),
    ("key", "own/../../x", "key"),
    ("digest", 7, "digest"),
    ("digest", "????????", "digest"),
    ("source.arguments", ["__import__"], "source.arguments"),
    ("model.released", "2026", "released"),
    ("model.title", "\ud800", "half a character"),
    ("model.title", "\x1b]0;x\x07", "title"),
    ("model.adapter", "pickle", "adapter"),
    ("model.adapter", "vision", "adapter"),
    ("model.weights", "org/name", "weights"),
    ("model.abilities", ["generate"], "abilities"),
    ("model.parameters_m", -1, "parameters_m"),
    ("model.options", {"a": "x" * 5000}, "options"),
    ("model.options", {"trust_remote_code": True}, "trust_remote_code"),
    ("model.options", {NOTE: {}}, "options"),
)


def test_a_damaged_or_hostile_record_is_named_and_left_out(tmp_path):
    record(tmp_path)
    assert_left_out(own_models.files(tmp_path)[0], HOSTILE, own_models.recorded)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    record(tmp_path / "another")
    (tmp_path / "results" / "models").mkdir(parents=True)
    (path,) = own_models.files(tmp_path / "another")
    (tmp_path / "results" / "models" / path.name).symlink_to(path)
    models, problems = own_models.recorded(tmp_path / "results")
    assert models == [] and "link" in problems[0]


def test_a_build_shows_the_runs_of_models_and_suites_that_the_package_does_not_list(
    without_imports, tmp_path, monkeypatch
):
    """Of a recorded model under its mark, of any other by what its runs say; of suites those with a run."""
    results, database = tmp_path / "results", tmp_path / "likeness.duckdb"
    folder = tmp_path / "checkpoints" / "Mine"
    source = ModelSource(kind="folder", name="Mine")
    row = record(results, of_folder(folder), source=source)
    (results / "models" / "cut.json").write_text("{")
    labels = put(tmp_path, {"shown.csv": "text,label\na cat,cat\na dog,dog\n"}) / "shown.csv"
    suite_records.record(own_suite.of_data({"labels": read(labels)}, name="Shown"), results=results)
    (results / "suites" / "own-cut.json").write_text('{"version": 1, "sha')
    keep(results, model=row.key, task="own/shown/labels")
    task = next(task for task in shipped().tasks if "mini" in task.suites)
    named = {"task": task.key, "metric": task.metrics[0], "subset": task.subsets[0]}
    keep(results, model=row.key, **named)
    facts = {"title": "Gone (own)", "kind": "mllm", "family": "qwen", "parameters_m": 2.5}
    for model, settings in (
        ("own/never-recorded", {}),
        ("org/gone", {"described": facts}),
        ("org/hostile", {"described": {**facts, "title": "two\nlines"}}),
        ("Org/ Hostile", {}),
    ):
        keep(results, model=model, settings=settings, **named)
    monkeypatch.setattr(
        paths, "USER_MODELS", put(tmp_path, {"models.csv": "key,title\nmy/model,Mine\n"}) / "models.csv"
    )
    monkeypatch.setattr(build, "all_claims", list)  # they take seconds, and have nothing of one's own
    report = build.build(database, results=results)
    assert any("cut.json is skipped" in problem for problem in report.problems)
    assert any("'Org/ Hostile', which is in no catalogue" in problem for problem in report.problems)
    assert any("org__hostile" in problem and "described.title" in problem for problem in report.problems)
    assert any("own-cut.json is skipped" in problem for problem in report.problems)
    assert len(report.problems) == 4 and set(report.unlisted) == {"own/never-recorded", "org/gone"}
    with store.connect(database) as connection:
        rows = connection.execute(
            "SELECT title, weights, released, options->>'$.own.name' FROM models WHERE key = 'own/my-model'"
        ).fetchall()
        others = connection.execute(
            "SELECT key, title, kind, family, parameters_m FROM models JOIN runs ON model = key "
            "WHERE origin = 'computed' AND key IN ('own/never-recorded', 'org/gone') ORDER BY key"
        ).fetchall()
        runs = connection.execute("SELECT origin, task FROM runs WHERE model = 'own/my-model' ORDER BY task").fetchall()
        suites = connection.execute("SELECT key FROM suites WHERE benchmark = 'own'").fetchall()
    assert rows == [("my-model (own)", "Mine", "", "Mine")]
    assert runs == [("computed", task.key), ("computed", "own/shown/labels")] and suites == [("own-shown",)]
    assert others == [
        ("org/gone", "Gone (own)", "mllm", "qwen", 2.5),
        ("own/never-recorded", "own/never-recorded", "encoder", "", None),
    ]
    assert str(tmp_path).encode() not in database.read_bytes()
    recorded = {results / "models" / "my-model.json", results / "suites" / "own-shown.json"}
    assert {*recorded, paths.USER_MODELS} <= set(build.sources(results=results)[0])
    paths.USER_MODELS.unlink()
    assert build.is_stale(database, results=results)
