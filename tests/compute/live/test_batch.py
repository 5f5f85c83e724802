"""A table of pairs: what people write is understood, and one bad row spoils no other."""

from __future__ import annotations

import time

import pytest

from compute.live import batch, examples, inputs
from compute.live.batch import PairRow
from compute.types import BadInput
from tests.compute.live import zips
from tests.compute.live.pictures import png

RED, BLUE = png("red"), png("blue")


def csv(*lines: str, head: str = "first,second") -> bytes:
    return "\n".join([head, *lines]).encode()


def test_texts_and_examples_are_pairs() -> None:
    found = batch.read(csv("a cat,a dog", "example:astronaut,a photo of an astronaut"))
    assert found.rows == (
        PairRow(number=1, name="", first="a cat", second="a dog"),
        PairRow(number=2, name="", first="example:astronaut", second="a photo of an astronaut"),
    )
    one, two = map(found.question, found.rows)
    assert one.mode == two.mode == "pair" and [side.content for side in one.inputs] == ["a cat", "a dog"]
    assert two.kinds == ("image", "text") and two.inputs[0] is examples.load("astronaut")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfname,first,second\none,a cat,a dog\n",
        b"First;Label;NAME;Second\r\na cat;7;one;a dog\r\n",
        b"\n\r\nsecond\tfirst\tname\na dog\ta cat\tone\n\n",
        b' first, second , "name"\n" a cat ",a dog , "one"\n,,\n',
        b"first,second,name\ra cat,a dog,one",
    ],
    ids=["bom", "semicolons", "tabs and blank lines", "spaces", "old line ends"],
)
def test_forms_of_csv(data: bytes) -> None:
    assert batch.read(data).rows == (PairRow(number=1, name="one", first="a cat", second="a dog"),)


def test_cells_in_quotes_hold_anything() -> None:
    (row,) = batch.read(b'first,second\n"a cat, ""black""\nand; white",\'x\'\n').rows
    assert row.first == 'a cat, "black"\nand; white' and row.second == "'x'" and row.problem == ""


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "needs a heading with the columns first and second, and may have the column name. It is empty"),
        (b"\xef\xbb\xbf \n\n", "It is empty"),
        (b"left,right\na,b\n", "Its first line reads 'left,right'"),
        (b"first|second\na|b\n", "Its first line reads"),
        (b"first,second,First\na,b,c\n", "The column first stands twice"),
        (b"first,second\n", "no rows below its heading"),
        (b"first,second\n,\n ,\n", "no rows below its heading"),
        (b'first,second\na,b\n"a,b\n', "cannot be read from line 3 on"),
        (b'first,second\n"a" b,c\n', "cannot be read from line 2 on"),
        ("first,second\na,b".encode("utf-16"), "is UTF-16 text. Save it as CSV in UTF-8"),
        ("first,second\nGröße,b".encode("latin-1"), "neither CSV text in UTF-8 nor a ZIP"),
        (RED, "neither CSV text in UTF-8 nor a ZIP"),
        (b"first,second\n" + b"a" * 200_000 + b",b\n", "line 2 has more than 131,072 characters"),
        (b"first,second\n" + b"a,b\n" * 201, "more than 200 rows"),
        (b"x" * 8_000_001, "The CSV has 8 MB"),
        (b"PK\x03\x04" + b"x" * 50_000_000, "The file has 50 MB, more than 50 MB"),
        (b"PK\x03\x04 and nothing more", "damaged or incomplete"),
    ],
)
def test_a_file_that_fails_as_a_whole_is_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        batch.read(data)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a cat,", "The cell in the column second is empty"),
        ("a cat", "The cell in the column second is empty"),
        (",a cat", "The cell in the column first is empty"),
        ("a cat, black,a dog", "It has 3 cells, the heading 2. Put a text that contains the separator in quotes"),
        ("cat.PNG,a dog", "cat.PNG is the name of an image, but no image came with the CSV. Put both in one ZIP"),
        ("a dog,https://example.org/cat.jpeg", "is an address, and nothing is downloaded"),
        ("../../etc/a.png,a dog", "no image came with the CSV"),
    ],
)
def test_a_bad_row_says_why_and_the_others_are_read(line: str, problem: str) -> None:
    before, bad, after = batch.read(csv("a,b", line, "c,d")).rows
    assert before.problem == after.problem == "" and problem in bad.problem and bad.number == 2
    with pytest.raises(BadInput, match="."):
        batch.read(csv(line)).question(bad)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("example:nobody", "There is no example 'nobody'"),
        ("\u200b", "The text in the column first is empty"),
        ("x" * 100_001, "has 100,001 characters"),
    ],
)
def test_what_shows_only_when_it_is_asked_is_a_sentence_too(cell: str, sentence: str) -> None:
    found = batch.read(csv(f"{cell},a dog"))
    with pytest.raises(BadInput, match=sentence):
        found.question(found.rows[0])


def test_images_of_a_zip_by_path_and_by_base_name() -> None:
    table = csv("images/red.png,blue.jpg", "red.png,a red square", "./blue.jpg,images/red.png", "odd,a cat")
    found = batch.read(
        zips.packed({"set/pairs.csv": table, "set/images/red.png": RED, "set/blue.jpg": BLUE, "set/odd": BLUE})
    )
    assert [row.problem for row in found.rows] == [""] * 4
    first, second, third, fourth = map(found.question, found.rows)
    assert first.kinds == ("image", "image") and second.kinds == ("image", "text") == fourth.kinds
    assert first.inputs[0].content.getpixel((0, 0)) == (255, 0, 0)
    assert [one.key for one in third.inputs] == [one.key for one in first.inputs][::-1]
    assert first.inputs[0].key == inputs.image(RED, name="red").key


def test_what_is_wrong_with_an_image_is_wrong_with_its_rows_only() -> None:
    files = [
        (
            "pairs.csv",
            csv(
                "red.png,none.png",
                "red.png,broken.png",
                "inner.zip,red.png",
                "twice.png,red.png",
                "b.png,red.png",
                "large.png,red.png",
                "red.png,blue.png",
            ),
        ),
        ("red.png", RED),
        ("blue.png", BLUE),
        ("broken.png", RED[:60]),
        ("inner.zip", zips.packed({"x.png": RED})),
        ("twice.png", RED),
        ("twice.png", BLUE),
        ("x/b.png", RED),
        ("y/b.png", RED),
        ("large.png", bytes(8_000_001)),
    ]
    found = batch.read(zips.packed(files))
    said = []
    for row in found.rows:
        try:
            found.question(row)
            said.append("")
        except BadInput as error:
            said.append(str(error))
    for sentence, words in zip(
        said,
        [
            "There is no image none.png in the ZIP",
            "broken.png cannot be used",
            "inner.zip cannot be used",
            "twice.png is in the ZIP 2 times",
            "b.png is in 2 folders",
            "large.png has more than 8 MB when it is unpacked",
            "",
        ],
        strict=True,
    ):
        assert sentence.startswith(words) and bool(sentence) == bool(words)


def test_neighbouring_rows_decode_a_file_once_and_a_broken_one_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {f"{number}.png": png("red", (32 + number, 32)) for number in range(6)} | {"broken.png": RED[:60]}
    table = csv(*(f"0.png,{number}.png" for number in range(6)), *["broken.png,0.png"] * 3)
    found = batch.read(zips.packed({"pairs.csv": table, **files}))
    read: list[str] = []
    monkeypatch.setattr(
        batch.POOL, "image", lambda data, *, name, real=batch.POOL.image: read.append(name) or real(data, name=name)
    )
    refused = 0
    for row in found.rows:
        try:
            found.question(row)
        except BadInput:
            refused += 1
    assert read == [*(f"{number}.png" for number in range(6)), "broken.png"] and refused == 3


def test_only_the_last_images_are_kept() -> None:
    large = {f"{number}.png": png("red", (1500 + number, 2500)) for number in range(8)}
    found = batch.read(zips.packed({"a.csv": csv(*(f"{number}.png,{number + 1}.png" for number in range(7))), **large}))
    for row in found.rows:
        assert found.question(row).kinds == ("image", "image")
        assert len(found._decoded) <= 3 and f"{row.number}.png" in found._decoded
    assert sum(image.nbytes for image in found._decoded.values()) <= batch.DECODED


@pytest.mark.parametrize("sign", [",", ";", "\t", "\n", "\r", "a,b\n"], ids=ascii)
def test_a_table_of_nothing_but_separators_is_refused_before_it_is_read(sign: str) -> None:
    data = f"first{sign if sign in ',;' else ','}second\n".encode() + (sign * (7_900_000 // len(sign))).encode()
    started = time.thread_time()
    with pytest.raises(BadInput, match="1,000,000 separators and line breaks"):
        batch.read(data)
    assert time.thread_time() - started < 1
