"""What is wrong with data of one's own is named by file and row before anything long begins; see test_bad_tables."""

import os

import pyarrow as pa
import pytest

from compute.tasks.own import read
from compute.types import BadInput
from tests.compute.tasks.files import put, table
from tests.compute.tasks.own.drawn import faults, of

CHOICES = "name,reference,alternative_1,alternative_2,answer"
GOOD = "a,0.png,1.png,2.png,2"


@pytest.fixture
def folder(tmp_path):
    return put(tmp_path / "data", {f"{at}.png": at for at in range(4)})


# A second row that is wrong, and the words that name what.
BY_ROW = (
    ("b,9.png,1.png,2.png,2", "9.png does not exist"),
    ("b,0.PNG,1.png,2.png,2", "Did you mean '0.png'?"),
    ("b,other/0.png,1.png,2.png,2", "does not exist"),
    ("b,0.txt,1.png,2.png,2", "no image"),
    ("b,0.png?width=64,1.png,2.png,2", "does not exist. Did you mean '0.png'?"),
    ("b,images/0,1.png,2.png,2", "does not exist"),
    ("b,./pipe,1.png,2.png,2", "is not a file"),
    ("b,https://a.org/0.png?b,1.png,2.png,2", "does not exist"),
    ("b,folder.png,1.png,2.png,2", "is not a file"),
    ("b,0.png,1.png,  ,2", "alternative_2 is empty"),
    ("a,0.png,1.png,2.png,2", "as in row 1"),
    ("b,0.png,1.png,2.png,3", "'3'"),
    ("b,0.png,1.png,2.png,0", "'0'"),
    ("b,0.png,1.png,2.png,left", "'left'"),
    ("b,0.png,1.png,2.png,1.5", "'1.5'"),
    ("b,0.png,1.png,2.png,", "answer is empty"),
    ("b,../secret.png,1.png,2.png,2", "leads out"),
    ("b,/etc/secret.png,1.png,2.png,2", "leads out"),
)


def test_a_fault_of_a_row_is_named_with_its_row(folder):
    put(folder, {"../secret.png": 1, "folder.png/of": "a folder"})
    os.mkfifo(folder / "pipe")
    for row, reason in BY_ROW:
        data = read(table(folder / "questions.csv", f"{CHOICES}|{GOOD}|{row}|c,0.png,1.png,2.png,2"))
        [problem] = data.problems
        assert (data.faults, problem.row, problem.file) == (1, 2, "questions.csv") and reason in problem.what, problem
    for refused in (data.check, data.items, lambda: data.facts, lambda: data.digest):
        with pytest.raises(BadInput, match=r"questions\.csv, row 2"):
            refused()


def test_faults_are_counted_and_the_first_listed_by_row(folder):
    rows = "|".join(f"n{at},0.png,1.png,2.png,{at}" for at in range(1, 51))
    data = read(table(folder / "questions.csv", f"{CHOICES}|{rows}"))
    assert data.faults == 48 and len(data.problems) == 20
    with pytest.raises(BadInput, match="48 faults"):
        data.check()
    with pytest.raises(BadInput, match="row 1 has 3, row 3 has 6"):
        read(table(folder / "questions.csv", f"{CHOICES}|a,0.png,1.png|{GOOD}|{GOOD},more"))
    assert list(faults(table(folder / "constant.csv", "first,second,score|a,b,3|a,,3"))) == [0, 2]


def error(path, **options):
    """Why a file cannot be read at all, or its first fault."""
    with pytest.raises(BadInput) as caught:
        read(path, **options).check()
    return str(caught.value)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"shape": "choices"}, "Did you mean 'anwser'?"),
        ({"shape": "choises"}, "Did you mean 'choices'?"),
        ({"shape": "choices", "columns": {"answr": "anwser"}}, "Did you mean 'answer'?"),
        ({"shape": "choices", "columns": {"answer": "answers"}}, "Did you mean 'anwser'?"),
        ({"shape": "retrieval"}, "is not a folder with corpus.jsonl"),
    ],
)
def test_what_is_said_of_a_table_must_fit_it(folder, options, words):
    path = table(folder / "q.csv", f"{CHOICES.replace('answer', 'anwser')},photographer|{GOOD},me")
    assert words in error(path, **options)
    given = of(path, columns={"answer": "anwser"})
    assert given.shape.key == "choices" and given.ignored == ("photographer",)


def test_classes_of_the_test_split_alone_are_a_note(folder):
    rows = "image,label,split|0.png,a,train|1.png,b,train|2.png,a,test|3.png,b,validation"
    assert "1 row" in of(table(folder / "more.csv", rows)).facts.notes


def test_a_column_may_be_mapped_by_its_other_name_and_beside_a_base_name(folder):
    header = "id,left_vote,right_vote,votes,ref_path,left_path,right_path,prompt"
    path = table(folder / "data.csv", f"{header}|1,0.0,1.0,7,0.png,1.png,2.png,a dog")
    given = {"alternative_1": "left_path", "alternative_2": "right_path", "votes_1": "left_vote"}
    for name in ("prompt", "reference", "ref"):
        data = of(path, columns={name: "ref_path", **given, "votes_2": "right_vote"})
        assert data.shape.key == "votes" and data.ignored == ("votes", "prompt")
        assert data.items()["default"].answer.tolist() == [1]
    assert "no column 'votes'" in error(path, shape="votes", columns={**given, "votes": "right_vote"})


QUERIES, CORPUS = [{"_id": "q1", "text": "a"}], [{"_id": "d1", "text": "b"}, {"_id": "d2", "text": "c"}]


@pytest.mark.parametrize(
    "queries, corpus, qrels, words",
    [
        (QUERIES, CORPUS, "q1 d1 1|q1 d9 1", "test.tsv, row 2: corpus-id is 'd9'"),
        (QUERIES, CORPUS, "q9 d1 1", "test.tsv, row 1: query-id is 'q9'"),
        (QUERIES, CORPUS, "q1 d1 1|q1 d1 2", "test.tsv, row 2: score is 2"),
        (QUERIES, CORPUS, "q1 d1 0", "no score is above 0"),
        (QUERIES, CORPUS, "q1 d1 yes", "score is 'yes'"),
        (QUERIES, CORPUS[:1] * 2, "q1 d1 1", "as in row 1"),
        (QUERIES, [CORPUS[0], {"_id": "d2", "text": " "}], "q1 d1 1", "row 2: it has neither"),
        ([{"_id": "q1"}], CORPUS, "q1 d1 1", "queries.jsonl: has neither"),
        (QUERIES, CORPUS, "q1 d1 1", ""),
    ],
)
def test_retrieval(folder, queries, corpus, qrels, words):
    put(folder, {"queries.jsonl": queries, "corpus.jsonl": corpus})
    test = table(folder / "qrels" / "test.tsv", f"query-id corpus-id score|{qrels}".replace(" ", "\t"))
    if words:
        assert words in error(folder)
        return
    assert of(folder).facts.n_items == 1
    text = test.read_text()
    test.unlink()
    assert "has no qrels: a retrieval data set has corpus.jsonl" in error(folder)
    put(folder / "qrels", {"dev.tsv": text, "train.tsv": text})
    assert "has dev.tsv, train.tsv and no test" in error(folder)


def test_tables_of_other_programs(folder):
    rows = "first;second;score\na;b;3,5\na;c;4\na;é;1.204,5"
    data = of(put(folder, {"excel.csv": rows.encode("latin-1")}) / "excel.csv")
    assert data.items()["default"].human.tolist() == [3.5, 4, 1204.5] and "Latin-1" in data.notes[0]
    columns = {"image": ["0.png", "1.png"], "label": pa.array(["a", "b"]).dictionary_encode()}
    assert of(put(folder, {"x.parquet": columns}) / "x.parquet").facts.counts == "2 images of 2 classes"


def test_folders(tmp_path):
    put(tmp_path, {"flat/000.png": 0, "flat/1.png": 1, "two/a.csv": "", "two/b.csv": ""})
    put(tmp_path, {"single/cat/0.png": 1, "single/cat/1.png": 2})
    (tmp_path / "none").mkdir()
    for name, words in (
        ("none", "neither a manifest"),
        ("flat", "000.png"),
        ("two", "a.csv, b.csv"),
        ("single", "label is 'cat' in every row"),
    ):
        assert words in error(tmp_path / name)


def test_links_are_judged_by_where_they_lead(folder, tmp_path):
    outside = put(tmp_path / "outside", {"x.png": 5})
    (folder / "inside.png").symlink_to(folder / "1.png")
    (folder / "away.png").symlink_to(outside / "x.png")
    (folder / "nothing.png").symlink_to(outside / "gone.png")
    (folder / "linked").symlink_to(outside)
    rows = "image,label|inside.png,a|away.png,b|linked/x.png,a"
    path = table(folder / "links.csv", f"{rows}|nothing.png,a")
    found = faults(path)
    assert list(found) == [2, 3, 4] and all("leads out" in what for what in found.values())
    [gone] = faults(path, images=[outside]).values()
    assert "nothing.png does not exist" in gone
    data = of(table(path, rows), images=[outside])
    assert data.items()["default"].test.items.read(1) == (outside / "x.png").read_bytes()


@pytest.mark.parametrize(
    "name, content", [("broken.png", b"no image at all"), ("notes.txt", b"a note"), ("empty.png", b"")]
)
def test_an_image_that_cannot_be_decoded_is_named_by_row(folder, name, content):
    put(folder, {name: content})
    items = of(table(folder / "labels.csv", f"image,label|0.png,a|{name},b")).items()["default"].test.items
    assert f"labels.csv, row 2, image {name}" in items.name(1) and items.read(1) == content


def test_images_in_parquet(folder, tmp_path):
    files = [(folder / f"{at}.png").read_bytes() for at in range(3)]
    table = {"image": [{"bytes": data, "path": None} for data in files], "label": ["a", "b", "a"]}
    data = of(put(tmp_path, {"hub.parquet": table}) / "hub.parquet")
    assert data.facts.counts == "3 images of 2 classes"
    assert data.items()["default"].test.items.read(1) == files[1]
    table["image"][1] = None
    assert faults(put(tmp_path, {"gap.parquet": table}) / "gap.parquet") == {2: "image is empty"}
