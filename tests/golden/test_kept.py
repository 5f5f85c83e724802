"""What users have opens: results, a study, a calibration and saved statistics that an earlier version wrote."""

import json

import pytest

from compute import paths
from tests.golden import freeze, kept
from tests.golden.kept import likeness

EXPECTED = json.loads(kept.EXPECTED.read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Read first; what later tests add is of another part."""
    place = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch, kept.as_then():
        patch.setattr(paths, "RESULTS", place / "results")
        yield kept.copied(place)


@pytest.mark.parametrize("what", kept.READS)
def test_it_says_what_it_said(folder, what):
    read, close = kept.READS[what]
    now = json.loads(json.dumps(read(folder)))
    found = list(freeze.differences(EXPECTED[what], now, close=close))
    assert not found, "\n".join(found)


def stored(folder):
    """Everything that the runs consist of, and when it was written."""
    files = [path for run in kept.runs(folder) for path in run.parent.iterdir()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.mark.parametrize("again", [kept.run_drawn, kept.run_own])
def test_nothing_is_run_again(folder, again):
    before = stored(folder)
    assert "stored already" in again(folder)
    assert stored(folder) == before


def test_a_comparison_of_generators_finds_its_features_and_its_run(folder):
    features = {path: path.read_bytes() for path in (folder / "scored" / "features").rglob("*.safetensors")}
    kept.compare_sets(folder)
    assert {path: path.read_bytes() for path in (folder / "scored" / "features").rglob("*.safetensors")} == features
    assert len(kept.runs(folder)) == len({row[-1] for row in EXPECTED["scores"]})


def test_what_was_encoded_is_not_encoded_again(folder):
    kept.run_own(folder, "--again")
    records = [json.loads(path.read_text()) for path in kept.runs(folder) if path.parts[-3].startswith("own__triplets")]
    assert len(records) == 2 and not sum(each["encoded"] for run in records for each in run["settings"]["encodings"])


def test_a_study_takes_more_answers(folder):
    study = folder / "eyes"
    answers = folder / "more.csv"
    answers.write_text("reference,alternative_1,alternative_2,choice\n00.png,01.png,05.png,2\n")
    assert "1 judgment" in likeness("eyes", study, "--rater", "Ann", "--add", answers)
    assert len((study / "judgments.jsonl").read_text().splitlines()) == 25
