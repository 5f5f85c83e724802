"""The check of one's own data from the command line: what it says, and its exit code."""

from pathlib import Path

import pytest
from PIL import Image

from compute.tasks.drawing.render import photo_path
from tests.compute.commands import done, likeness
from tests.compute.tasks.files import table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Choices between photographs and smaller copies, in a folder that commands run in."""
    for name in ("astronaut.png", "coffee.png", "rocket.jpg", "chelsea.png"):
        with Image.open(photo_path(name)) as stored:
            image = stored.convert("RGB")
        image.resize((64, 48)).save(tmp_path / f"{Path(name).stem}.png")
        image.resize((48, 36)).save(tmp_path / f"{Path(name).stem}-small.png")
    table(
        tmp_path / "choices.csv",
        "reference,alternative_1,alternative_2,answer|astronaut.png,astronaut-small.png,coffee.png,1|"
        "rocket.png,coffee.png,rocket-small.png,2|rocket.png,rocket-small.png,coffee.png,2|"
        "chelsea.png,rocket.png,chelsea-small.png,2",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*arguments):
    return likeness("task", "check", *arguments, "--results", "results", "--offline")


def test_it_says_what_it_understood_and_what_is_odd(folder):
    result = done(checked("choices.csv"))
    for words in (
        "Shape: choices",
        "Columns: reference, alternative_1, alternative_2, answer",
        "Items: 4 questions of 2 alternatives",
        "Category: Img-2AFC",
        "Images: 7 distinct, all decoded",
        "Fault: items that repeat an earlier one with another answer: 1 (3 = 2)",
        "4 items are too few",
        "Can be run",
        "likeness run --data choices.csv --models tiny",
    ):
        assert words in result.output
    assert not (folder / "results" / "suites").exists(), "nothing is recorded"
    assert "Labels: not checked" in done(checked("choices.csv", "--after", "results")).output, "there is no run"


def test_faults_are_named_by_row_and_come_before_everything_else(folder):
    rows = (folder / "choices.csv").read_text()
    (folder / "torn.png").write_bytes(b"no image")
    (folder / "choices.csv").write_text(f"{rows}rocket.png,coffee.png,gone.png,3\n")
    result = checked("choices.csv")
    assert result.exit_code == 1 and "Faults: 2" in result.output and "row 5: alternative_2 gone" in result.output
    assert "Cannot be run" in result.output and "Run it" not in result.output
    (folder / "choices.csv").write_text(f"{rows}rocket.png,coffee.png,torn.png,1\n")
    result = checked("choices.csv")
    assert result.exit_code == 1 and "row 5, alternative_2 torn.png" in result.output
    assert "that cannot be read: 1" in result.output and "--skip-bad-items" in result.output


def test_shape_columns_and_the_number_of_images_can_be_given(folder):
    (folder / "kinds.csv").write_text("photo,kind\nastronaut.png,person\ncoffee.png,thing\nrocket.png,thing\n")
    options = ("--shape", "clustering", "--columns", "item=photo,label=kind", "--name", "My kinds")
    result = done(checked("kinds.csv", *options, "--decode", "2"))
    assert "Shape: clustering\n" in result.output and "Columns: item = photo, label = kind" in result.output
    assert "Items: 3 images of 2 classes" in result.output
    assert "Images: 3 distinct, 2 of them decoded" in result.output
    assert "--name 'My kinds' --shape clustering --columns item=photo,label=kind" in result.output


def test_a_suite_is_checked_task_by_task(folder):
    (folder / "kinds.csv").write_text("image,label\nastronaut.png,person\ncoffee.png,thing\n")
    suite = (
        'title = "Mine"\n[[tasks]]\nfile = "choices.csv"\n[[tasks]]\nfile = "kinds.csv"\ntitle = "Kinds"\n'
        '[[tasks]]\ntask = "mini/shapes"\n'
    )
    (folder / "suite.toml").write_text(suite)
    result = done(checked("suite.toml"))
    assert [line for line in result.output.splitlines() if not line.startswith(" ")] == [
        "choices.csv",
        "Kinds",
        "Can be run",
        "Run it: likeness run --suite suite.toml --models tiny",
    ]
    result = checked("suite.toml", "--shape", "choices")
    assert result.exit_code == 1 and "--shape" in result.output
    (folder / "kinds.csv").unlink()
    result = checked("suite.toml")
    assert result.exit_code == 1 and "Cannot be read: suite.toml, task 2 (Kinds)" in result.output
    (folder / "suite.toml").write_text('[weights]\nGone = 2\n[[tasks]]\nfile = "choices.csv"\n')
    result = checked("suite.toml")
    assert result.exit_code == 1 and "Cannot be run: suite.toml: weights names the category 'Gone'" in result.output
