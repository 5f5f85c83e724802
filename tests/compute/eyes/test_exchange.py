"""Judgments of other raters and programs become rows of a study, and what cannot be used is counted and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compute.eyes import exchange
from compute.eyes.exchange import ImageNames, JudgmentFile
from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import Study, StudyFile
from compute.types import BadInput
from tests.compute.eyes.test_folder import answer, drawn

NAMES = ImageNames(["a.png", "b c.png", "one/d.png", "two/d.png", "deadbeef-e.png"])
QUESTION = ("a.png", "b c.png", "one/d.png")


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def task(data: dict, *annotations: dict, **other: Any) -> dict:
    return {"id": 7, "data": data, "annotations": list(annotations), **other}


def annotation(selected: str | None = None, *, choices: list | None = None, **other: Any) -> dict:
    results = [{"from_name": "pw", "to_name": "x,y", "type": "pairwise", "value": {"selected": selected}}]
    if choices is not None:
        results = [{"from_name": "c", "to_name": "x", "type": "choices", "value": {"choices": choices}}]
    return {"result": results, "completed_by": 3, "lead_time": 1.5, "created_at": "2026-01-02T03:04:05Z", **other}


def test_images_are_found_by_what_other_programs_call_them() -> None:
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
    for text, why in (("/data/upload/1/0a1b2c3d-d.png", "any of"), ("z.png", "not among"), ("", "not among")):
        with pytest.raises(BadInput, match=why):
            NAMES.find(text)


def test_label_studio(tmp_path: Path) -> None:
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
    read = exchange.read(write(tmp_path / "export.json", export), NAMES)
    assert isinstance(read, JudgmentFile) and read.kind == "image" and read.questions == [QUESTION]
    assert [(each.choice, each.rater, each.seconds) for each in read.judgments] == [
        (0, "3", 1.5),
        (1, "ann@host.example", 1.5),
        (None, "3", 1.5),
        (1, "4", 1.5),
    ]
    assert read.skipped.startswith("7 ") and "cancelled" in read.skipped and "missing.png" in read.skipped


def test_json_min_and_sides_by_name(tmp_path: Path) -> None:
    shared = {"prompt": "a red car", "right_image": "a.png", "left_image": "b c.png", "annotator": 2, "id": 1}
    export = [{**shared, "pw": [{"selected": "right"}]}, {**shared, "choice": "left"}]
    read = exchange.read(write(tmp_path / "min.json", export), NAMES)
    assert read.kind == "text" and [each.choice for each in read.judgments] == [1, 0]
    assert read.questions == [("a red car", "b c.png", "a.png")]


def test_tables(tmp_path: Path) -> None:
    rows = [
        "alternative_1;alternative_2;choice;rater;time",
        "a.png;one/d.png;2;Ann;2026",
        "one/d.png;a.png;one/d.png;Bo;",
    ]
    read = exchange.read(
        write(tmp_path / "t.csv", "\n".join([*rows, "a.png;one/d.png;tie;;", "a.png;b c.png;7;;"])), NAMES
    )
    assert read.kind == "quality" and len(read.questions) == 1 and "row 4" in read.skipped
    assert [(each.question[1], each.choice, each.rater) for each in read.judgments] == [
        ("a.png", 1, "Ann"),
        ("one/d.png", 0, "Bo"),
        ("a.png", None, ""),
    ]
    asked = exchange.questions(write(tmp_path / "q.csv", "reference,first,second\na.png,b c.png,one/d.png\n"), NAMES)
    assert (asked.kind, asked.questions) == ("image", [QUESTION])
    with pytest.raises(BadInput, match="row 1"):
        exchange.questions(write(tmp_path / "q.csv", "reference,first,second\na.png,z.png,one/d.png\n"), NAMES)
    assert exchange.prompts(write(tmp_path / "p.txt", "a cat\n\na dog\na cat\n")) == ["a cat", "a dog"]
    assert exchange.prompts(write(tmp_path / "p.csv", "prompt,x\na cat,1\n")) == ["a cat"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[" * 10_000, "{}", "[null]", '[{"data": 3}]', '[{"data": {}, "annotations": [{}]}]']
)
def test_what_is_no_file_of_judgments_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadInput):
        exchange.read(write(tmp_path / "file.json", content), NAMES)


def test_files_of_several_raters_merge_once(tmp_path: Path) -> None:
    for seed, name in enumerate(("a.png", "b.png", "c.png")):
        drawn(tmp_path / "images" / name, seed=seed)
    folder = StudyFolder.created(tmp_path / "eyes", EyesSettings(source=str(tmp_path / "images")))
    study = Study(kind="image", contents=["a.png", "b.png", "c.png"], questions=[(0, 1, 2), (1, 0, 2)])
    folder.save(study)
    folder.add(answer(0, 0))
    saved = StudyFile(study=study, judgments=[answer(0, 0, 1, rater="Ann"), answer(0, 0, 1)])
    assert exchange.read(write(tmp_path / "study.json", saved.model_dump_json()), NAMES) == saved
    assert folder.merge(saved).startswith("1 judgments added; 1 ")
    with pytest.raises(BadInput, match="other questions"):
        folder.merge(StudyFile(study=Study(kind="image", contents=study.contents, questions=[(0, 1, 2)])))
    rows = "reference,first,second,choice\na.png,c.png,b.png,left\nb.png,a.png,c.png,tie\nc.png,a.png,b.png,1\n"
    given = exchange.read(write(tmp_path / "t.csv", rows), ImageNames(folder.images()))
    assert "1 are of questions" in folder.merge(given)
    assert folder.merge(given).startswith("0 judgments added; 2 ")
    assert [(each.rater, each.question, each.choice) for each in folder.judgments()] == [
        ("me", 0, 0),
        ("Ann", 0, 1),
        ("me", 0, 1),
        ("me", 1, None),
    ]
    table = (folder.path / "manifest.csv").read_text().splitlines()
    assert table[1:] == ["question 1,images/a.png,images/b.png,images/c.png,1,2"]
