"""What is wrong with data of one's own is named by file and row before anything long begins."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.tasks.own import read, table
from compute.types import BadInput
from tests.compute.tasks.own.drawn import execute, faults, of, picture, pictures, write

CHOICES = ("name", "reference", "alternative_1", "alternative_2", "answer")
GOOD = ("a", "0.png", "1.png", "2.png", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for at in range(4):
        picture(tmp_path / "data" / f"{at}.png", colour="red", seed=at)
    return tmp_path / "data"


def changed(name: str, value: object) -> tuple[object, ...]:
    """A good row, named b, with one value changed."""
    return tuple({**dict(zip(CHOICES, GOOD, strict=True)), "name": "b", name: value}.values())


BY_ROW = {
    "a missing file": (changed("reference", "9.png"), "reference 9.png does not exist"),
    "a nearly right file": (changed("reference", "0.PNG"), "0.PNG does not exist. Did you mean '0.png'?"),
    "a missing folder": (changed("reference", "other/0.png"), "other/0.png does not exist"),
    "no image's name": (changed("reference", "0.txt"), "is '0.txt', no image: a file's name ends in"),
    "an empty value": (changed("alternative_2", ""), "alternative_2 is empty"),
    "a blank value": (changed("alternative_2", "  "), "alternative_2 is empty"),
    "a repeated name": (changed("name", "a"), "name is 'a', as in row 1: each item has a name of its own"),
    "an answer above": (changed("answer", 3), "answer is '3', not the number of one of the 2 alternatives, 1 to 2"),
    "an answer from 0": (changed("answer", 0), "answer is '0', not the number"),
    "an answer in words": (changed("answer", "left"), "answer is 'left', not the number"),
    "half an answer": (changed("answer", 1.5), "answer is '1.5', not the number"),
    "no answer": (changed("answer", ""), "answer is empty"),
    "a way out": (changed("reference", "../secret.png"), "../secret.png leads out of the manifest's folder"),
    "a way out to no image": (
        changed("reference", "../scores.csv"),
        "../scores.csv leads out of the manifest's folder",
    ),
    "an absolute path": (changed("reference", "/etc/secret.png"), "leads out of the manifest's folder"),
}


@pytest.mark.parametrize("fault", BY_ROW)
def test_a_fault_of_a_row_is_named_with_its_row(fault: str, folder: Path) -> None:
    row, reason = BY_ROW[fault]
    picture(folder.parent / "secret.png", colour="red", seed=1)
    path = write(folder / "questions.csv", CHOICES, [GOOD, row, changed("name", "c")])
    data = read(path)
    assert data.faults == 1 and len(data.problems) == 1
    [problem] = data.problems
    assert problem.row == 2 and problem.file == "questions.csv" and reason in problem.what
    for refused in (data.check, data.items, lambda: data.facts, lambda: data.digest):
        with pytest.raises(BadInput) as error:
            refused()
        assert str(error.value).startswith("questions.csv, row 2: ") and reason in str(error.value)


def test_many_faults_are_counted_and_the_first_listed(folder: Path) -> None:
    rows = [(f"n{at}", "0.png", "1.png", "2.png", at) for at in range(50)]
    data = read(write(folder / "questions.csv", CHOICES, rows))
    assert data.faults == 48 and len(data.problems) == 20
    with pytest.raises(BadInput, match=r"has 48 faults, the first 5: questions.csv, row 1: .* row 4: .*task check"):
        data.check()


def test_a_row_of_another_width_does_not_shift_the_numbers_of_later_ones(folder: Path) -> None:
    rows = [GOOD[:3], GOOD, (*GOOD, "more"), changed("answer", 9), GOOD]
    found = faults(write(folder / "questions.csv", CHOICES, rows))
    assert set(found) == {1, 3, 4, 5} and "answer is '9'" in found[4] and "as in row 2: each item" in found[5]


def test_faults_are_listed_by_row(folder: Path) -> None:
    rows = [GOOD, changed("answer", 7), changed("reference", "9.png"), (*changed("name", "c")[:4], 0)]
    data = read(write(folder / "questions.csv", CHOICES, [*rows, (*GOOD, "more")]))
    assert [problem.row for problem in data.problems] == sorted(problem.row for problem in data.problems)
    assert data.faults == len(data.problems) == 5
    constant = read(write(folder / "constant.csv", ("first", "second", "score"), [("a", "b", 3), ("a", "", 3)]))
    assert [problem.row for problem in constant.problems] == [0, 2]


def test_a_row_of_another_width(folder: Path) -> None:
    path = write(folder / "questions.csv", CHOICES, [GOOD, GOOD[:3], (*GOOD, "more")])
    assert faults(path) == {2: "it has 3 values for 5 columns", 3: "it has 6 values for 5 columns"}


def error(path: Path, **options: object) -> str:
    """Why a file cannot be read at all, or its first fault."""
    with pytest.raises(BadInput) as caught:
        read(path, **options).check()
    return str(caught.value)


def test_columns(folder: Path) -> None:
    path = write(folder / "q.csv", ("reference", "alternative_1", "alternative_2", "anwser"), [GOOD[1:]])
    assert "Nearest is choices, which also needs answer" in error(path)
    assert "q.csv has no column 'answer', which choices needs. Did you mean 'anwser'?" in error(path, shape="choices")
    assert of(path, columns={"answer": "anwser"}).shape.key == "choices"
    assert "choices has no column 'answr'. Did you mean 'answer'?" in error(
        path, shape="choices", columns={"answr": "anwser"}
    )
    assert "q.csv has no column 'answers'. Did you mean 'anwser'?" in error(
        path, shape="choices", columns={"answer": "answers"}
    )
    assert "There is no shape 'choises'. Did you mean 'choices'?" in error(path, shape="choises")
    more = write(folder / "more.csv", (*CHOICES, "photographer"), [(*GOOD, "me")])
    assert of(more).ignored == ("photographer",)
    slip = write(folder / "slip.csv", ("image", "label", "promt"), [("0.png", "a", "b"), ("1.png", "c", "d")])
    assert "has a column 'promt', which classification does not know. Did you mean 'prompt'?" in error(slip)
    gap = write(folder / "gap.csv", (*CHOICES, "alternative_4"), [(*GOOD, "3.png")])
    assert "has no column 'alternative_3', but a later one" in error(gap)
    beyond = write(folder / "nine.csv", (*CHOICES, "alternative_9"), [(*GOOD, "3.png")])
    assert "has a column 'alternative_9': there are at most 8" in error(beyond)
    twice = write(folder / "twice.csv", ("image", "label", "label"), [("0.png", "a", "b")])
    assert "two columns 'label'" in error(twice)
    nothing = write(folder / "nothing.csv", ("a", "b"), [(1, 2)])
    assert "has no shape's columns: a, b" in error(nothing)


def test_whole_columns(folder: Path) -> None:
    same = write(folder / "same.csv", ("image", "label"), [(f"{at}.png", "cat") for at in range(3)])
    assert "same.csv: label is 'cat' in every row, and two classes are needed" in error(same)
    empty = write(folder / "empty.csv", ("image", "label"), [(f"{at}.png", "") for at in range(3)])
    assert "empty.csv: label is empty in every row" in error(empty)
    mixed = write(folder / "mixed.csv", CHOICES, [("a", "0.png", "1.png", "a text", 1)])
    assert "alternative_1 holds images, alternative_2 texts" in error(mixed)
    constant = write(folder / "constant.csv", ("first", "second", "score"), [("a", "b", 3)] * 4)
    assert "score is 3 in every row: no order can follow it" in error(constant)
    few = write(folder / "few.csv", ("first", "second", "score"), [("a", "b", 3), ("a", "c", 4)])
    assert "needs three pairs" in error(few)
    words = write(folder / "words.csv", ("first", "second", "score"), [("a", "b", 3), ("a", "c", "4"), ("a", "d", "x")])
    assert "words.csv, row 3: score is 'x', not a number" in error(words)
    infinite = write(
        folder / "inf.csv", ("first", "second", "score"), [("a", "b", 3), ("a", "c", 4), ("a", "d", "inf")]
    )
    assert "inf.csv, row 3: score is 'inf', not a number" in error(infinite)
    texts = write(folder / "odd.csv", ("member_1", "member_2", "member_3", "odd"), [("a", "b", "c", 1)])
    assert "odd.csv, row 1: member_1 is 'a', no image" in error(texts)
    square = write(folder / "square.csv", ("image", "caption"), [("0.png", "a")])
    assert "a row has 1 image and 1 caption" in error(square)
    uneven = write(
        folder / "uneven.csv",
        ("image_1", "image_2", "caption_1", "caption_2", "caption_3"),
        [("0.png", "1.png", "a", "b", "c")],
    )
    assert "a row has 2 images and 3 captions" in error(uneven)


def test_probes(folder: Path) -> None:
    header = ("image", "label", "split")
    rows = [("0.png", "a", "train"), ("1.png", "b", "train"), ("2.png", "c", "test"), ("3.png", "a", "tset")]
    assert faults(write(folder / "probe.csv", header, rows)) == {
        3: "label is 'c', a class that no row of the split train has",
        4: "split is 'tset': write train or test",
    }
    only = write(folder / "only.csv", header, [row for row in rows if row[2] == "train"])
    assert "no row has the split test: a probe is trained on train and scored on test" in error(only)
    one = write(folder / "one.csv", header, [("0.png", "a", "train"), ("1.png", "b", "test")])
    assert "the rows of the split train have one class, and a probe needs two" in error(one)
    more = write(folder / "more.csv", header, [*rows[:2], ("2.png", "a", "test"), ("3.png", "b", "validation")])
    assert of(more).facts.notes == "Left out: 1 row of other splits."


def test_votes(folder: Path) -> None:
    header = ("prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
    assert faults(write(folder / "v.csv", header, [("a", "0.png", "1.png", -1, 2), ("b", "0.png", "1.png", 1, 2)])) == {
        1: "votes_1 is '-1', not a number from 0"
    }
    tied = write(folder / "tied.csv", header, [("a", "0.png", "1.png", 2, 2)])
    assert "no row has more votes for one alternative than for every other" in error(tied)
    third = write(folder / "third.csv", (*header, "votes_3"), [("a", "0.png", "1.png", 2, 1, 1)])
    assert "there are 2 alternatives and votes for 3" in error(third)


def test_prompts_of_one_class_that_differ(folder: Path) -> None:
    rows = [("0.png", "a", "an a"), ("1.png", "b", "a b"), ("2.png", "a", "the a")]
    assert faults(write(folder / "p.csv", ("image", "label", "prompt"), rows)) == {
        3: "prompt is 'the a', in row 1 of the same class 'an a'"
    }


def test_retrieval(folder: Path) -> None:
    def made(queries: list[dict], corpus: list[dict], qrels: list[tuple]) -> Path:
        for name, rows in (("queries", queries), ("corpus", corpus)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        write(folder / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), qrels)
        return folder

    queries, corpus = [{"_id": "q1", "text": "a"}], [{"_id": "d1", "text": "b"}, {"_id": "d2", "text": "c"}]
    assert of(made(queries, corpus, [("q1", "d1", 1)])).facts.n_items == 1
    assert "test.tsv, row 2: corpus-id is 'd9', which corpus.jsonl does not have" in error(
        made(queries, corpus, [("q1", "d1", 1), ("q1", "d9", 1)])
    )
    assert "test.tsv, row 1: query-id is 'q9', which queries.jsonl does not have" in error(
        made(queries, corpus, [("q9", "d1", 1)])
    )
    assert "test.tsv, row 2: score is 2, in an earlier row of the same pair another" in error(
        made(queries, corpus, [("q1", "d1", 1), ("q1", "d1", 2)])
    )
    assert "test.tsv: no score is above 0" in error(made(queries, corpus, [("q1", "d1", 0)]))
    assert "score is 'yes', not a whole number" in error(made(queries, corpus, [("q1", "d1", "yes")]))
    assert "corpus.jsonl, row 2: id is 'd1', as in row 1" in error(
        made(queries, [corpus[0], corpus[0]], [("q1", "d1", 1)])
    ).replace("_id", "id")
    assert "corpus.jsonl, row 2: it has neither a text nor an image" in error(
        made(queries, [corpus[0], {"_id": "d2", "text": " "}], [("q1", "d1", 1)])
    )
    assert "queries.jsonl: has neither" in error(made([{"_id": "q1"}], corpus, [("q1", "d1", 1)]))
    (folder / "qrels" / "test.tsv").unlink()
    assert "has no qrels: a retrieval data set has corpus.jsonl" in error(folder)
    write(folder / "qrels" / "dev.tsv", ("query-id", "corpus-id", "score"), [("q1", "d1", 1)])
    write(folder / "qrels" / "train.tsv", ("query-id", "corpus-id", "score"), [("q1", "d1", 1)])
    assert "has dev.tsv, train.tsv and no test" in error(folder)
    assert "is no folder with corpus.jsonl" in error(folder / "queries.jsonl", shape="retrieval")


def test_files_that_are_no_manifest(folder: Path) -> None:
    assert "There is no file" in error(folder / "none.csv")
    (folder / "notes.txt").write_text("a")
    assert "notes.txt is no manifest: its name must end in .csv" in error(folder / "notes.txt")
    (folder / "empty.csv").write_text("")
    assert "empty.csv has no columns" in error(folder / "empty.csv")
    (folder / "header.csv").write_text("image,label\n")
    assert "header.csv has no rows" in error(folder / "header.csv")
    (folder / "latin.csv").write_bytes("image,label\n0.png,caf\u00e9\n".encode("latin-1"))
    assert "latin.csv is not UTF-8" in error(folder / "latin.csv")
    (folder / "wide.csv").write_bytes("image,label\n0.png,a\n".encode("utf-16"))
    assert "wide.csv is not UTF-8" in error(folder / "wide.csv")
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")
    assert "cut.parquet: a Parquet file is damaged" in error(folder / "cut.parquet")
    (folder / "bad.jsonl").write_text('{"image": "0.png", "label": "a"}\n{"image": \n')
    assert "bad.jsonl, row 2: it is no JSON" in error(folder / "bad.jsonl")
    (folder / "list.jsonl").write_text('{"image": "0.png", "label": "a"}\n[1]\n')
    assert "list.jsonl, row 2: it is no JSON object" in error(folder / "list.jsonl")
    (folder / "kinds.jsonl").write_text('{"image": "0.png", "label": "a"}\n{"image": "1.png", "label": 7}\n')
    assert "kinds.jsonl, row 2: label is a number, in earlier rows a text" in error(folder / "kinds.jsonl")
    (folder / "empty.jsonl").write_text("")
    assert "empty.jsonl has no rows" in error(folder / "empty.jsonl")
    (folder / "nested.jsonl").write_text(
        '{"image": "0.png", "label": {"a": 1}}\n{"image": "1.png", "label": {"a": 2}}\n'
    )
    assert "label holds lists or objects" in error(folder / "nested.jsonl")


def test_bounds_on_bytes_lines_and_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a few bytes on disk may state any size."""
    with (folder / "large.csv").open("wb") as file:
        file.write(b"image,label\n")
        file.truncate(table.MAX_BYTES + 1)
    assert "large.csv has 4.0 GB; at most 4 GB are read" in error(folder / "large.csv")
    (folder / "large.csv").rename(folder / "large.jsonl")
    assert "large.jsonl has 4.0 GB" in error(folder / "large.jsonl")
    (folder / "large.jsonl").unlink()
    row = '{"text": "%s", "label": "a"}\n'
    (folder / "line.jsonl").write_text(row % "a" + "\n" + row % ("b" * (3 * table.BLOCK)))
    assert "line.jsonl, row 2: it has more than 16 MB" in error(folder / "line.jsonl")
    (folder / "columns.csv").write_text(",".join(map(str, range(table.MAX_COLUMNS + 1))) + "\n")
    assert "columns.csv has 10,001 columns; at most 10,000 are read" in error(folder / "columns.csv")
    texts = pa.array([f"{at} {'x' * 1000}" for at in range(1000)])
    bytes_of = pa.array([b"x" * 4000] * 1000)
    labels = pa.array(["a", "b"] * 500)
    pq.write_table(pa.table({"text": texts, "label": labels}), folder / "packed.parquet", compression="zstd")
    pq.write_table(pa.table({"image": bytes_of, "label": labels}), folder / "images.parquet", use_dictionary=False)
    assert of(folder / "packed.parquet").rows == 1000
    monkeypatch.setattr(table, "MAX_BYTES", 500_000)
    assert (folder / "packed.parquet").stat().st_size < 100_000, "it is counted unpacked"
    assert "packed.parquet has 0.0 GB; at most" in error(folder / "packed.parquet")
    assert read(folder / "images.parquet").rows == 1000, "images stay in the file"


def test_a_file_that_other_programs_write(folder: Path) -> None:
    (folder / "excel.csv").write_bytes(b"\xef\xbb\xbfimage;label\r\n0.png;a\r\n1.png;b\r\n")
    assert of(folder / "excel.csv").facts.counts == "2 images of 2 classes"
    (folder / "lines.csv").write_text('text,label\n"two\nlines, and a comma",a\nb,b\n')
    data = of(folder / "lines.csv")
    assert data.items()["default"].test.items.read(0) == "two\nlines, and a comma"
    table = pa.table({"image": ["0.png", "1.png"], "label": pa.array(["a", "b"]).dictionary_encode()})
    pq.write_table(table, folder / "categories.parquet")
    assert of(folder / "categories.parquet").facts.counts == "2 images of 2 classes"


def test_folders(tmp_path: Path) -> None:
    assert "neither a manifest" in error(tmp_path)
    pictures(tmp_path / "flat", 2)
    assert "has 2 images in no folder of a class, such as 000.png" in error(tmp_path / "flat")
    write(tmp_path / "two" / "a.csv", ("image", "label"), [])
    write(tmp_path / "two" / "b.csv", ("image", "label"), [])
    assert "has several manifests: a.csv, b.csv. Name the file itself" in error(tmp_path / "two")
    pictures(tmp_path / "single" / "cat", 2)
    assert "label is 'cat' in every row" in error(tmp_path / "single")


def test_links_are_judged_by_where_they_lead(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    picture(outside / "x.png", colour="blue", seed=5)
    (folder / "inside.png").symlink_to(folder / "1.png")
    (folder / "away.png").symlink_to(outside / "x.png")
    (folder / "nothing.png").symlink_to(outside / "gone.png")
    (folder / "linked").symlink_to(outside)
    rows = [("inside.png", "a"), ("away.png", "b"), ("linked/x.png", "a"), ("nothing.png", "a")]
    path = write(folder / "links.csv", ("image", "label"), rows)
    leads = "leads out of the manifest's folder: move the images there, or name the folder they are in with --images"
    assert faults(path) == {
        2: f"image away.png is a link that {leads}",
        3: f"image linked/x.png {leads}",
        4: f"image nothing.png is a link that {leads}",
    }
    assert faults(path, images=[outside]) == {4: "image nothing.png is a link to nothing"}
    write(folder / "links.csv", ("image", "label"), rows[:3])
    data = of(path, images=[outside])
    assert data.items()["default"].test.items.read(1) == (outside / "x.png").read_bytes()


def test_a_link_in_place_of_a_class(folder: Path, tmp_path: Path) -> None:
    pictures(tmp_path / "classes" / "a", 2)
    (tmp_path / "classes" / "b").symlink_to(folder)
    assert faults(tmp_path / "classes")[3].startswith("item b/0.png leads out of the manifest's folder")
    assert of(tmp_path / "classes", images=[folder]).rows == 6


def test_an_empty_or_closed_file(folder: Path) -> None:
    (folder / "empty.png").write_bytes(b"")
    (folder / "folder.png").mkdir()
    rows = [("0.png", "a"), ("empty.png", "b"), ("folder.png", "b")]
    path = write(folder / "files.csv", ("image", "label"), rows)
    assert faults(path) == {2: "image empty.png is empty", 3: "image folder.png is no file"}


def test_an_image_that_cannot_be_decoded_fails_its_run_by_row_and_can_be_skipped(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.png").write_bytes(b"no image at all")
    rows = [("0.png", "a"), ("broken.png", "b"), ("1.png", "b"), ("2.png", "a")]
    data = of(write(folder / "labels.csv", ("image", "label"), rows))
    outcome = execute(data, tmp_path / "results")
    assert outcome.state == "failed" and "labels.csv, row 2, image broken.png" in outcome.reason
    assert "--skip-bad-items" in outcome.reason
    skipped = execute(data, tmp_path / "results", skip_bad=True)
    assert skipped.state == "made" and skipped.stored.coverage == 0.75


def test_images_in_parquet(folder: Path, tmp_path: Path) -> None:
    files = [(folder / f"{at}.png").read_bytes() for at in range(3)]
    table = {"image": [{"bytes": data, "path": None} for data in files], "label": ["a", "b", "a"]}
    pq.write_table(pa.table(table), tmp_path / "hub.parquet")
    data = of(tmp_path / "hub.parquet")
    assert data.facts.counts == "3 images of 2 classes"
    assert data.items()["default"].test.items.read(1) == files[1]
    pq.write_table(pa.table(table | {"image": files}), tmp_path / "bare.parquet")
    assert of(tmp_path / "bare.parquet").items()["default"].test.items.read(2) == files[2]
    table["image"][1] = None
    pq.write_table(pa.table(table), tmp_path / "gap.parquet")
    assert faults(tmp_path / "gap.parquet") == {2: "image is empty"}


def test_the_digest_is_of_everything_that_decides_the_items(folder: Path, tmp_path: Path) -> None:
    rows = [("0.png", "a"), ("1.png", "b")]
    path = write(folder / "labels.csv", ("image", "label"), rows)
    first = of(path).digest
    assert of(path).digest == first and of(path, shape="clustering").digest != first
    os.utime(folder / "0.png", (1, 1))
    assert of(path).digest == first
    moved = tmp_path / "moved"
    folder.rename(moved)
    assert of(moved / "labels.csv").digest == first
    picture(moved / "0.png", colour="green", seed=9)
    changed_image = of(moved / "labels.csv").digest
    assert changed_image != first
    write(moved / "labels.csv", ("image", "label"), [("0.png", "a"), ("1.png", "c")])
    assert of(moved / "labels.csv").digest not in (first, changed_image)
