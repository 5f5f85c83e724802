"""likeness run --data with data of one's own: recorded, repeated, moved, changed, refused."""

import os
import shutil
from functools import partial

import pytest

from tests.compute.commands import done, error_line, likeness
from tests.compute.tasks.files import put

HEADER = ("reference", "alternative_1", "alternative_2", "answer")


@pytest.fixture
def folder(tmp_path):
    """Ten triplets: of two pictures, which is nearly the reference's colour?"""
    rows, files = [], {}
    for at in range(10):
        reference, near, far = (f"{at}-{side}.png" for side in ("reference", "left", "right"))
        files |= {reference: 20 * at, near: 20 * at + 1, far: 20 * at + 130}
        rows.append([reference, near, far, 1] if at % 2 else [reference, far, near, 2])
    return put(tmp_path / "my-triplets", {**files, "manifest.csv": [HEADER, *rows]})


@pytest.fixture
def command(tmp_path):
    """Runs with results in the test's own folder."""
    return partial(likeness, "run", "--results", tmp_path / "results")


def test_a_folder_of_triplets_is_run_recorded_and_run_again_by_its_key(command, folder, tmp_path):
    """The path of recorded data is shown before it is read: a record may come with a results folder that somebody else
    made, and name any path."""
    made = done(command("--data", folder, "--models", "tiny,ssim"))
    assert "as recorded" not in made.output
    assert "own-my-triplets: 1 task, 2 models; 2 runs to make" in made.stdout
    assert "own/my-triplets/choices | Accuracy | 10 | " in made.stdout
    again = done(command("--suite", "own-my-triplets", "--models", "tiny,ssim"))
    assert "0 runs to make, 2 stored already" in again.stdout
    assert again.stdout.startswith(f"Reads {folder} as recorded for own-my-triplets\n"), again.output
    (record,) = (tmp_path / "results" / "suites").glob("*.json")
    os.mkfifo(tmp_path / "a\x1b[2Jb.csv")
    record.write_text(record.read_text().replace("../../my-triplets", "../../a\\u001b[2Jb.csv"))
    ended = command("--suite", "own-my-triplets", "--models", "ssim")
    assert ended.exit_code == 1 and f"Reads {tmp_path / 'a'}\ufffd" in ended.stdout and "\x1b" not in ended.output


def test_data_that_moved_are_the_same_suite_and_changed_data_another(command, folder, tmp_path):
    run = partial(command, "--models", "ssim")
    by_key = partial(run, "--suite", "own-my-triplets")
    assert run("--data", folder).exit_code == 0
    moved = tmp_path / "elsewhere" / "renamed"
    shutil.move(folder, moved)
    assert "is not where it was, or has changed: name it with --data" in error_line(by_key())
    again = run("--data", moved)
    assert "own-my-triplets: 1 task, 1 model; 0 runs to make, 1 stored already" in again.stdout, again.output
    assert "0 runs to make, 1 stored already" in by_key().stdout
    put(moved, {"0-left.png": 255})
    assert "is not the data of the suite own-my-triplets" in error_line(by_key("--data", moved))
    assert "has changed" in error_line(by_key())
    other = done(run("--data", moved, "--name", "my triplets"))
    assert "own-my-triplets-" in other.stdout
    assert len(list((tmp_path / "results" / "suites").glob("*.json"))) == 2


def test_faults_end_the_command_before_anything_is_made(command, folder, tmp_path):
    (folder / "3-left.png").unlink()
    line = error_line(command("--data", folder, "--models", "tiny"))
    assert "manifest.csv, row 4: alternative_1 3-left.png does not exist" in line
    assert not (tmp_path / "results" / "suites").exists() and not (tmp_path / "results" / "features").exists()
    assert "Name a suite with --suite" in error_line(command("--models", "tiny"))


def test_a_model_of_images_alone_is_shown_the_way_and_scored_on_a_folder_of_classes(command, tmp_path):
    put(tmp_path / "photos", {f"{kind}/{at}.png": 20 * at + ord(kind) for kind in "ab" for at in range(4)})
    run = partial(command, "--data", tmp_path / "photos", "--models", "colour-histogram")
    skipped = run()
    assert skipped.exit_code == 1 and "--shape neighbours" in skipped.stdout, skipped.output
    for shape, count in (("neighbours", 8), ("probe", 4)):
        made = done(run("--shape", shape))
        assert f"{shape} | Accuracy | {count} | " in made.stdout
