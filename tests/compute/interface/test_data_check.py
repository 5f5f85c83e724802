"""The check of one's own data from the command line: what it says, its page, and its exit code."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from compute.__main__ import app
from compute.tasks.drawing.photographs import photo_path

HOSTILE = "<script>alert(1)</script>\"'&"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Choices between photographs and smaller copies, in a folder that commands run in."""
    for name in ("astronaut.png", "coffee.png", "rocket.jpg", "chelsea.png"):
        with Image.open(photo_path(name)) as stored:
            image = stored.convert("RGB")
        image.resize((64, 48)).save(tmp_path / f"{Path(name).stem}.png")
        image.resize((48, 36)).save(tmp_path / f"{Path(name).stem}-small.png")
    (tmp_path / "choices.csv").write_text(
        "reference,alternative_1,alternative_2,answer\n"
        "astronaut.png,astronaut-small.png,coffee.png,1\n"
        "rocket.png,coffee.png,rocket-small.png,2\n"
        "rocket.png,rocket-small.png,coffee.png,2\n"
        "chelsea.png,rocket.png,chelsea-small.png,2\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["task", "check", *arguments, "--results", "results", "--offline"])


def test_it_says_what_it_understood_and_what_is_odd(folder: Path) -> None:
    result = checked("choices.csv", "--html", "page.html")
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.output.splitlines()]
    for line in (
        "Shape: choices",
        "Columns: reference, alternative_1, alternative_2, answer",
        "Items: 4 questions of 2 alternatives",
        "Category: Img-2AFC",
        "Images: 7 distinct, all decoded",
        "Note: items that repeat an earlier one: 1 (3 = 2)",
        "Fault: items that repeat an earlier one with another answer: 1 (3 = 2)",
        "Can be run",
        "Run it: python -m compute run --data choices.csv --models tiny",
    ):
        assert line in lines
    assert any(line.startswith("4 items are too few") for line in lines)
    assert not (folder / "results" / "suites").exists(), "nothing is recorded"
    page = (folder / "page.html").read_text()
    pictures = re.findall(r'<img src="data:image/webp;base64,([^"]+)"', page)
    assert page.count("<article>") == 3 and len(pictures) == 9
    for picture in pictures:
        with Image.open(io.BytesIO(base64.b64decode(picture))) as shown:
            assert max(shown.size) <= 256
    assert page.count('class="right"') == 3 and "Answer: A" in page and "Answer: B" in page
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses and all(address.startswith("data:image/webp;base64,") for address in addresses)
    assert "default-src" in page and "<script" not in page


def test_hostile_names_and_texts_are_shown_as_they_are(folder: Path) -> None:
    quoted = HOSTILE.replace('"', '""')
    (folder / "texts.csv").write_text(f'text,label\n"{quoted}","{quoted}"\na dog,dog\n')
    result = checked("texts.csv")
    assert result.exit_code == 0, result.output
    page = (folder / "texts-check.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_rows_without_a_fault_are_looked_at_beside_those_with_one(folder: Path) -> None:
    rows = (folder / "choices.csv").read_text()
    (folder / "torn.png").write_bytes(b"no image")
    more = "rocket.png,coffee.png,gone.png,1\nastronaut.png,coffee.png,torn.png,1\ncoffee.png,coffee.png,rocket.png,2\n"
    faulty = rows.replace(
        "astronaut.png,astronaut-small.png,coffee.png,1", "astronaut.png,astronaut-small.png,coffee.png,7"
    )
    (folder / "choices.csv").write_text(faulty + more)
    result = checked("choices.csv", "--html", "page.html")
    assert result.exit_code == 1
    lines = [line.strip() for line in result.output.splitlines()]
    at = lines.index("Faults: 2")
    assert "row 1: answer is '7'" in lines[at + 1] and "row 5: alternative_2 gone" in lines[at + 2]
    assert lines[at + 3] == "Of the 5 rows without a fault:"
    assert "that cannot be read: 1" in lines[at + 4] and "row 6, alternative_2 torn.png" in lines[at + 5]
    assert "Fault: items that repeat an earlier one with another answer: 1 (3 = 2)" in lines
    assert "items whose reference is an alternative that is not the answer: 1 (7)" in result.output, result.output
    assert any(line.startswith("Cannot be run") for line in lines) and "Run it" not in result.output
    page = (folder / "page.html").read_text()
    assert "Of the 5 rows without a fault:" in page and "torn.png" in page and "<article>" not in page
    # A missing file that is another row's is not taken for the one before.
    (folder / "choices.csv").write_text(
        rows + more.replace("gone.png", "torn.png").replace("torn.png,1\na", "rocket.png,1\na")
    )
    result = checked("choices.csv")
    assert "row 6, alternative_2 torn.png" in result.output and "Faults:" not in result.output
    assert "--skip-bad-items" in result.output


def test_what_faults_keep_from_being_checked_is_said(folder: Path) -> None:
    (folder / "constant.csv").write_text("first,second,score\na,b,3\na,b,3\nc,d,3\n")
    result = checked("constant.csv")
    assert result.exit_code == 1 and "Not checked" in result.output and "No repeated items" not in result.output
    assert "Not checked" in (folder / "constant-check.html").read_text()
    (folder / "labels.csv").write_text("text,label\na cat,cat\na dog,dog\na bird,\n")
    assert checked("labels.csv").exit_code == 1
    page = (folder / "labels-check.html").read_text()
    assert page.index("Of the 2 rows without a fault:") < page.index("No repeated items")


def test_shape_columns_and_the_number_of_images_can_be_given(folder: Path) -> None:
    (folder / "kinds.csv").write_text("photo,kind\nastronaut.png,person\ncoffee.png,thing\nrocket.png,thing\n")
    options = ("--shape", "clustering", "--columns", "item=photo,label=kind", "--name", "My kinds")
    result = checked("kinds.csv", *options, "--decode", "2")
    assert result.exit_code == 0, result.output
    assert "Shape: clustering\n" in result.output and "Columns: item = photo, label = kind" in result.output
    assert "Classes: 2: thing 2, person 1" in result.output
    assert "Images: 3 distinct, 2 of them decoded" in result.output
    assert (
        "Run it: python -m compute run --data kinds.csv --name 'My kinds' --shape clustering "
        "--columns item=photo,label=kind --models tiny"
    ) in result.output


def test_a_suite_is_checked_task_by_task(folder: Path) -> None:
    (folder / "kinds.csv").write_text("image,label\nastronaut.png,person\ncoffee.png,thing\n")
    suite = (
        'title = "Mine"\n[[tasks]]\nfile = "choices.csv"\n[[tasks]]\nfile = "kinds.csv"\ntitle = "Kinds"\n'
        '[[tasks]]\ntask = "mini/shapes"\n'
    )
    (folder / "suite.toml").write_text(suite)
    result = checked("suite.toml")
    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if not line.startswith(" ")] == [
        "choices.csv",
        "Kinds",
        "Can be run",
        "Run it: python -m compute run --suite suite.toml --models tiny",
        "Pictures: suite-check.html",
    ]
    result = checked("suite.toml", "--shape", "choices")
    assert result.exit_code == 1 and "--shape" in result.output
    (folder / "kinds.csv").unlink()
    result = checked("suite.toml")
    assert result.exit_code == 1 and "Cannot be read: suite.toml, task 2 (Kinds)" in result.output
    (folder / "suite.toml").write_text('[weights]\nGone = 2\n[[tasks]]\nfile = "choices.csv"\n')
    result = checked("suite.toml")
    assert result.exit_code == 1 and "Cannot be run: suite.toml: weights names the category 'Gone'" in result.output


def test_what_is_no_data_is_an_error(folder: Path) -> None:
    result = checked("gone.csv")
    assert result.exit_code == 1 and "There is no file" in result.output
    assert not list(folder.glob("*.html"))
