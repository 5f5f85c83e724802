"""likeness run --data with data of one's own: recorded, repeated, moved, changed, refused."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial

import pytest

from tests.compute.commands import error_line, likeness
from tests.compute.tasks.own.drawn import COLOURS, picture, pictures, write

command = partial(likeness, "run")
HEADER = ("reference", "alternative_1", "alternative_2", "answer")


@pytest.fixture
def folder(tmp_path):
    """Ten triplets: of two scenes, which has the reference's colour?"""
    rows = []
    for at in range(10):
        names = [
            picture(tmp_path / "my-triplets" / f"{at}-{side}.png", colour=COLOURS[colour % 6], seed=3 * at + index)
            for index, (side, colour) in enumerate((("reference", at), ("left", at), ("right", at + 3)))
        ]
        rows.append([*names, 1] if at % 2 else [names[0], names[2], names[1], 2])
    write(tmp_path / "my-triplets" / "manifest.csv", HEADER, rows)
    return tmp_path / "my-triplets"


def refused(*arguments: object) -> str:
    return error_line(command(*arguments))


def test_a_folder_of_triplets_is_run_recorded_and_run_again_by_its_key(folder, tmp_path):
    results = ("--results", tmp_path / "results")
    made = command("--data", folder, "--models", "tiny,ssim", *results)
    assert made.exit_code == 0, made.output
    assert "own-my-triplets: 1 task, 2 models; 2 runs to make" in made.stdout
    assert "own/my-triplets/choices | Accuracy | 10 | 50.0" in made.stdout
    again = command("--suite", "own-my-triplets", "--models", "tiny,ssim", *results)
    assert again.exit_code == 0 and "0 runs to make, 2 stored already" in again.stdout, again.output


def test_the_path_of_recorded_data_is_shown_before_it_is_read(folder, tmp_path):
    """A record may name any path: it may come with a results folder that somebody else made."""
    results = ("--models", "ssim", "--results", tmp_path / "results")
    made = command("--data", folder, *results)
    assert made.exit_code == 0 and "as recorded" not in made.output, made.output
    again = command("--suite", "own-my-triplets", *results)
    assert again.exit_code == 0 and again.stdout.startswith(f"Reads {folder} as recorded for own-my-triplets\n"), (
        again.output
    )
    (record,) = (tmp_path / "results" / "suites").glob("*.json")
    os.mkfifo(tmp_path / "a\x1b[2Jb.csv")
    record.write_text(record.read_text().replace("../../my-triplets", "../../a\\u001b[2Jb.csv"))
    ended = command("--suite", "own-my-triplets", *results)
    assert ended.exit_code == 1 and f"Reads {tmp_path / 'a'}\ufffd" in ended.stdout and "\x1b" not in ended.output


def test_data_that_moved_are_the_same_suite_and_changed_data_another(folder, tmp_path):
    results = ("--results", tmp_path / "results")
    assert command("--data", folder, "--models", "ssim", *results).exit_code == 0
    moved = tmp_path / "elsewhere" / "renamed"
    shutil.move(folder, moved)
    assert "is not where it was, or has changed: name it with --data" in refused(
        "--suite", "own-my-triplets", "--models", "ssim", *results
    )
    again = command("--data", moved, "--models", "ssim", *results)
    assert "own-my-triplets: 1 task, 1 model; 0 runs to make, 1 stored already" in again.stdout, again.output
    by_key = command("--suite", "own-my-triplets", "--models", "ssim", *results)
    assert "0 runs to make, 1 stored already" in by_key.stdout, by_key.output
    picture(moved / "0-left.png", colour="black", seed=77)
    assert "is not the data of the suite own-my-triplets" in refused(
        "--suite", "own-my-triplets", "--data", moved, "--models", "ssim", *results
    )
    assert "has changed" in refused("--suite", "own-my-triplets", "--models", "ssim", *results)
    other = command("--data", moved, "--models", "ssim", "--name", "my triplets", *results)
    assert other.exit_code == 0 and "own-my-triplets-" in other.stdout, other.output
    assert len(list((tmp_path / "results" / "suites").glob("*.json"))) == 2


def test_faults_end_the_command_before_anything_is_made(folder, tmp_path):
    results = ("--results", tmp_path / "results")
    (folder / "3-left.png").unlink()
    line = refused("--data", folder, "--models", "tiny", *results)
    assert "manifest.csv, row 4: alternative_1 3-left.png does not exist" in line
    assert not (tmp_path / "results" / "suites").exists() and not (tmp_path / "results" / "features").exists()


def test_columns_shape_and_images_are_named(folder, tmp_path):
    images = tmp_path / "photographs"
    names = pictures(images, 6)
    write(tmp_path / "list.csv", ("file", "kind"), [(name, COLOURS[at]) for at, name in enumerate(names)])
    arguments = ("--data", tmp_path / "list.csv", "--models", "tiny", "--results", tmp_path / "results")
    assert "has no shape's columns: file, kind. Say which is which, such as --columns item=file" in refused(*arguments)
    columns = ("--columns", "item=file,label=kind")
    assert "does not exist" in refused(*arguments, *columns)
    made = command(*arguments, *columns, "--images", images, "--shape", "clustering")
    assert made.exit_code == 0 and "own/list/clustering" in made.stdout, made.output
    record = json.loads((tmp_path / "results" / "suites" / "own-list.json").read_text())
    assert str(images) not in json.dumps(record)
    assert "Write --columns NAME=VALUE" in refused(*arguments, "--columns", "file")


def test_neither_suite_nor_data():
    assert "Name a suite with --suite" in refused("--models", "tiny")


def test_a_model_of_images_alone_is_shown_the_way_and_scored_on_a_folder_of_classes(tmp_path):
    for kind in ("few", "many"):
        for at in range(4):
            picture(
                tmp_path / "photos" / kind / f"{at}.png", colour=COLOURS[at], seed=at, shapes=2 + 4 * (kind == "many")
            )
    run = partial(
        command, "--data", tmp_path / "photos", "--models", "colour-histogram", "--results", tmp_path / "results"
    )
    skipped = run()
    assert skipped.exit_code == 1 and "--shape neighbours" in skipped.stdout, skipped.output
    for shape, count in (("neighbours", 8), ("probe", 4)):
        made = run("--shape", shape)
        assert made.exit_code == 0 and f"{shape} | Accuracy | {count} | " in made.stdout, made.output
