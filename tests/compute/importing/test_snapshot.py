"""The shipped results: what is written is what an import reads."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from compute import importing, paths
from compute.catalog import shipped
from compute.cli import publish, workspace
from compute.database import store
from compute.importing import read_mteb_results, snapshot
from compute.types import BadInput
from tests.compute.commands import assert_refused, command, done, likeness
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


@pytest.fixture
def refresh(repository, monkeypatch):
    """The command, where what `repository` holds is shipped as of an older commit; the database is not built."""
    monkeypatch.setattr(paths, "IMPORTED", repository / "shipped")
    monkeypatch.setattr(workspace, "rebuild", Mock())
    monkeypatch.setattr(workspace, "as_version", lambda change, **about: change())
    imported = read_mteb_results(repository, catalog=shipped())
    snapshot.ship(imported, folder=paths.IMPORTED, commit=OLD, date="2026-07-20")
    return command(f"refresh {repository} --revision {NEW} --date 2026-08-20")


def test_a_refresh_that_changes_many_scores_is_refused_until_it_is_accepted(refresh, repository, monkeypatch):
    put(repository, "CIFAR10", result("CIFAR10", entry(0.8)))
    (repository / "results" / "Org__Some-Model" / NEW / "VOC2007.json").unlink()
    refused = refresh()
    assert_refused(refused, BadInput, "2 of 4 shipped scores", "nothing was written", "--accept")
    assert "- Org__Some-Model, CIFAR10, default, accuracy: 0.9, now 0.8" in refused.stdout
    assert "VOC2007, default, lrap: 0.49, gone" in refused.stdout
    assert snapshot.manifest(paths.IMPORTED).commit == OLD and not workspace.rebuild.called
    published = Mock(side_effect=lambda *, repo: iter([f"sent to {repo}"]))
    monkeypatch.setattr(publish, "data", published)
    monkeypatch.setattr(publish, "space", published)
    made = done(refresh("--accept --repo me/data --space me/app"))
    assert made.stdout.splitlines()[-2:] == ["sent to me/data", "sent to me/app"]
    assert snapshot.manifest(paths.IMPORTED).commit == NEW


def test_a_refresh_says_of_which_commit_it_is_and_makes_no_version_of_the_same_results(
    refresh, repository, monkeypatch
):
    assert_refused(refresh("--revision main"), BadInput, "--revision COMMIT")
    done(refresh())
    assert snapshot.manifest(paths.IMPORTED).commit == OLD and not workspace.rebuild.called
    put(repository, "STS12VisualSTS", result("STS12VisualSTS", entry(0.4)))
    fetched = repository.rename(repository.with_name("e" * 40))
    monkeypatch.setattr(paths, "IMPORTED", fetched / "shipped")
    monkeypatch.setattr(importing, "fetch_mteb_results", lambda cache, **how: fetched)
    done(likeness("refresh"))
    assert snapshot.manifest(paths.IMPORTED).commit == "e" * 40


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
