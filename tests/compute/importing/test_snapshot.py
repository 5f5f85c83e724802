"""The shipped results: what is written is what an import reads."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from compute import paths
from compute.__main__ import app
from compute.database import store
from compute.importing import read_mteb_results, snapshot
from tests.compute.commands import done
from tests.compute.importing.test_mteb import META, NEW, OLD, entry, put, result


@pytest.fixture
def repository(tmp_path):
    """Two models, one of two revisions, in the layout of the public repository."""
    put(tmp_path, "model_meta", {**META, "max_tokens": float("inf"), "training_datasets": {"MNLI": ["train"]}})
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.9)))
    put(tmp_path, "CIFAR10", result("CIFAR10", entry(0.5), version="1.9.3"), revision=OLD)
    put(tmp_path, "VOC2007", result("VOC2007", entry(0.34, lrap=0.49)))
    rows = [entry(0.5, subset="de"), entry(0.75, subset="en")]
    put(tmp_path, "XFlickr30kCoT2IRetrieval", result("XFlickr30kCoT2IRetrieval", *rows), model="org__known")
    return tmp_path


def test_what_is_shipped_is_what_an_import_reads(repository, catalog):
    imported = read_mteb_results(repository, catalog=catalog)
    path = snapshot.ship(imported, folder=repository / "out", commit=NEW, date="2026-08-20")
    about = snapshot.manifest(path.parent)
    assert (about.commit, about.date, about.license) == (NEW, "2026-08-20", "CC0-1.0")
    assert about.counts == {"models": 2, "tasks": 3, "scores": 5}
    assert about.models["Org__Some-Model"].training_datasets == ["MNLI"]
    tables = snapshot.read(path.parent, catalog=catalog).tables
    runs = [replace(run, settings={**run.settings, "commit": NEW}) for run in imported.runs]  # where its file is read
    imported = replace(imported, runs=runs)
    for noun, keys in {"runs": ["id"], "scores": ["run", "subset"], "models": ["key"]}.items():
        read, made = (
            frame.sort_values(keys, ignore_index=True) for frame in (tables[noun], store.frame(getattr(imported, noun)))
        )
        assert read.astype(str).equals(made.astype(str)), noun


def test_shipping_needs_to_know_what_is_shipped(repository, monkeypatch):
    monkeypatch.setattr(paths, "IMPORTED", repository / "shipped")
    command = ["import", "mteb-results", str(repository), "--ship"]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1 and "--revision" in refused.stderr and not paths.IMPORTED.exists()
    made = done(CliRunner().invoke(app, [*command, "--revision", NEW, "--date", "2026-08-20"]))
    assert "1 models, 5 scores" in made.stdout and (paths.IMPORTED / "mteb.parquet").is_file()


def test_a_part_of_a_newer_collection_replaces_no_whole_one(repository, catalog):
    from compute.importing.collection import Loaded, joined

    imported = read_mteb_results(repository, catalog=catalog)
    runs, scores = store.frame(imported.runs), store.frame(imported.scores)
    old = Loaded(name="old", date="2026-01-01", tables={"runs": runs, "scores": scores})
    other = runs.assign(id=runs["id"] + "/again")
    part = Loaded(
        name="part",
        date="",
        tables={"runs": other, "scores": scores[scores["subset"] != "en"].assign(run=lambda f: f["run"] + "/again")},
    )
    both, _, _ = joined([part, old])
    shown = both[both["main"]]
    assert not shown.duplicated(["model", "task"]).any()
    assert {run.endswith("/again") for run in shown[shown["model"] == "org/known"]["id"]} == {False}, "a part alone"
    assert {run.endswith("/again") for run in shown[shown["model"] != "org/known"]["id"]} == {True}
