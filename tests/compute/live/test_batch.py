"""A table of pairs: what people write is understood, and one bad row spoils no other."""

import pytest

from compute.live import batch, examples, inputs
from compute.live.batch import PairRow
from compute.types import BadInput
from tests.compute.live import zips
from tests.compute.live.pictures import png

RED, BLUE = png("red"), png("blue")


def csv(*lines, head="first,second"):
    return "\n".join([head, *lines]).encode()


def test_texts_and_examples_are_pairs():
    found = batch.read(csv("a cat,a dog", "example:astronaut,a photo of an astronaut"))
    assert found.rows == (
        PairRow(number=1, name="", first="a cat", second="a dog"),
        PairRow(number=2, name="", first="example:astronaut", second="a photo of an astronaut"),
    )
    one, two = map(found.question, found.rows)
    assert one.mode == two.mode == "pair" and [side.content for side in one.inputs] == ["a cat", "a dog"]
    assert two.kinds == ("image", "text") and two.inputs[0] is examples.load("astronaut")
    assert [row.kinds for row in found.rows] == [("text", "text"), ("image", "text")]


@pytest.mark.parametrize(
    "data",
    [
        "First;Label;NAME;Second\r\na cat;7;one;a dog\r\n".encode("utf-16"),
        b' first, second , "name"\n" a cat ",a dog , "one"\n,,\n',
        b"name,first,second,\none,a cat,a dog\n",
    ],
    ids=["UTF-16", "spaces", "a short row"],
)
def test_forms_of_csv(data):
    assert batch.read(data).rows == (PairRow(number=1, name="one", first="a cat", second="a dog"),)


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"\xef\xbb\xbf \n\n", "empty"),
        (b"left,right\na,b\n", "left, right"),
        (b"first,second,First\na,b,c\n", "two columns"),
        (b"first,second\n ,\n", "no rows"),
        (RED, "UTF-8"),
        (b"first,second\n" + b"a,b\n" * 201, "200 rows"),
        (b"x" * 8_000_001, "8 MB"),
        (b"first,second\n" + b"," * 1_000_001, "no rows|columns"),
        (b"first,second" + b",a" * 900_000 + b"\na,b\n", "no rows|columns"),
    ],
    ids=range(9),
)
def test_a_file_that_fails_as_a_whole_is_a_sentence(data, sentence):
    with pytest.raises(BadInput, match=sentence):
        batch.read(data)


@pytest.mark.parametrize(
    "line, problem",
    [
        ("a cat", "second is empty"),
        ("a cat, black,a dog", "quotes"),
        ("cat.PNG,a dog", "no image came"),
        ("a dog,https://example.org/cat.jpeg", "address"),
    ],
)
def test_a_bad_row_says_why_and_the_others_are_read(line, problem):
    before, bad, after = batch.read(csv("a,b", line, "c,d")).rows
    assert before.problem == after.problem == "" and problem in bad.problem and bad.number == 2
    with pytest.raises(BadInput, match="."):
        batch.read(csv(line)).question(bad)


def test_what_shows_only_when_it_is_asked_is_a_sentence_too():
    for cell in ("example:nobody", "\u200b"):
        found = batch.read(csv(f"{cell},a dog"))
        with pytest.raises(BadInput, match="nobody|empty"):
            found.question(found.rows[0])


def test_images_of_a_zip_by_path_and_by_base_name():
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


def test_what_is_wrong_with_an_image_is_wrong_with_its_rows_only():
    said = {"none": "no image", "broken": "cannot be used", "twice": "2 times", "b": "folders", "large": "8 MB"}
    names = ("red", "broken", "twice", "twice", "x/b", "y/b", "large")
    contents = (RED, RED[:60], RED, BLUE, RED, RED, bytes(8_000_001))
    table = csv(*(f"red.png,{name}.png" for name in said), "red.png,red.png")
    files = [("pairs.csv", table), *((f"{name}.png", data) for name, data in zip(names, contents, strict=True))]
    found = batch.read(zips.packed(files))
    for row, word in zip(found.rows, said.values(), strict=False):
        with pytest.raises(BadInput, match=word):
            found.question(row)
    assert found.question(found.rows[-1]).kinds == ("image", "image")


def test_a_file_is_decoded_once_and_a_broken_one_is_not_tried_again(monkeypatch):
    files = {"0.png": RED, "1.png": BLUE, "broken.png": RED[:60]}
    found = batch.read(zips.packed({"pairs.csv": csv(*["0.png,1.png"] * 2, *["broken.png,0.png"] * 2), **files}))
    read = []
    real = batch.POOL.image
    monkeypatch.setattr(batch.POOL, "image", lambda data, *, name: read.append(name) or real(data, name=name))
    for row in found.rows[:2]:
        found.question(row)
    for row in found.rows[2:]:
        with pytest.raises(BadInput, match="broken"):
            found.question(row)
    assert read == ["0.png", "1.png", "broken.png"]


def test_only_the_last_images_are_kept(monkeypatch):
    monkeypatch.setattr(batch, "DECODED", 25_000)  # bytes: three images
    files = {f"{number}.png": png("red", (100 + number, 25)) for number in range(8)}
    found = batch.read(zips.packed({"a.csv": csv(*(f"{number}.png,{number + 1}.png" for number in range(7))), **files}))
    for row in found.rows:
        assert found.question(row).kinds == ("image", "image")
        assert len(found._decoded) <= 3 and f"{row.number}.png" in found._decoded
    assert sum(image.nbytes for image in found._decoded.values()) <= batch.DECODED
