"""The items that every shape of one's own data makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compute.content.items import Column
from tests.compute.tasks.own.drawn import COLOURS, faults, of, picture, pictures, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    pictures(folder / "images", 36)
    return folder


def image(at: int) -> str:
    return f"images/{at:03}.png"


def shown(column: Column, folder: Path) -> list[str]:
    """The contents of a column: texts, and images by their path."""
    names = {path.read_bytes(): path.relative_to(folder).as_posix() for path in folder.rglob("*.png")}
    contents = [column.read(row) for row in range(len(column))]
    return [content if isinstance(content, str) else names[content] for content in contents]


def test_choices(folder):
    header = ("reference", "alternative_1", "alternative_2", "alternative_3", "answer")
    rows = [(*map(image, (0, 1, 2, 3)), 3), (*map(image, (4, 5, 6, 7)), 1)]
    data = of(write(folder / "choices.csv", header, rows))
    assert data.shape.key == "choices" and data.facts.chance == 1 / 3 and data.facts.n_items == 2
    made = data.items()["default"]
    assert made.names == ("1", "2") and made.answer.tolist() == [2, 0]
    assert shown(made.alternatives[2], folder) == [image(3), image(7)] and shown(made.reference, folder)[1] == image(4)


def test_texts_and_images_in_choices(folder):
    header = ("reference", "alternative_1", "alternative_2", "answer")
    by_text = of(write(folder / "by-text.csv", header, [("a circle", image(0), image(1), 1)]))
    assert by_text.facts.category == "IT-2AFC" and by_text.facts.modalities == ("image", "text")
    assert of(write(folder / "of-texts.csv", header, [(image(0), "a", "b", 1)])).facts.category == "Text-2AFC"


def test_answers_from_0_are_named_as_such(folder):
    header = ("reference", "alternative_1", "alternative_2", "answer")
    for answers, right, said in (((0, 1, 0), [0, 1, 0], True), ((1, 1, 2), [0, 0, 1], False)):
        data = of(write(folder / "q.csv", header, [(image(0), image(1), image(2), each) for each in answers]))
        assert data.items()["default"].answer.tolist() == right
        assert data.notes == (("q.csv: answer counts from 0, the first alternative is 0.",) if said else ())
    header = ("member_1", "member_2", "member_3", "odd")
    odd = of(write(folder / "odd.csv", header, [(*map(image, range(3)), each) for each in (2, 0)]))
    assert odd.items()["default"].odd.tolist() == [2, 0] and "odd counts from 0" in odd.notes[0]
    mixed = faults(write(folder / "mixed.csv", header, [(*map(image, range(3)), each) for each in (3, 0)]))
    assert list(mixed) == [2] and "counts from 1" in mixed[2]


def test_anchors_have_their_positive_at_any_place(folder):
    """In the layout of sentence-transformers."""
    header = ("anchor", "positive", "negative", "negative_2")
    rows = [tuple(map(image, range(at, at + 4))) for at in range(24)]
    data = of(write(folder / "triplets.csv", header, rows))
    made = data.items()["default"]
    assert (data.shape.key, data.facts.chance, made.answer.tolist()) == (
        "triplets",
        1 / 3,
        of(data.path).items()["default"].answer.tolist(),
    )
    places = [shown(column, folder) for column in made.alternatives]
    for at, row in enumerate(rows):
        assert places[made.answer[at]][at] == row[1] and {place[at] for place in places} == {*row[1:]}
    assert {*made.answer} == {0, 1, 2}, "no place is always right"
    assert "triplets.csv is read as questions about anchor. Right is positive" in data.notes[0]


@pytest.mark.parametrize("splits", [("test", "train", "test", "test"), ("train",) * 4])
def test_the_table_of_nights(folder, splits):
    votes = ("left_vote", "right_vote", "votes")
    header = ("id", *votes, "ref_path", "left_path", "right_path", "prompt", "split", "is_imagenet")
    given = [(0, 1, 7), (1, 0, 6), (1, 0, 6), (0, 1, 5)]
    rows = [
        (at, *each, *map(image, (at, at + 4, at + 8)), "a disc", split, True)
        for at, (each, split) in enumerate(zip(given, splits, strict=True))
    ]
    data = of(write(folder / "data.csv", header, rows))
    made = data.items()["default"]
    kept = ["0", "2"] if "test" in splits else ["0", "1", "2"]
    assert (data.shape.key, data.facts.category, list(made.names)) == ("nights", "Img-2AFC", kept)
    assert made.answer.tolist() == [1, 0, 0][: len(kept)] and shown(made.alternatives[1], folder)[0] == image(8)
    said = (
        "1 rows of other splits than test, 1 with" if "test" in splits else "0 rows of other splits than test, 1 with"
    )
    assert "table of NIGHTS" in data.notes[0] and said in data.notes[0] and said in data.facts.notes


@pytest.mark.parametrize("name", ["metadata.jsonl", "captions.csv"])
def test_captions_are_retrieval_both_ways(tmp_path, name):
    pictures(tmp_path, 3)
    pairs = [("000.png", "a disc"), ("001.png", "a disc"), ("001.png", "a box"), ("002.png", "a cat")]
    pairs.append(pairs[0])  # which counts once
    if name == "captions.csv":
        write(tmp_path / name, ("image", "caption"), pairs)
    else:
        lines = [json.dumps({"file_name": image, "text": text}) for image, text in pairs]
        (tmp_path / name).write_text("\n".join(lines))
    data = of(tmp_path)
    assert data.notes == (f"{name} is read as retrieval both ways of 3 images and 3 captions, a row being a match.",)
    assert (data.shape.key, data.facts.n_items, data.facts.metrics[0]) == ("captions", 6, "hit_rate_at_1")
    made = data.items()
    assert tuple(made) == data.facts.subsets
    for subset, found in made.items():
        sides = [side.image or side.text for side in (found.queries, found.documents)]
        first, second = (shown(side, tmp_path) for side in sides)
        query, document, grade = found.relevant
        matches = {(first[one], second[other]) for one, other in zip(query, document, strict=True)}
        assert matches == {pair if subset == "captions" else pair[::-1] for pair in pairs} and grade.tolist() == [1] * 4


def test_votes_count_the_majority_and_leave_out_ties(folder):
    header = ("prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
    votes = [(2, 2), (0, 0), (1, 0), (1, 3)]
    data = of(write(folder / "votes.csv", header, [("a", image(0), image(1), *each) for each in votes]))
    assert data.shape.key == "votes" and data.facts.n_items == 2
    assert "87.5%" in data.facts.notes and "1 with a tie and 1 without a vote" in data.facts.notes
    made = data.items()["default"]
    assert made.names == ("3", "4") and made.answer.tolist() == [0, 1]
    of_image = write(folder / "seen.csv", ("reference", *header[1:]), [(image(0), image(1), image(2), 1, 0)])
    assert (of(of_image).shape.key, of(of_image).facts.category) == ("votes", "Img-2AFC")


def test_odd_one_out_pairs_and_matches(folder):
    header = ("member_1", "member_2", "member_3", "odd")
    odd = of(write(folder / "odd.csv", header, [(image(0), image(6), image(1), 3), (image(2), image(0), image(6), 1)]))
    assert odd.items()["default"].odd.tolist() == [2, 0] and odd.facts.chance == 1 / 3
    rows = [(at, "a disc", image(at), at / 2) for at in range(4)]
    rated = of(write(folder / "rated.csv", ("id", "first", "second", "score"), rows))
    pairs = rated.items()["default"]
    assert rated.facts.modalities == ("image", "text") and rated.facts.metrics == ("cosine_spearman",)
    assert pairs.human.tolist() == [0, 0.5, 1, 1.5] and shown(pairs.second, folder) == [image(at) for at in range(4)]
    one = of(write(folder / "captions.csv", ("image", "caption_1", "caption_2"), [(image(0), "right", "wrong")]))
    assert one.facts.metrics == ("text_accuracy",) and one.facts.chance == 0.5
    assert [shown(side, folder) for side in one.items()["default"].captions] == [["right"], ["wrong"]]
    header = ("image_1", "image_2", "caption_1", "caption_2")
    two = of(write(folder / "two.csv", header, [(image(0), image(1), "a", "b")]))
    assert two.facts.metrics[0] == "group_accuracy" and two.facts.chance == 1 / 6
    assert [shown(side, folder) for side in two.items()["default"].images] == [[image(0)], [image(1)]]


def test_retrieval_in_beirs_layout(tmp_path):
    names = pictures(tmp_path / "images", 3)
    documents = [{"_id": f"d{at}", "title": "", "text": "", "image": f"images/{name}"} for at, name in enumerate(names)]
    documents.append({"_id": "t", "title": "red", "text": "a circle"})
    queries = [{"_id": name, "text": f"query {name}"} for name in ("q0", "q1", "unjudged")]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = [("q1", "t", 2), ("q0", "d2", 1), ("q0", "d0", 0)]
    write(tmp_path / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), judged)
    data = of(tmp_path)
    assert data.shape.key == "retrieval" and data.facts.n_items == 2 and "1 query" in data.facts.notes
    made = data.items()["default"]
    assert [side.tolist() for side in made.relevant] == [[1, 0, 0], [3, 2, 0], [2, 1, 0]]
    assert made.queries.names == ("q0", "q1") and made.documents.names == ("d0", "d1", "d2", "t")
    assert made.documents.image_at.tolist() == [0, 1, 2, -1]
    assert made.documents.text.read(made.documents.text_at[3]) == "red a circle"


@pytest.mark.parametrize(
    ("file", "cell"),
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
    names = [picture(tmp_path / f"{colour}.png", colour=colour, seed=1) for colour in ("red", "blue")]
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / names[0]).rename(tmp_path / file)
    data = of(write(tmp_path / "m.csv", ("item", "label"), [(cell, "a"), (names[1], "b")]))
    assert data.facts.counts == "2 images of 2 classes"
    assert data.items()["default"].test.items.read(0) == (tmp_path / file).read_bytes()


def test_folders_of_images_by_class(tmp_path):
    for split, count in (("train", 2), ("test", 3)):
        for at, name in enumerate(("few_shapes", "many_shapes")):
            for number in range(count):
                path = tmp_path / split / name / f"{number}.png"
                picture(path, colour=COLOURS[number], seed=10 * at + number + 100 * count, shapes=2 + 3 * at)
    data = of(tmp_path / "test")
    assert data.shape.key == "classification" and data.facts.counts == "6 images of 2 classes"
    made = data.items()["default"]
    assert made.test.labels.tolist() == [0, 0, 0, 1, 1, 1] and made.test.names[0] == "few_shapes/0.png"
    assert shown(made.prompts, tmp_path) == ["a photo of a few shapes.", "a photo of a many shapes."]
    probe = of(tmp_path)
    assert probe.shape.key == "probe" and probe.facts.n_items == 6
    made = probe.items()["default"]
    assert made.train.labels.tolist() == [0, 0, 1, 1] and len(made.test.names) == 6
    assert of(tmp_path / "test", shape="clustering").items()["default"].test.classes == ("few_shapes", "many_shapes")
    near = of(tmp_path / "test", shape="neighbours")
    assert near.facts.modalities == ("image",) and near.facts.chance == 0.5 and near.facts.metrics == ("accuracy",)
    halves = of(tmp_path / "test", shape="probe").items()["default"]
    assert sorted(halves.train.labels) == [0, 0, 1, 1] and sorted(halves.test.labels) == [0, 1]
    assert {*halves.train.names, *halves.test.names} == set(near.items()["default"].test.names)
    rows = [(f"test/few_shapes/{at}.png", "ab"[at % 2], ["two", "five"][at % 2]) for at in range(3)]
    path = write(tmp_path / "elsewhere" / "prompts.csv", ("image", "label", "prompt"), rows)
    made = of(path, images=[tmp_path]).items()["default"]
    assert shown(made.prompts, tmp_path) == ["two", "five"] and made.test.labels.tolist() == [0, 1, 0]
