"""What is wrong with data of one's own is named by file and row before anything long begins."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.tasks.own import read
from compute.types import BadInput
from tests.compute.tasks.own.drawn import faults, of, picture, pictures, write

CHOICES = ("name", "reference", "alternative_1", "alternative_2", "answer")
GOOD = ("a", "0.png", "1.png", "2.png", 2)


@pytest.fixture
def folder(tmp_path):
    for at in range(4):
        picture(tmp_path / "data" / f"{at}.png", colour="red", seed=at)
    return tmp_path / "data"


def changed(name: str, value: object) -> tuple[object, ...]:
    """A good row, named b, with one value changed."""
    return tuple({**dict(zip(CHOICES, GOOD, strict=True)), "name": "b", name: value}.values())


# A value of row 2 that is wrong, and the words that name it.
BY_ROW = (
    ("reference", "9.png", "9.png does not exist"),
    ("reference", "0.PNG", "Did you mean '0.png'?"),
    ("reference", "other/0.png", "does not exist"),
    ("reference", "0.txt", "no image"),
    ("reference", "0.png?width=64", "does not exist. Did you mean '0.png'?"),
    ("reference", "images/0", "does not exist"),
    ("reference", "./pipe", "is not a file"),
    ("reference", "https://a.org/0.png?b", "does not exist"),
    ("reference", "folder.png", "is not a file"),
    ("alternative_2", "  ", "alternative_2 is empty"),
    ("name", "a", "as in row 1"),
    ("answer", 3, "'3'"),
    ("answer", 0, "'0'"),
    ("answer", "left", "'left'"),
    ("answer", 1.5, "'1.5'"),
    ("answer", "", "answer is empty"),
    ("reference", "../secret.png", "leads out"),
    ("reference", "/etc/secret.png", "leads out"),
)


def test_a_fault_of_a_row_is_named_with_its_row(folder):
    picture(folder.parent / "secret.png", colour="red", seed=1)
    os.mkfifo(folder / "pipe")
    (folder / "folder.png").mkdir()
    for name, value, reason in BY_ROW:
        data = read(write(folder / "questions.csv", CHOICES, [GOOD, changed(name, value), changed("name", "c")]))
        assert data.faults == 1
        [problem] = data.problems
        assert problem.row == 2 and problem.file == "questions.csv" and reason in problem.what, problem
    for refused in (data.check, data.items, lambda: data.facts, lambda: data.digest):
        with pytest.raises(BadInput, match=r"questions\.csv, row 2"):
            refused()


def test_many_faults_are_counted_and_the_first_listed(folder):
    rows = [(f"n{at}", "0.png", "1.png", "2.png", at) for at in range(1, 51)]
    data = read(write(folder / "questions.csv", CHOICES, rows))
    assert data.faults == 48 and len(data.problems) == 20
    with pytest.raises(BadInput, match="48 faults"):
        data.check()


def test_faults_are_listed_by_row_and_a_row_of_another_width_shifts_no_number(folder):
    rows = [GOOD[:3], GOOD, (*GOOD, "more"), changed("answer", 9), GOOD]
    found = faults(write(folder / "questions.csv", CHOICES, rows))
    assert list(found) == [1, 3, 4, 5] and "3 values" in found[1] and "'9'" in found[4] and "row 2" in found[5]
    constant = read(write(folder / "constant.csv", ("first", "second", "score"), [("a", "b", 3), ("a", "", 3)]))
    assert [problem.row for problem in constant.problems] == [0, 2]


def error(path: Path, **options: object) -> str:
    """Why a file cannot be read at all, or its first fault."""
    with pytest.raises(BadInput) as caught:
        read(path, **options).check()
    return str(caught.value)


def test_columns(folder):
    path = write(folder / "q.csv", ("reference", "alternative_1", "alternative_2", "anwser"), [GOOD[1:]])
    assert "choices" in error(path) and "answer" in error(path)
    assert "Did you mean 'anwser'?" in error(path, shape="choices")
    assert of(path, columns={"answer": "anwser"}).shape.key == "choices"
    assert "Did you mean 'answer'?" in error(path, shape="choices", columns={"answr": "anwser"})
    assert "Did you mean 'anwser'?" in error(path, shape="choices", columns={"answer": "answers"})
    assert "Did you mean 'choices'?" in error(path, shape="choises")
    more = write(folder / "more.csv", (*CHOICES, "photographer"), [(*GOOD, "me")])
    assert of(more).ignored == ("photographer",)
    slip = write(folder / "slip.csv", ("image", "label", "promt"), [("0.png", "a", "b"), ("1.png", "c", "d")])
    assert "Did you mean 'prompt'?" in error(slip)
    for name, word in (("alternative_4", "'alternative_3'"), ("alternative_9", "at most 8")):
        assert word in error(write(folder / "gap.csv", (*CHOICES, name), [(*GOOD, "3.png")]))
    twice = write(folder / "twice.csv", ("image", "label", "label"), [("0.png", "a", "b")])
    assert "two columns 'label'" in error(twice)
    assert "a, b" in error(write(folder / "nothing.csv", ("a", "b"), [(1, 2)]))


# A table, and the words that name what is wrong with it.
TABLES = (
    (("image", "label"), [(f"{at}.png", "cat") for at in range(3)], "'cat' in every row"),
    (("image", "label"), [(f"{at}.png", "") for at in range(3)], "label is empty in every row"),
    (CHOICES, [("a", "0.png", "1.png", "a text", 1)], "alternative_2 texts"),
    (("first", "second", "score"), [("a", "b", 3)] * 4, "3 in every row"),
    (("first", "second", "score"), [("a", "b", 3), ("a", "c", 4)], "three pairs"),
    (("first", "second", "score"), [("a", "b", 3), ("a", "c", "4"), ("a", "d", "x")], "row 3: score is 'x'"),
    (("first", "second", "score"), [("a", "b", 3), ("a", "c", 4), ("a", "d", "inf")], "row 3: score is 'inf'"),
    (("item", "label"), [("images/0", "a"), ("images/1", "b")], "images/0 does not exist"),
    (
        ("item", "label"),
        [("a cat", "a"), ("0.png", "b"), ("a dog", "b")],
        "row 2: item is '0.png', the file of an image",
    ),
    (("member_1", "member_2", "member_3", "odd"), [("a", "b", "c", 1)], "row 1: member_1 is 'a'"),
    (("image", "caption"), [("0.png", "a"), ("1.png", "a")], "two captions"),
    (("ref_path", "left_path", "right_path", "left_vote", "right_vote", "votes"), [("0.png",) * 3 + (1, 0, 5)], "6 v"),
    (("anchor", "positive", "negative"), [("0.png", "1.png", "a text")], "negative texts"),
    (("image", "label", "prompt"), [("0.png", "a", "x"), ("1.png", "b", "y"), ("2.png", "a", "z")], "row 3: prompt"),
)


def test_whole_columns(folder):
    for header, rows, words in TABLES:
        assert words in error(write(folder / "table.csv", header, rows))


def test_probes(folder):
    header = ("image", "label", "split")
    rows = [("0.png", "a", "train"), ("1.png", "b", "train"), ("2.png", "c", "test"), ("3.png", "a", "tset")]
    found = faults(write(folder / "probe.csv", header, rows))
    assert list(found) == [3, 4] and "'c'" in found[3] and "'tset'" in found[4]
    assert "split test" in error(write(folder / "only.csv", header, [row for row in rows if row[2] == "train"]))
    one = write(folder / "one.csv", header, [("0.png", "a", "train"), ("1.png", "b", "test")])
    assert "one class" in error(one)
    more = write(folder / "more.csv", header, [*rows[:2], ("2.png", "a", "test"), ("3.png", "b", "validation")])
    assert "1 row" in of(more).facts.notes


def test_votes(folder):
    header = ("prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
    found = faults(write(folder / "v.csv", header, [("a", "0.png", "1.png", -1, 2), ("b", "0.png", "1.png", 1, 2)]))
    assert list(found) == [1] and "votes_1 is '-1'" in found[1]
    assert "more votes" in error(write(folder / "tied.csv", header, [("a", "0.png", "1.png", 2, 2)]))
    assert "votes for 3" in error(write(folder / "v3.csv", (*header, "votes_3"), [("a", "0.png", "1.png", 2, 1, 1)]))


def test_a_column_may_be_mapped_by_its_other_name_and_beside_a_base_name(folder):
    header = ("id", "left_vote", "right_vote", "votes", "ref_path", "left_path", "right_path", "prompt")
    path = write(folder / "data.csv", header, [(1, 0.0, 1.0, 7, "0.png", "1.png", "2.png", "a dog")])
    given = {"alternative_1": "left_path", "alternative_2": "right_path", "votes_1": "left_vote"}
    for name in ("prompt", "reference", "ref"):
        data = of(path, columns={name: "ref_path", **given, "votes_2": "right_vote"})
        assert data.shape.key == "votes" and data.ignored == ("votes", "prompt")
        assert data.items()["default"].answer.tolist() == [1]
    assert "no column 'votes'" in error(path, shape="votes", columns={**given, "votes": "right_vote"})


def test_retrieval(folder):
    def made(queries: list[dict], corpus: list[dict], qrels: list[tuple]) -> Path:
        for name, rows in (("queries", queries), ("corpus", corpus)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        write(folder / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), qrels)
        return folder

    queries, corpus = [{"_id": "q1", "text": "a"}], [{"_id": "d1", "text": "b"}, {"_id": "d2", "text": "c"}]
    assert of(made(queries, corpus, [("q1", "d1", 1)])).facts.n_items == 1
    good, first = ("q1", "d1", 1), corpus[0]
    for parts, words in (
        ((queries, corpus, [good, ("q1", "d9", 1)]), "test.tsv, row 2: corpus-id is 'd9'"),
        ((queries, corpus, [("q9", "d1", 1)]), "test.tsv, row 1: query-id is 'q9'"),
        ((queries, corpus, [good, ("q1", "d1", 2)]), "test.tsv, row 2: score is 2"),
        ((queries, corpus, [("q1", "d1", 0)]), "no score is above 0"),
        ((queries, corpus, [("q1", "d1", "yes")]), "score is 'yes'"),
        ((queries, [first, first], [good]), "as in row 1"),
        ((queries, [first, {"_id": "d2", "text": " "}], [good]), "row 2: it has neither"),
        (([{"_id": "q1"}], corpus, [good]), "queries.jsonl: has neither"),
    ):
        assert words in error(made(*parts))
    (folder / "qrels" / "test.tsv").unlink()
    assert "has no qrels: a retrieval data set has corpus.jsonl" in error(folder)
    write(folder / "qrels" / "dev.tsv", ("query-id", "corpus-id", "score"), [("q1", "d1", 1)])
    write(folder / "qrels" / "train.tsv", ("query-id", "corpus-id", "score"), [("q1", "d1", 1)])
    assert "has dev.tsv, train.tsv and no test" in error(folder)
    assert "is not a folder with corpus.jsonl" in error(folder / "queries.jsonl", shape="retrieval")


def test_files_that_are_no_manifest(folder):
    assert "none.csv" in error(folder / "none.csv")
    for name, content, words in (
        ("notes.txt", b"a", ".csv"),
        ("header.csv", b"image,label\n", "no rows"),
        ("cut.parquet", b"PAR1 and no more", "damaged"),
        ("nested.jsonl", b'{"text": "a", "label": {"a": 1}}\n{"text": "b", "label": {"a": 2}}\n', "label holds"),
    ):
        (folder / name).write_bytes(content)
        said = error(folder / name)
        assert name in said and words in said, said


def test_tables_of_other_programs(folder):
    rows = [("a", "b", "3,5"), ("a", "c", "4"), ("a", "é", "1.204,5")]
    text = "\n".join(";".join(row) for row in [("first", "second", "score"), *rows])
    (folder / "excel.csv").write_bytes(text.encode("latin-1"))
    data = of(folder / "excel.csv")
    assert data.items()["default"].human.tolist() == [3.5, 4, 1204.5] and "Latin-1" in data.notes[0]
    table = pa.table({"image": ["0.png", "1.png"], "label": pa.array(["a", "b"]).dictionary_encode()})
    pq.write_table(table, folder / "categories.parquet")
    assert of(folder / "categories.parquet").facts.counts == "2 images of 2 classes"


def test_folders(tmp_path):
    assert "neither a manifest" in error(tmp_path)
    pictures(tmp_path / "flat", 2)
    assert "000.png" in error(tmp_path / "flat")
    write(tmp_path / "two" / "a.csv", ("image", "label"), [])
    write(tmp_path / "two" / "b.csv", ("image", "label"), [])
    assert "a.csv, b.csv" in error(tmp_path / "two")
    pictures(tmp_path / "single" / "cat", 2)
    assert "label is 'cat' in every row" in error(tmp_path / "single")


def test_links_are_judged_by_where_they_lead(folder, tmp_path):
    outside = tmp_path / "outside"
    picture(outside / "x.png", colour="blue", seed=5)
    (folder / "inside.png").symlink_to(folder / "1.png")
    (folder / "away.png").symlink_to(outside / "x.png")
    (folder / "nothing.png").symlink_to(outside / "gone.png")
    (folder / "linked").symlink_to(outside)
    rows = [("inside.png", "a"), ("away.png", "b"), ("linked/x.png", "a"), ("nothing.png", "a")]
    path = write(folder / "links.csv", ("image", "label"), rows)
    found = faults(path)
    assert list(found) == [2, 3, 4] and all("leads out" in what for what in found.values())
    [gone] = faults(path, images=[outside]).values()
    assert "nothing.png does not exist" in gone
    write(folder / "links.csv", ("image", "label"), rows[:3])
    data = of(path, images=[outside])
    assert data.items()["default"].test.items.read(1) == (outside / "x.png").read_bytes()


def test_an_image_that_cannot_be_decoded_is_named_by_row(folder):
    for name, content in (("broken.png", b"no image at all"), ("notes.txt", b"a note"), ("empty.png", b"")):
        (folder / name).write_bytes(content)
        data = of(write(folder / "labels.csv", ("image", "label"), [("0.png", "a"), (name, "b")]))
        items = data.items()["default"].test.items
        assert f"labels.csv, row 2, image {name}" in items.name(1) and items.read(1) == content


def test_images_in_parquet(folder, tmp_path):
    files = [(folder / f"{at}.png").read_bytes() for at in range(3)]
    table = {"image": [{"bytes": data, "path": None} for data in files], "label": ["a", "b", "a"]}
    pq.write_table(pa.table(table), tmp_path / "hub.parquet")
    data = of(tmp_path / "hub.parquet")
    assert data.facts.counts == "3 images of 2 classes"
    assert data.items()["default"].test.items.read(1) == files[1]
    table["image"][1] = None
    pq.write_table(pa.table(table), tmp_path / "gap.parquet")
    assert faults(tmp_path / "gap.parquet") == {2: "image is empty"}
