"""Judgments of other raters and programs become rows of a study, and what cannot be used is counted and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compute.eyes import exchange
from compute.eyes.exchange import ImageNames, JudgmentFile
from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import Study, StudyFile, standing
from compute.io.tables import read_table
from compute.types import BadInput
from tests.compute.eyes.test_folder import answer, drawn

NAMES = ImageNames(["a.png", "b c.png", "one/d.png", "two/d.png", "deadbeef-e.png"])
QUESTION = ("a.png", "b c.png", "one/d.png")


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder: Path, content: Any, **how: Any) -> JudgmentFile:
    """What a file holds: a text is a table."""
    name = "t.csv" if isinstance(content, str) else "export.json"
    return exchange.read(write(folder / name, content), NAMES, **how)


def task(data: dict, *annotations: dict, **other: Any) -> dict:
    return {"id": 7, "data": data, "annotations": list(annotations), **other}


def annotation(selected: str | None = None, *, choices: list | None = None, **other: Any) -> dict:
    results = [{"from_name": "pw", "to_name": "x,y", "type": "pairwise", "value": {"selected": selected}}]
    if choices is not None:
        results = [{"from_name": "c", "to_name": "x", "type": "choices", "value": {"choices": choices}}]
    return {"result": results, "completed_by": 3, "lead_time": 1.5, "created_at": "2026-01-02T03:04:05Z", **other}


def test_images_are_found_by_what_other_programs_call_them():
    found = {
        "a.png": "a.png",
        "/data/upload/1/0a1b2c3d-a.png": "a.png",
        "/data/upload/4/0a1b2c3d-b_c.png": "b c.png",
        "/data/local-files/?d=folder%2Fone%2Fd.png": "one/d.png",
        "https://host.example/x/b%20c.png?size=2": "b c.png",
        "/data/upload/1/0a1b2c3d-deadbeef-e.png": "deadbeef-e.png",
        "deadbeef-e.png": "deadbeef-e.png",
    }
    assert {text: NAMES.find(text) for text in found} == found
    for text, why in (("/data/upload/1/0a1b2c3d-d.png", "any of"), ("z.png", "not among"), ("http://[x", "not among")):
        with pytest.raises(BadInput, match=why):
            NAMES.find(text)


def test_label_studio(tmp_path):
    data = {"ref": "a.png", "image1": "/data/upload/1/0a1b2c3d-b_c.png", "image2": "/data/local-files/?d=one/d.png"}
    export = [
        task(data, annotation("left"), annotation("right", completed_by={"id": 9, "email": "ann@host.example"})),
        task(data, annotation(choices=["tie"]), annotation(choices=["image2"], completed_by=4)),
        task(data, annotation("left", was_cancelled=True)),
        task(data, annotation(None)),
        task({**data, "image1": "missing.png"}, annotation("left")),
        task({**data, "ref": "a red car"}, annotation("left")),
        task({"image1": "a.png"}, annotation("left")),
        task(data),
        [1],
    ]
    found = read(tmp_path, export)
    assert isinstance(found, JudgmentFile) and found.kind == "image" and found.questions == [QUESTION]
    given = [(each.choice, each.rater) for each in found.judgments]
    assert given == [(0, "3"), (1, "ann@host.example"), (None, "3"), (1, "4")]
    assert found.skipped.startswith("5 ") and "cancelled" in found.skipped and "missing.png" in found.skipped
    assert "2 rows have no choice" in found.read


@pytest.mark.parametrize(
    ("answer", "choice"),
    [({"pw": [{"selected": "right"}]}, 1), ({"choice": "left"}, 0), ({"sharper": "left_image"}, 0)],
)
def test_json_min_and_sides_by_name(tmp_path, answer, choice):
    shared = {"prompt": "a red car", "right_image": "a.png", "left_image": "b c.png", "annotator": 2, "id": 1}
    found = read(tmp_path, [shared | answer])
    assert found.kind == "text" and [(each.choice, each.rater) for each in found.judgments] == [(choice, "2")]
    assert found.questions == [("a red car", "b c.png", "a.png")]


# The heading and two choices of a.png and b c.png, the first of these in the first column; and what was chosen.
CHOSEN = {
    ("original,compressed,choice", "1", "right"): "ab",
    ("method_b,method_a,choice", "1", "2"): "ab",
    ("img_9,img_10,choice", "left", "right"): "ab",
    ("target,other,winner", "other", "target"): "ba",
    ("right_image,left_image,choice", "left", "right"): "ba",
    ("bright,dark,choice", "left", "right"): "ab",
    ("one,two,choice", "0", "1"): "ab",
    ("one,two,choice", "1.0", "2.00"): "ab",
    ("one,two,winner", "model_a", "Model B"): "ab",
    ("one,two,winner", "tie (bothbad)", "tie"): "--",
    ("one,two,vote", "leftvote", "rightvote"): "ab",
    ("one,two,vote", "tievote", "bothbad_vote"): "--",
    ("one,two,choice", "Image 2", "option_1"): "ba",
    ("one,two,sharper", "left", "right"): "ab",
}


@pytest.mark.parametrize("given", CHOSEN)
def test_the_order_of_columns_tells_sides_and_words_tell_choices(tmp_path, given):
    heading, *said = given
    rows = "".join(f"a.png,b c.png,{each}\n" for each in said)
    found = read(tmp_path, f"{heading}\n{rows}")
    names = ["-" if each.choice is None else each.question[1 + each.choice][0] for each in found.judgments]
    assert "".join(names) == CHOSEN[given] and not found.skipped
    sides = dict(zip(heading.split(","), ("a.png", "b c.png"), strict=False))
    left, right = found.judgments[0].question[1:]
    assert all(
        f"{side} is {field}" in found.read
        for side, name in (("left", left), ("right", right))
        for field in sides
        if sides[field] == name
    )


UNCLEAR = {
    "image 2,image 1,choice": ("1", "2"),
    "method_b,method_a,choice": ("a", "b"),
    "right_image,left_image,choice": ("1", "2"),
    "one,two,choice": ("-1", "1"),
    "one,two,vote": ("0", "2"),
    "one,two,better": ("1", "5"),
    "one,two,remark": ("left", "blurred"),
}


@pytest.mark.parametrize("heading", UNCLEAR)
def test_a_file_that_may_be_meant_in_two_ways_is_refused_as_a_whole(tmp_path, heading):
    rows = "".join(f"a.png,b c.png,{each}\n" for each in UNCLEAR[heading])
    with pytest.raises(BadInput):
        read(tmp_path, f"{heading}\n{rows}")


@pytest.mark.parametrize("fields", [("original", "compressed"), ("url_b", "url_a")])
def test_json_that_does_not_tell_the_sides_asks_for_them(tmp_path, fields):
    data = dict(zip(fields, ("a.png", "b c.png"), strict=True))
    export = [task(data, annotation("left"))]
    with pytest.raises(BadInput, match=f"{fields[0]} and {fields[1]}.*left"):
        read(tmp_path, export)
    for left, chosen in zip(fields, ("a.png", "b c.png"), strict=True):
        (given,) = read(tmp_path, export, left=left).judgments
        assert (given.question[1], given.choice) == (chosen, 0)
    with pytest.raises(BadInput, match=fields[1]):
        read(tmp_path, export, left="other")
    tags = annotation("left")
    tags["result"][0]["to_name"] = f"{fields[1]},{fields[0]}"  # tags that are called as the fields
    (given,) = read(tmp_path, [task(data, tags)]).judgments
    assert given.question == ("", "b c.png", "a.png") and given.choice == 0


@pytest.mark.parametrize(
    "heading",
    ["annotator_id", "Annotator Name", "worker_id", "WorkerId", "user_id", "labeler", "completed_by", "judge", "user"],
)
def test_raters_are_told_by_many_headings(tmp_path, heading):
    rows = f",one,two,{heading},choice\n0,a.png,b c.png,x,1\n1,a.png,b c.png,y,2\n"
    found = read(tmp_path, rows)
    assert [each.rater for each in found.judgments] == ["x", "y"] and heading in found.read


@pytest.mark.parametrize("empty", ["", "None", "nan", "n/a"])
def test_nothing_chosen_is_no_tie_and_its_question_stays(tmp_path, empty):
    rows = f"one,two,rater,choice\na.png,b c.png,x,1\na.png,b c.png,y,tie\na.png,one/d.png,x,{empty}\n"
    found = read(tmp_path, rows)
    assert [each.choice for each in found.judgments] == [0, None] and len(found.questions) == 2
    assert "1 rows have no choice" in found.read and not found.skipped


def test_tables(tmp_path):
    rows = [
        "alternative_1;alternative_2;choice;rater;time",
        "a.png;one/d.png;2;Ann;2026",
        "one/d.png;a.png;one/d.png;Bo;",
    ]
    found = read(tmp_path, "\n".join([*rows, "a.png;one/d.png;tie;;", "a.png;b c.png;maybe;;"]))
    assert found.kind == "quality" and len(found.questions) == 1 and "row 4" in found.skipped
    assert [(each.question[1], each.choice, each.rater) for each in found.judgments] == [
        ("a.png", 1, "Ann"),
        ("one/d.png", 0, "Bo"),
        ("a.png", None, ""),
    ]
    asked = exchange.questions(
        read_table(write(tmp_path / "q.csv", "reference,first,second\na.png,b c.png,one/d.png\n")), NAMES
    )
    assert (asked.kind, asked.questions) == ("image", [QUESTION])
    with pytest.raises(BadInput, match="row 1"):
        exchange.questions(
            read_table(write(tmp_path / "q.csv", "reference,first,second\na.png,z.png,one/d.png\n")), NAMES
        )
    assert exchange.prompts(write(tmp_path / "p.txt", "a cat\n\na dog\na cat\n")) == ["a cat", "a dog"]
    assert exchange.prompts(write(tmp_path / "p.csv", "prompt,x\na cat,1\n")) == ["a cat"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[" * 10_000, "{}", "[null]", '[{"data": 3}]', '[{"data": {}, "annotations": [{}]}]']
)
def test_what_is_no_file_of_judgments_is_refused(tmp_path, content):
    with pytest.raises(BadInput):
        exchange.read(write(tmp_path / "file.json", content), NAMES)


def started(path: Path) -> StudyFolder:
    """A study of two questions about three images."""
    for seed, name in enumerate(("a.png", "b.png", "c.png")):
        drawn(path / "images" / name, seed=seed)
    folder = StudyFolder.created(path / "eyes", EyesSettings(source=str(path / "images")))
    folder.save(Study(kind="image", contents=["a.png", "b.png", "c.png"], questions=[(0, 1, 2), (1, 0, 2)]))
    return folder


def test_files_of_several_raters_merge_once(tmp_path):
    folder = started(tmp_path)
    study = folder.study
    folder.add(answer(0, 0))
    saved = StudyFile(study=study, judgments=[answer(0, 0, 1, rater="Ann"), answer(0, 0)])
    assert exchange.read(write(tmp_path / "study.json", saved.model_dump_json()), NAMES) == saved
    merged = folder.merge(saved)
    assert "1 judgments added by Ann, me" in merged and "1 were here already" in merged
    with pytest.raises(BadInput, match="other questions"):
        folder.merge(StudyFile(study=Study(kind="image", contents=study.contents, questions=[(0, 1, 2)])))
    rows = "reference,first,second,choice\na.png,c.png,b.png,left\nb.png,a.png,c.png,tie\nc.png,a.png,b.png,1\n"
    given = exchange.read(write(tmp_path / "t.csv", rows), ImageNames(folder.images()))
    assert "1 are of questions" in folder.merge(given)
    assert "0 judgments added" in (again := folder.merge(given)) and "2 were here" in again
    assert [(each.rater, each.question, each.choice) for each in folder.judgments()] == [
        ("me", 0, 0),
        ("Ann", 0, 1),
        ("me", 0, 1),
        ("me", 1, None),
    ]
    table = (folder.path / "manifest.csv").read_text().splitlines()
    assert table[1:] == ["question 1,images/a.png,images/b.png,images/c.png,1,2"]


def test_the_newest_answer_of_a_rater_counts_and_is_counted(tmp_path):
    folder = started(tmp_path)

    def merge(*rows: str) -> str:
        table = "\n".join(("reference,first,second,annotator id,time,choice", *(f"a.png,{row}" for row in rows)))
        return folder.merge(exchange.read(write(tmp_path / "t.csv", table), ImageNames(folder.images())))

    def stands() -> dict[str, int | None]:
        return {each.rater: each.choice for each in standing(folder.judgments())}

    both = ("b.png,c.png,x,2026-01-02,2", "c.png,b.png,x,2026-01-03,2", "b.png,c.png,y,,", "b.png,c.png,x,2026-01-01,2")
    first = merge(*both)
    assert "1 judgments added by x, 0 changed" in first and "1 rows have no choice" in first
    assert "2 repeat" in first and "2 contradict" in first and stands() == {"x": 0}
    assert "1 judgments added by y, 0 changed" in merge("b.png,c.png,y,2026-01-01,tie")
    assert "0 judgments added by y, 1 changed" in merge("b.png,c.png,y,2026-01-02,1")
    assert "0 changed" in (old := merge("b.png,c.png,y,2026-01-01,tie")) and "1 are older" in old
    assert stands() == {"x": 0, "y": 0}
    saved = StudyFile(study=folder.study, judgments=folder.judgments())
    folder.add(folder.judgments()[0].model_copy(update={"undone": True, "time": "2026-01-04"}))
    assert "1 are older" in folder.merge(saved) and stands() == {"y": 0}
    assert "0 judgments added by x, 1 changed" in merge("b.png,c.png,x,,2") and stands() == {"x": 1, "y": 0}
