"""The items that every shape of one's own data makes."""

import pytest

from tests.compute.tasks.files import lists, put, table
from tests.compute.tasks.own.drawn import faults, of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return put(tmp_path_factory.mktemp("own"), {f"{at}.png": at for at in range(36)})


def read(folder, rows):
    """A table beside the images, and its items."""
    data = of(table(folder / "table.csv", rows))
    return data, data.items()["default"]


def shown(column, folder):
    """The contents of a column: texts, and images by their path."""
    names = {path.read_bytes(): path.relative_to(folder).as_posix() for path in folder.rglob("*.png")}
    contents = [column.read(row) for row in range(len(column))]
    return [content if isinstance(content, str) else names[content] for content in contents]


@pytest.mark.parametrize(
    "rows, shape, category",
    [
        ("reference,alternative_1,alternative_2,answer|a circle,0.png,1.png,1", "choices", "IT-2AFC"),
        ("reference,alternative_1,alternative_2,answer|0.png,a,b,1", "choices", "Text-2AFC"),
        ("reference,alternative_1,alternative_2,votes_1,votes_2|0.png,1.png,2.png,1,0", "votes", "Img-2AFC"),
    ],
)
def test_texts_and_images_in_choices(folder, rows, shape, category):
    data, _ = read(folder, rows)
    assert (data.shape.key, data.facts.category) == (shape, category)
    assert ("text" in data.facts.modalities) == ("Img" not in category)


def test_answers_from_0_are_named_as_such(folder):
    for answers, right, said in (((0, 1, 0), [0, 1, 0], True), ((1, 1, 2), [0, 0, 1], False)):
        rows = "|".join(f"0.png,1.png,2.png,{each}" for each in answers)
        data, made = read(folder, f"reference,alternative_1,alternative_2,answer|{rows}")
        assert made.answer.tolist() == right
        assert data.notes == (("table.csv: answer counts from 0, the first alternative is 0.",) if said else ())
    header = "member_1,member_2,member_3,odd"
    data, made = read(folder, f"{header}|0.png,1.png,2.png,2|0.png,1.png,2.png,0")
    assert made.odd.tolist() == [2, 0] and "odd counts from 0" in data.notes[0]
    mixed = faults(table(folder / "mixed.csv", f"{header}|0.png,1.png,2.png,3|0.png,1.png,2.png,0"))
    assert list(mixed) == [2] and "counts from 1" in mixed[2]


def test_anchors_have_their_positive_at_any_place(folder):
    """In the layout of sentence-transformers."""
    rows = [[f"{at + place}.png" for place in range(4)] for at in range(24)]
    text = "|".join(map(",".join, rows))
    data, made = read(folder, f"anchor,positive,negative,negative_2|{text}")
    assert (data.shape.key, data.facts.chance) == ("triplets", 1 / 3)
    assert made.answer.tolist() == of(data.path).items()["default"].answer.tolist()
    places = [shown(column, folder) for column in made.alternatives]
    for at, row in enumerate(rows):
        assert places[made.answer[at]][at] == row[1] and {place[at] for place in places} == {*row[1:]}
    assert {*made.answer} == {0, 1, 2}, "no place is always right"
    assert "table.csv is read as questions about anchor. Right is positive" in data.notes[0]


@pytest.mark.parametrize("name", ["metadata.jsonl", "captions.csv"])
def test_captions_are_retrieval_both_ways(tmp_path, name):
    pairs = [("0.png", "a disc"), ("1.png", "a disc"), ("1.png", "a box"), ("2.png", "a cat")]
    pairs.append(pairs[0])  # which counts once
    rows = [{"file_name": image, "text": text} for image, text in pairs]
    rows = rows if name == "metadata.jsonl" else [("image", "caption"), *pairs]
    data = of(put(tmp_path, {name: rows, **{f"{at}.png": at for at in range(3)}}))
    assert data.notes == (f"{name} is read as retrieval both ways of 3 images and 3 captions, a row being a match.",)
    assert (data.shape.key, data.facts.n_items, data.facts.metrics[0]) == ("captions", 6, "hit_rate_at_1")
    made = data.items()
    assert tuple(made) == data.facts.subsets
    for subset, found in made.items():
        first, second = (shown(side.image or side.text, tmp_path) for side in (found.queries, found.documents))
        query, document, grade = found.relevant
        matches = {(first[one], second[other]) for one, other in zip(query, document, strict=True)}
        assert matches == {pair if subset == "captions" else pair[::-1] for pair in pairs} and grade.tolist() == [1] * 4


def test_votes_count_the_majority_and_leave_out_ties(folder):
    header = "prompt,alternative_1,alternative_2,votes_1,votes_2"
    rows = "|".join(f"a,0.png,1.png,{votes}" for votes in ("2,2", "0,0", "1,0", "1,3"))
    data, made = read(folder, f"{header}|{rows}")
    assert data.shape.key == "votes" and data.facts.n_items == 2
    assert "87.5%" in data.facts.notes and "1 with a tie and 1 without a vote" in data.facts.notes
    assert made.names == ("3", "4") and made.answer.tolist() == [0, 1]


def test_odd_one_out_pairs_and_matches(folder):
    data, made = read(folder, "member_1,member_2,member_3,odd|0.png,6.png,1.png,3|2.png,0.png,6.png,1")
    assert made.odd.tolist() == [2, 0] and data.facts.chance == 1 / 3
    rows = "0,a disc,0.png,0|1,a disc,1.png,0.5|2,a disc,2.png,1|3,a disc,3.png,1.5"
    data, made = read(folder, f"id,first,second,score|{rows}")
    assert (data.facts.modalities, data.facts.metrics) == (("image", "text"), ("cosine_spearman",))
    assert made.human.tolist() == [0, 0.5, 1, 1.5] and shown(made.second, folder)[3] == "3.png"
    data, made = read(folder, "image,caption_1,caption_2|0.png,right,wrong")
    assert (data.facts.metrics, data.facts.chance) == (("text_accuracy",), 0.5)
    assert [shown(side, folder) for side in made.captions] == [["right"], ["wrong"]]
    data, made = read(folder, "image_1,image_2,caption_1,caption_2|0.png,1.png,a,b")
    assert (data.facts.metrics[0], data.facts.chance) == ("group_accuracy", 1 / 6)
    assert [shown(side, folder) for side in made.images] == [["0.png"], ["1.png"]]


def test_retrieval_in_beirs_layout(tmp_path):
    documents = [{"_id": f"d{at}", "title": "", "text": "", "image": f"images/{at}.png"} for at in range(3)]
    files = {
        "corpus.jsonl": [*documents, {"_id": "t", "title": "red", "text": "a circle"}],
        "queries.jsonl": [{"_id": name, "text": f"query {name}"} for name in ("q0", "q1", "unjudged")],
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tt\t2\nq0\td2\t1\nq0\td0\t0\n",
    }
    data = of(put(tmp_path, files | {f"images/{at}.png": at for at in range(3)}))
    assert (data.shape.key, data.facts.n_items) == ("retrieval", 2) and "1 query" in data.facts.notes
    made = data.items()["default"]
    assert lists(made.relevant) == [[1, 0, 0], [3, 2, 0], [2, 1, 0]]
    assert made.queries.names == ("q0", "q1") and made.documents.names == ("d0", "d1", "d2", "t")
    assert made.documents.image_at.tolist() == [0, 1, 2, -1]
    assert made.documents.text.read(made.documents.text_at[3]) == "red a circle"


@pytest.mark.parametrize(
    "file, cell",
    [
        ("images/0001", "images/0001"),
        ("plain", "plain"),
        ("train/0.png", "train\\0.png"),
        ("0.png?width=64", "0.png?width=64"),
        ("b\u00e4r/\u00e9.png", "ba\u0308r/e\u0301.png"),
        ("ba\u0308r/\u00e9", "b\u00e4r\\e\u0301"),
    ],
)
def test_a_cell_that_names_a_file_is_that_file(tmp_path, file, cell):
    put(tmp_path, {"red.png": 1, "blue.png": 2})
    put(tmp_path, {file: (tmp_path / "red.png").read_bytes()})
    data, made = read(tmp_path, f"item,label|{cell},a|blue.png,b")
    assert data.facts.counts == "2 images of 2 classes" and made.test.items.read(0) == (tmp_path / file).read_bytes()


def test_folders_of_images_by_class(tmp_path):
    for split, count in (("train", 2), ("test", 3)):
        for at, name in enumerate(("few_shapes", "many_shapes")):
            files = {f"{split}/{name}/{number}.png": 10 * at + number + 100 * count for number in range(count)}
            put(tmp_path, files)
    data = of(tmp_path / "test")
    assert data.shape.key == "classification" and data.facts.counts == "6 images of 2 classes"
    made = data.items()["default"]
    assert made.test.labels.tolist() == [0, 0, 0, 1, 1, 1] and made.test.names[0] == "few_shapes/0.png"
    assert shown(made.prompts, tmp_path) == ["a photo of a few shapes.", "a photo of a many shapes."]
    probe = of(tmp_path)
    made = probe.items()["default"]
    assert (probe.shape.key, probe.facts.n_items, len(made.test.names)) == ("probe", 6, 6)
    assert made.train.labels.tolist() == [0, 0, 1, 1]
    assert of(tmp_path / "test", shape="clustering").items()["default"].test.classes == ("few_shapes", "many_shapes")
    near = of(tmp_path / "test", shape="neighbours")
    assert near.facts.modalities == ("image",) and near.facts.chance == 0.5 and near.facts.metrics == ("accuracy",)
    halves = of(tmp_path / "test", shape="probe").items()["default"]
    assert sorted(halves.train.labels) == [0, 0, 1, 1] and sorted(halves.test.labels) == [0, 1]
    assert {*halves.train.names, *halves.test.names} == set(near.items()["default"].test.names)
    place = "test/few_shapes"
    rows = f"image,label,prompt|{place}/0.png,a,two|{place}/1.png,b,five|{place}/2.png,a,two"
    made = of(table(tmp_path / "elsewhere" / "prompts.csv", rows), images=[tmp_path]).items()["default"]
    assert shown(made.prompts, tmp_path) == ["two", "five"] and made.test.labels.tolist() == [0, 1, 0]
