"""A study's folder keeps every answer and is own data that a run reads.

Judgments of other raters and programs become its rows, and what cannot be used is counted and named.
"""

import io
import json

import numpy as np
import pytest
from PIL import Image

from compute.eyes import exchange
from compute.eyes.exchange import JudgmentFile, image_finder
from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import Judgment, Study, StudyFile, standing
from compute.io.tables import read_table
from compute.tasks.own import reading
from compute.types import BadInput, CannotWrite, NotHere

NAMES = ("a, b.png", 'sub/"c"\n d.png', "é ü#%?.jpg", "sub/cat.png")


def drawn(path, *, side=40, seed=0, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (side // 2, side, len(mode)), dtype=np.uint8)
    Image.fromarray(pixels, mode).save(path)


def answer(order, question, choice=0, **other):
    given = {"time": "2026-01-01T00:00:00Z", "order": order, "question": question, "draw": "uniform", "left": 0}
    return Judgment(**given, choice=choice, **other)


def study(place, names, *questions):
    for seed, name in enumerate(names):
        drawn(place / "images" / name, seed=seed)
    made = StudyFolder.created(place / "eyes", EyesSettings(source=str(place / "images"), seed=3))
    made.save(Study(kind="image", contents=list(names), questions=questions))
    return made


@pytest.fixture
def folder(tmp_path):
    return study(tmp_path, NAMES, (0, 1, 2), (3, 1, 0), (2, 3, 0))


def closed(folder):
    folder.lock.close()
    return folder.path


def test_answers_survive_a_killed_process(folder):
    folder.add(answer(0, 0))
    folder.add(answer(1, 1, 1))
    path = closed(folder)
    with open(path / "judgments.jsonl", "ab") as file:
        file.write(b'{"time": "2026')
    again = StudyFolder.opened(path)
    with pytest.raises(CannotWrite, match="another process"):
        StudyFolder.opened(path)
    assert [each.choice for each in again.judgments()] == [0, 1]
    again.add(answer(2, 2, None))
    closed(again)
    last = StudyFolder.opened(path, writes=False)
    assert [each.order for each in last.judgments()] == [0, 1, 2]
    assert (last.study, last.settings) == (folder.study, folder.settings)


def test_the_folder_is_own_data(folder, tmp_path):
    folder.add(answer(0, 0), answer(1, 1, 1), answer(2, 2, None), answer(3, 0, 1, undone=True))
    folder.add(answer(0, 0, 1, rater="Ann"), answer(1, 1, 1, rater="Ann"))
    (tmp_path / "images").rename(tmp_path / "elsewhere")
    data = reading.read(folder.path)
    assert (data.shape.key, data.problems, data.rows, data.facts.n_items) == ("votes", (), 2, 1)
    items = data.facts.items()
    assert items.answer.tolist() == [1] and items.reference.modality == "image"


def test_images_are_those_of_the_source_and_bounded(folder, tmp_path):
    materials = folder.materials()
    assert set(materials.images) == set(NAMES)
    assert materials.images[NAMES[0]]().content.size == (40, 20)
    drawn(tmp_path / "images/large.png", side=2000)
    drawn(tmp_path / "images/clear.png", mode="RGBA")
    assert folder.image(NAMES[0]) == (tmp_path / "images" / NAMES[0]).read_bytes()
    sizes = {name: Image.open(io.BytesIO(folder.image(name))).size for name in ("large.png", "clear.png")}
    assert sizes == {"large.png": (1600, 800), "clear.png": (40, 20)}
    for name in ("../settings.json", "/etc/hostname", "missing.png"):
        with pytest.raises(NotHere):
            folder.image(name)


def test_what_is_not_a_study_is_refused(folder, tmp_path):
    with pytest.raises(NotHere, match="likeness eyes"):
        StudyFolder.opened(tmp_path)
    with pytest.raises(BadInput, match="exists"):
        StudyFolder.created(folder.path, folder.settings)
    with pytest.raises(BadInput, match="question"):
        folder.add(answer(0, 7))
    with pytest.raises(BadInput, match="other questions"):
        folder.save(Study(kind="image", contents=list(NAMES), questions=[(0, 1, 3)]))


# ---- judgments from elsewhere


FIND = image_finder(["a.png", "b c.png", "one/d.png", "two/d.png", "deadbeef-e.png"])
QUESTION = ("a.png", "b c.png", "one/d.png")
DATA = {"ref": "a.png", "image1": "/data/upload/1/0a1b2c3d-b_c.png", "image2": "/data/local-files/?d=one/d.png"}


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, **how):
    """What a file holds: a text is a table."""
    name = "t.csv" if isinstance(content, str) else "export.json"
    return exchange.read(write(folder / name, content), FIND, **how)


def task(data, *annotations):
    return {"id": 7, "data": data, "annotations": list(annotations)}


def chose(selected, *, kind="selected", to="x,y", **other):
    """An annotation of Label Studio, by 3."""
    value = {kind: selected if kind == "selected" else [selected]}
    return {"result": [{"to_name": to, "value": value}], "completed_by": 3, "created_at": "2026-01-02"} | other


FOUND = {
    "a.png": "a.png",
    "/data/upload/1/0a1b2c3d-a.png": "a.png",
    "/data/upload/4/0a1b2c3d-b_c.png": "b c.png",
    "/data/local-files/?d=folder%2Fone%2Fd.png": "one/d.png",
    "https://host.example/x/b%20c.png?size=2": "b c.png",
    "/data/upload/1/0a1b2c3d-deadbeef-e.png": "deadbeef-e.png",
    "deadbeef-e.png": "deadbeef-e.png",
}
LOST = {"/data/upload/1/0a1b2c3d-d.png": "any of", "z.png": "not among", "http://[x": "not among"}


def test_images_are_found_by_what_other_programs_call_them():
    assert {text: FIND(text) for text in FOUND} == FOUND
    assert image_finder(["x/one/d.png", "x/two/d.png"])("one/d.png") == "x/one/d.png"
    for text, why in LOST.items():
        with pytest.raises(BadInput, match=why):
            FIND(text)


def test_label_studio(tmp_path):
    ann = {"completed_by": {"id": 9, "email": "ann@host.example"}}
    export = [
        task(DATA, chose("left"), chose("right", **ann)),
        task(DATA, chose("tie", kind="choices"), chose("image2", kind="choices", completed_by=4)),
        task(DATA, chose("left", was_cancelled=True)),
        task(DATA, chose(None)),
        *(task(DATA | wrong, chose("left")) for wrong in ({"image1": "missing.png"}, {"ref": "a red car"})),
        task({"image1": "a.png"}, chose("left")),
        task(DATA),
        [1],
    ]
    found = read(tmp_path, export)
    assert isinstance(found, JudgmentFile) and found.kind == "image" and found.questions == [QUESTION]
    given = [(each.choice, each.rater) for each in found.judgments]
    assert given == [(0, "3"), (1, "ann@host.example"), (None, "3"), (1, "4")]
    assert found.skipped.startswith("5 ") and "cancelled" in found.skipped and "missing.png" in found.skipped
    assert "2 rows have no choice" in found.read


# The heading and two choices of a.png and b c.png, the first of these in the first column; and what was chosen.
CHOSEN = {
    ("original,compressed,choice", "1", "right"): "ab",
    ("method_b,method_a,choice", "1", "2"): "ab",
    ("img_9,img_10,choice", "left", "right"): "ab",
    ("target,other,winner", "other", "target"): "ba",
    ("right_image,left_image,choice", "left", "right"): "ba",
    ("one,two,choice", "0", "1"): "ab",
    ("one,two,choice", "1.0", "2.00"): "ab",
    ("one,two,winner", "model_a", "Model B"): "ab",
    ("one,two,winner", "tie (bothbad)", "tie"): "--",
    ("one,two,vote", "leftvote", "rightvote"): "ab",
    ("one,two,vote", "tievote", "bothbad_vote"): "--",
    ("one,two,choice", "Image 2", "option_1"): "ba",
    ("one,two,sharper", "left", "right"): "ab",
    # Those that may be meant in two ways.
    ("image 2,image 1,choice", "1", "2"): "",
    ("method_b,method_a,choice", "a", "b"): "",
    ("right_image,left_image,choice", "1", "2"): "",
    ("one,two,choice", "-1", "1"): "",
    ("one,two,vote", "0", "2"): "",
    ("one,two,better", "1", "5"): "",
    ("one,two,remark", "left", "blurred"): "",
}


@pytest.mark.parametrize("given", CHOSEN)
def test_the_order_of_columns_tells_sides_and_words_tell_choices(tmp_path, given):
    heading, *said = given
    table = "\n".join([heading, *(f"a.png,b c.png,{each}" for each in said)])
    if not CHOSEN[given]:
        with pytest.raises(BadInput):
            read(tmp_path, table)
        return
    found = read(tmp_path, table)
    names = ["-" if each.choice is None else each.question[1 + each.choice][0] for each in found.judgments]
    assert "".join(names) == CHOSEN[given] and not found.skipped
    fields = dict(zip(("a.png", "b c.png"), heading.split(","), strict=False))
    for side, name in zip(("left", "right"), found.judgments[0].question[1:], strict=True):
        assert f"{side} is {fields[name]}" in found.read


@pytest.mark.parametrize(
    "given, choice",
    [({"pw": [{"selected": "right"}]}, 1), ({"choice": "left"}, 0), ({"sharper": "left_image"}, 0)],
)
def test_json_min_and_sides_by_name(tmp_path, given, choice):
    shared = {"prompt": "a red car", "right_image": "a.png", "left_image": "b c.png", "annotator": 2, "id": 1}
    found = read(tmp_path, [shared | given])
    assert found.kind == "text" and [(each.choice, each.rater) for each in found.judgments] == [(choice, "2")]
    assert found.questions == [("a red car", "b c.png", "a.png")]


@pytest.mark.parametrize("fields", [("original", "compressed"), ("url_b", "url_a")])
def test_json_that_does_not_tell_the_sides_asks_for_them(tmp_path, fields):
    data = dict(zip(fields, ("a.png", "b c.png"), strict=True))
    for left, why in (("", f"{fields[0]} and {fields[1]}.*left"), ("other", fields[1])):
        with pytest.raises(BadInput, match=why):
            read(tmp_path, [task(data, chose("left"))], left=left)
    tags = chose("left", to=f"{fields[1]},{fields[0]}")  # that are called as the fields
    for left, how, chosen in (*((each, chose("left"), data[each]) for each in fields), ("", tags, "b c.png")):
        (given,) = read(tmp_path, [task(data, how)], left=left).judgments
        assert (given.question[1], given.choice) == (chosen, 0)


@pytest.mark.parametrize("heading", ["annotator_id", "Annotator Name", "WorkerId", "completed_by", "judge"])
def test_raters_are_told_by_many_headings(tmp_path, heading):
    found = read(tmp_path, f",one,two,{heading},choice\n0,a.png,b c.png,x,1\n1,a.png,b c.png,y,2\n")
    assert [each.rater for each in found.judgments] == ["x", "y"] and heading in found.read


@pytest.mark.parametrize("empty", ["", "None", "nan", "n/a"])
def test_nothing_chosen_is_no_tie_and_its_question_stays(tmp_path, empty):
    rows = f"one,two,rater,choice\na.png,b c.png,x,1\na.png,b c.png,y,tie\na.png,one/d.png,x,{empty}\n"
    found = read(tmp_path, rows)
    assert [each.choice for each in found.judgments] == [0, None] and len(found.questions) == 2
    assert "1 rows have no choice" in found.read and not found.skipped


def test_tables(tmp_path):
    heading = "alternative_1;alternative_2;choice;rater;time"
    rows = ["a.png;one/d.png;2;Ann;2026", "one/d.png;a.png;one/d.png;Bo;", "a.png;one/d.png;tie;;", "a.png;b c.png;x;;"]
    found = read(tmp_path, "\n".join([heading, *rows]))
    assert found.kind == "quality" and len(found.questions) == 1 and "row 4" in found.skipped
    given = [(each.question[1], each.choice, each.rater) for each in found.judgments]
    assert given == [("a.png", 1, "Ann"), ("one/d.png", 0, "Bo"), ("a.png", None, "")]
    rows = "reference,first,second\na.png,b c.png,one/d.png\na.png,z.png,one/d.png\n"
    asked = exchange.questions(read_table(write(tmp_path / "q.csv", rows)), FIND)
    assert (asked.kind, asked.questions) == ("image", [QUESTION]) and "row 2" in asked.skipped
    assert exchange.prompts(write(tmp_path / "p.txt", "a cat\n\na dog\na cat\n")) == ["a cat", "a dog"]
    assert exchange.prompts(write(tmp_path / "p.csv", "prompt,x\na cat,1\n")) == ["a cat"]


@pytest.mark.parametrize(
    "content", ["", "[]", "[" * 10_000, "{}", "[null]", '[{"data": 3}]', '[{"data": {}, "annotations": [{}]}]']
)
def test_what_is_no_file_of_judgments_is_refused(tmp_path, content):
    with pytest.raises(BadInput):
        exchange.read(write(tmp_path / "file.json", content), FIND)


@pytest.fixture
def three(tmp_path):
    """A study of two questions about three images."""
    return study(tmp_path, ("a.png", "b.png", "c.png"), (0, 1, 2), (1, 0, 2))


@pytest.fixture
def merge(three, tmp_path):
    """Adds the rows of a table, and gives the sentence."""

    def merged(heading, *rows):
        table = write(tmp_path / "t.csv", "\n".join((heading, *rows)))
        return three.merge(exchange.read(table, image_finder(three.images())))

    return merged


def test_files_of_several_raters_merge_once(three, merge, tmp_path):
    three.add(answer(0, 0))
    saved = StudyFile(study=three.study, judgments=[answer(0, 0, 1, rater="Ann"), answer(0, 0)])
    assert exchange.read(write(tmp_path / "study.json", saved.model_dump_json()), FIND) == saved
    merged = three.merge(saved)
    assert "1 judgments added by Ann, me" in merged and "1 were here already" in merged
    with pytest.raises(BadInput, match="other questions"):
        three.merge(StudyFile(study=three.study.model_copy(update={"questions": [(0, 1, 2)]})))
    rows = ("a.png,c.png,b.png,left", "b.png,a.png,c.png,tie", "c.png,a.png,b.png,1")
    assert "1 are of questions" in merge("reference,first,second,choice", *rows)
    assert "0 judgments added" in (again := merge("reference,first,second,choice", *rows)) and "2 were here" in again
    given = [(each.rater, each.question, each.choice) for each in three.judgments()]
    assert given == [("me", 0, 0), ("Ann", 0, 1), ("me", 0, 1), ("me", 1, None)]
    table = (three.path / "manifest.csv").read_text().splitlines()
    assert table[1:] == ["question 1,images/a.png,images/b.png,images/c.png,1,2"]


BOTH = ("b.png,c.png,x,2026-01-02,2", "c.png,b.png,x,2026-01-03,2", "b.png,c.png,y,,", "b.png,c.png,x,2026-01-01,2")
MERGED = [  # rows, what is said of them, and what stands
    (BOTH, ("1 judgments added by x, 0 changed", "1 rows have no", "2 repeat", "2 contradict"), {"x": 0}),
    (("b.png,c.png,y,2026-01-01,tie",), ("1 judgments added by y, 0 changed",), {"x": 0, "y": None}),
    (("b.png,c.png,y,2026-01-02,1",), ("0 judgments added by y, 1 changed",), {"x": 0, "y": 0}),
    (("b.png,c.png,y,2026-01-01,tie",), ("0 changed", "1 are older"), {"x": 0, "y": 0}),
    ((), ("1 are older",), {"y": 0}),  # x takes the first answer back, and what was saved before is added
    (("b.png,c.png,x,,2",), ("0 judgments added by x, 1 changed",), {"x": 1, "y": 0}),
]


def test_the_newest_answer_of_a_rater_counts_and_is_counted(three, merge):
    for rows, said, stands in MERGED:
        if rows:
            sentence = merge("reference,first,second,annotator id,time,choice", *(f"a.png,{row}" for row in rows))
        else:
            saved = StudyFile(study=three.study, judgments=three.judgments())
            three.add(three.judgments()[0].model_copy(update={"undone": True, "time": "2026-01-04"}))
            sentence = three.merge(saved)
        assert all(words in sentence for words in said), sentence
        assert {each.rater: each.choice for each in standing(three.judgments())} == stands
