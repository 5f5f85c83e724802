"""`likeness eyes` makes a study, takes answers, reports and tunes; without these it becomes the app on the study."""

import json
import os

from compute import paths
from compute.catalog.own import models as own_models
from compute.eyes.folder import StudyFolder
from compute.eyes.study import StudyFile
from compute.types import BadInput
from tests.compute.catalog.own.test_models import DIGEST, ROW, SESSION
from tests.compute.commands import assert_refused, done, likeness
from tests.compute.eyes.studies import judgments
from tests.compute.tasks.pairbench.images import folder_of


def answered(path, *, by, count):
    """As a rater who picks what a model picks."""
    folder = StudyFolder.opened(path)
    if not folder.study.chance:
        folder.ask(folder.models(warn=print))
    picks = [max(pick, 0) for pick in folder.study.picks[by]]
    folder.add(*judgments(folder.study, picks, count=count, seed=folder.settings.seed))


def test_a_study_is_made_opened_and_reported(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, words: started.append(words))
    made = done(likeness("eyes", folder_of(tmp_path / "images", 6), "--out", tmp_path / "eyes", "--port", 7899))
    assert "questions" in made.output
    assert started[0][-4:] == ["--eyes", str(tmp_path / "eyes"), "--port", "7899"]
    assert_refused(likeness("eyes", tmp_path / "images", "--out", tmp_path / "eyes"), BadInput, "exists")
    assert_refused(likeness("eyes", tmp_path / "eyes", "--kind", "text"), BadInput, "--kind")
    assert_refused(likeness("eyes", tmp_path / "eyes", "--report"), BadInput, "20")
    answered(tmp_path / "eyes", by="tiny", count=40)
    report = done(likeness("eyes", tmp_path / "eyes", "--report"))
    assert report.output.startswith("Tiny CLIP")
    assert_refused(likeness("eyes", tmp_path / "eyes", "--tune", "tiny"), BadInput, "--to")
    too_few = likeness("eyes", tmp_path / "eyes", "--tune", "tiny", "--to", tmp_path / "tuned")
    assert_refused(too_few, BadInput, "200", "more")
    assert_refused(likeness("eyes", tmp_path / "eyes", "--rater", 61 * "A"), BadInput, "rater")
    likeness("eyes", tmp_path / "eyes", "--rater", "Ann")
    assert StudyFolder.opened(tmp_path / "eyes").settings.rater == "Ann" and len(started) == 2


def test_a_study_that_could_not_be_made_is_tried_again(tmp_path):
    words = ("eyes", folder_of(tmp_path / "images", 4), "--out", tmp_path / "eyes", "--models", "tiny", "--report")
    refused = likeness(*words, "--kind", "text")  # which holds what the command held
    assert_refused(refused, BadInput, "prompt")
    (tmp_path / "prompts.txt").write_text("a red disc")
    assert_refused(likeness(*words, "--prompts", tmp_path / "prompts.txt"), BadInput, "judgments")
    assert StudyFolder.opened(tmp_path / "eyes", writes=False).study.kind == "text"


def test_an_object_of_a_script_is_refused_for_it_cannot_be_asked_here(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    own_models.record(ROW, digest=DIGEST, results=paths.RESULTS, source=SESSION)
    words = ("eyes", folder_of(tmp_path / "images", 4), "--out", tmp_path / "eyes", "--models", f"tiny,{ROW.key}")
    assert_refused(likeness(*words), BadInput, ROW.key, "checkpoint")


def test_answers_from_elsewhere_make_a_study(tmp_path):
    folder = folder_of(tmp_path / "images", 4)
    rows = [f"a red disc,{one:04}.png,{other:04}.png,{one % 2 + 1}" for one in range(4) for other in range(one)]
    table = tmp_path / "given.csv"
    table.write_text("\n".join(["prompt,alternative_1,alternative_2,choice", *rows]))
    out = tmp_path / "eyes"
    added = done(likeness("eyes", folder, "--out", out, "--models", "tiny", "--add", table))
    assert "6 judgments added" in added.output
    study = StudyFolder.opened(out, writes=False)
    assert study.study.kind == "text" and list(study.study.models) == ["tiny"] and len(study.judgments()) == 6
    saved = tmp_path / "saved.json"
    saved.write_text(StudyFile(study=study.study, judgments=study.judgments()).model_dump_json())
    other = likeness("eyes", folder, "--out", tmp_path / "other", "--add", saved, "--add", table)
    assert "6 judgments added" in other.output and "6 were here already" in other.output, other.output
    assert_refused(likeness("eyes", out, "--add", table, "--left", "choice"), BadInput, "alternative_1")
    assert_refused(likeness("eyes", out, "--left", "alternative_1"), BadInput, "--add")


def test_a_model_is_tuned_to_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda program, words: None)
    out, tuned = tmp_path / "eyes", tmp_path / "tuned"
    likeness("eyes", folder_of(tmp_path / "images", 20), "--out", out, "--models", "ssim")
    answered(out, by="ssim", count=260)
    words = ("eyes", out, "--tune", "tiny", "--to", tuned, "--device", "cpu")
    words += ("--option", "batch_size=8", "--option", "samples=32")
    first = done(likeness(*words))
    assert "held out" in first.output
    again = likeness(*words)
    assert "nothing was trained" in again.output and again.output.splitlines()[-3:] == first.output.splitlines()[-3:]
    assert json.loads((tuned / "config.json").read_text()) and "answers-eyes" in (tuned / "README.md").read_text()
