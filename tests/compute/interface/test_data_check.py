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
    return CliRunner().invoke(
        app, ["task", "check", *arguments, "--results", "results", "--no-benchmarks", "--offline"]
    )


def test_it_says_what_it_understood_and_what_is_odd(folder: Path) -> None:
    result = checked("choices.csv")
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.output.splitlines()]
    assert lines[:4] == [
        "choices.csv",
        "Shape: choices",
        "Rows: 4",
        "Columns: reference, alternative_1, alternative_2, answer",
    ]
    assert "Items: 4 questions of 2 alternatives" in lines and "Of: images" in lines
    assert "Category: Img-2AFC" in lines
    assert "Images: 7 distinct, all decoded" in lines
    assert "Note: items that repeat an earlier one: 1 (3 = 2)" in lines
    assert "Fault: items that repeat an earlier one with another answer: 1 (3 = 2)" in lines
    assert any(line.startswith("4 items are too few: ") for line in lines)
    assert lines[-3:] == [
        "Can be run",
        "Run it: python -m compute run --data choices.csv --models tiny",
        "Pictures: choices-check.html",
    ]
    assert not (folder / "results" / "suites").exists(), "nothing is recorded"


def test_the_page_shows_three_items_and_loads_nothing(folder: Path) -> None:
    assert checked("choices.csv", "--html", "page.html").exit_code == 0
    page = (folder / "page.html").read_text()
    pictures = re.findall(r'<img src="data:image/webp;base64,([^"]+)"', page)
    assert page.count("<article>") == 3 and len(pictures) == 9
    for picture in pictures:
        with Image.open(io.BytesIO(base64.b64decode(picture))) as shown:
            assert max(shown.size) <= 256
    assert page.count('class="right"') == 3 and "Answer: A" in page and "Answer: B" in page
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses and all(address.startswith("data:image/webp;base64,") for address in addresses)
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "<script" not in page and "prefers-color-scheme: dark" in page


def test_hostile_names_and_texts_are_shown_as_they_are(folder: Path) -> None:
    quoted = HOSTILE.replace('"', '""')
    (folder / "texts.csv").write_text(f'text,label\n"{quoted}","{quoted}"\na dog,dog\n')
    result = checked("texts.csv")
    assert result.exit_code == 0, result.output
    page = (folder / "texts-check.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_faults_are_named_by_row_and_nothing_can_be_run(folder: Path) -> None:
    (folder / "choices.csv").write_text(
        "reference,alternative_1,alternative_2,answer\nastronaut.png,gone.png,coffee.png,1\nrocket.png,coffee.png,rocket.png,3\n"
    )
    result = checked("choices.csv")
    assert result.exit_code == 1
    assert "  Faults: 2\n" in result.output
    assert "choices.csv, row 1: alternative_1 gone.png does not exist" in result.output
    assert "choices.csv, row 2: answer is '3', not" in result.output
    assert "Cannot be run: correct what is listed, then check again" in result.output
    page = (folder / "choices-check.html").read_text()
    assert "Not checked until" in page and "No repeated items" not in page
    assert "alternative_1 gone.png does not exist" in page and "<article>" not in page
    assert "python -m compute run" not in page and "Run it" not in result.output


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
    assert (
        lines[at + 1].startswith("choices.csv, row 1: answer is '7'") and "row 5: alternative_2 gone" in lines[at + 2]
    )
    assert lines[at + 3] == "Of the 5 rows without a fault:"
    assert "that cannot be read: 1" in lines[at + 4] and "choices.csv, row 6, alternative_2 torn.png" in lines[at + 5]
    assert "Fault: items that repeat an earlier one with another answer: 1 (3 = 2)" in lines
    assert "items whose reference is an alternative that is not the answer: 1 (7)" in result.output, result.output
    assert "Cannot be run: correct what is listed, then check again" in lines and "Run it" not in result.output
    page = (folder / "page.html").read_text()
    assert "Of the 5 rows without a fault:" in page and "torn.png" in page and "<article>" not in page
    assert "No repeated items" not in page, "one repeats another"
    # A missing file that is another row's is not taken for the one before.
    (folder / "choices.csv").write_text(
        rows + more.replace("gone.png", "torn.png").replace("torn.png,1\na", "rocket.png,1\na")
    )
    result = checked("choices.csv")
    assert "choices.csv, row 6, alternative_2 torn.png" in result.output and "Faults:" not in result.output


def test_the_page_says_that_nothing_was_found(folder: Path) -> None:
    (folder / "labels.csv").write_text("text,label\na cat,cat\na dog,dog\na bird,\n")
    assert checked("labels.csv").exit_code == 1
    page = (folder / "labels-check.html").read_text()
    assert page.index("Of the 2 rows without a fault:") < page.index("No repeated items, no contradicting labels")


def test_what_faults_keep_from_being_checked_is_said(folder: Path) -> None:
    (folder / "constant.csv").write_text("first,second,score\na,b,3\na,b,3\nc,d,3\n")
    result = checked("constant.csv")
    assert result.exit_code == 1 and "Not checked until the faults are corrected: repeated items" in result.output
    assert (
        "No repeated items" not in result.output and "Not checked until" in (folder / "constant-check.html").read_text()
    )
    (folder / "kinds.csv").write_text(
        "image,label,name\nastronaut.png,a,x\nastronaut.png,b,y\nrocket.png,,z\ncoffee.png,b,\n"
    )
    result = checked("kinds.csv", "--shape", "clustering")
    assert "items that repeat an earlier one under another label: 1 (y = x" in result.output


def test_an_image_that_is_no_image_is_named_and_may_be_left_out(folder: Path) -> None:
    (folder / "chelsea-small.png").write_bytes(b"no image")
    result = checked("choices.csv")
    assert result.exit_code == 1
    assert "Images: 7 distinct, all decoded; that cannot be read: 1" in result.output
    assert "choices.csv, row 4, alternative_2 chelsea-small.png: " in result.output
    assert "Run it: python -m compute run --data choices.csv --models tiny --skip-bad-items" in result.output


def test_shape_columns_and_the_number_of_images_can_be_given(folder: Path) -> None:
    (folder / "kinds.csv").write_text("photo,kind\nastronaut.png,person\ncoffee.png,thing\nrocket.png,thing\n")
    result = checked(
        "kinds.csv",
        "--shape",
        "clustering",
        "--columns",
        "item=photo,label=kind",
        "--decode",
        "2",
        "--name",
        "My kinds",
    )
    assert result.exit_code == 0, result.output
    assert "Shape: clustering\n" in result.output
    assert "Columns: item = photo, label = kind" in result.output
    assert "Classes: 2: thing 2, person 1" in result.output
    assert "Images: 3 distinct, 2 of them decoded" in result.output
    assert "NMI is no mean over items: what difference 3 items can show is not known." in result.output
    assert (
        "Run it: python -m compute run --data kinds.csv --name 'My kinds' --shape clustering "
        "--columns item=photo,label=kind --models tiny"
    ) in result.output


def test_a_suite_is_checked_task_by_task(folder: Path) -> None:
    (folder / "kinds.csv").write_text("image,label\nastronaut.png,person\ncoffee.png,thing\n")
    (folder / "suite.toml").write_text(
        'title = "Mine"\n[[tasks]]\nfile = "choices.csv"\n[[tasks]]\nfile = "kinds.csv"\ntitle = "Kinds"\n'
        '[[tasks]]\ntask = "mini/shapes"\n'
    )
    result = checked("suite.toml")
    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if not line.startswith(" ")] == [
        "choices.csv",
        "Kinds",
        "Can be run",
        "Run it: python -m compute run --suite suite.toml --models tiny",
        "Pictures: suite-check.html",
    ]
    (folder / "kinds.csv").write_text("image,label\ngone.png,person\ncoffee.png,thing\n")
    result = checked("suite.toml")
    assert result.exit_code == 1 and "kinds.csv, row 1: image gone.png does not exist" in result.output
    (folder / "kinds.csv").unlink()
    result = checked("suite.toml")
    assert result.exit_code == 1 and "Cannot be read: suite.toml, task 2 (Kinds): There is no file" in result.output
    result = checked("suite.toml", "--shape", "choices")
    assert result.exit_code == 1 and "suite.toml says itself how its data are read" in result.output


def test_weights_that_name_no_category_are_the_suites_own_problem(folder: Path) -> None:
    (folder / "suite.toml").write_text('[weights]\nGone = 2\n[[tasks]]\nfile = "choices.csv"\n')
    result = checked("suite.toml")
    assert result.exit_code == 1
    assert "Cannot be run: suite.toml: weights names the category 'Gone'. Its tasks have: Img-2AFC" in result.output


def test_what_is_no_data_is_an_error(folder: Path) -> None:
    result = checked("gone.csv")
    assert result.exit_code == 1 and "There is no file" in result.output
    assert not list(folder.glob("*.html"))


def test_benchmarks_are_compared_and_those_elsewhere_are_named(folder: Path) -> None:
    result = CliRunner().invoke(app, ["task", "check", "choices.csv", "--results", "results", "--offline"])
    assert result.exit_code == 0, result.output
    order = [result.output.index(words) for words in ("Fault: items", "--no-benchmarks", "Compared with", "Run it: ")]
    assert order == sorted(order), "what is wrong with the data is said before the long comparison"
    assert re.search(r"Compared with the scored items of \d+ benchmark tasks whose data is here", result.output)
    assert re.search(r"Not checked, their data is not on this machine: data sets, .*\d+ of MIEB", result.output)
