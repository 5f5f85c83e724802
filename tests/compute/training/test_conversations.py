"""Training examples as conversations: what a trainer's loader reads, answers that hold, balance, streaming."""

import json
from collections import Counter
from pathlib import Path

import datasets
import pytest

from compute.catalog import shipped
from compute.content.items import content_key
from compute.training import conversations, splits
from compute.training.conversations import TEMPLATES, TOKEN, export
from compute.training.examples import TASKS
from compute.types import BadInput
from tests.compute.commands import done, likeness
from tests.compute.tasks import unisim_files
from tests.compute.training.small_training import examples, listed

COUNT = 12  # of each task: every template, both orders, twice


def write(folder, **changed):
    made = [examples(task, count=COUNT) for task in TASKS]
    usual = {"sets": made, "seed": 2, "counts": conversations.COUNTS, "leaks": "none"}
    return export(folder=folder, **usual | changed)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("instructions")
    write(folder)
    return folder


def read(folder):
    return json.loads((folder / "instructions.json").read_text())


def test_a_loader_reads_every_entry_and_each_token_is_an_image(exported, tmp_path):
    rows = datasets.load_dataset(
        "json", data_files=str(exported / "instructions.json"), split="train", cache_dir=str(tmp_path)
    )
    assert len(rows) == COUNT * len(TASKS) == len(set(rows["id"]))
    for row in rows:
        human, gpt = row["conversations"]
        assert (human["from"], gpt["from"]) == ("human", "gpt")
        assert human["value"].count(TOKEN) == len(row["image"]) > 0 and TOKEN not in gpt["value"]
    named = {name for row in read(exported) for name in row["image"]}
    written = {str(path.relative_to(exported)) for path in (exported / "images").rglob("*") if path.is_file()}
    assert named == written
    for name in named:
        assert Path(name).stem == content_key((exported / name).read_bytes()).decode()
    record = json.loads((exported / "record.json").read_text())
    assert record["images"] == len(named) and record["counts"] == dict.fromkeys(TASKS, COUNT)


def test_both_orders_and_all_templates_are_equally_frequent_and_the_beginning_is_a_sample(exported):
    for task in TASKS:
        answers = Counter(
            row["conversations"][1]["value"] for row in read(exported) if row["id"].startswith(f"{task}-noise")
        )
        assert answers == Counter({answer: COUNT // 6 for _, answers in TEMPLATES[task] for answer in answers})
    beginning = Counter(row["id"].rpartition("-noise")[0] for row in read(exported)[: 2 * len(TASKS)])
    assert set(beginning.values()) == {2}


def asked(part):
    """Question, answer and named images of every example."""
    entries = [
        conversations.conversation((part, at), at, lambda column, row: column.read(row).decode())
        for at in range(len(part))
    ]
    return [(*(turn["value"] for turn in entry["conversations"]), entry["image"]) for entry in entries]


def test_an_answer_names_the_preferred_alternative_and_a_caption_with_the_token_adds_no_image():
    """Of examples whose preferred caption is the word right, whatever order they are shown in."""
    rows = [(b"i", "right", f"wrong {TOKEN} of {{first}}")] * 6 + [(b"i", "wrong", "right")] * 6
    part = listed("text-for-image", rows, [0] * 6 + [1] * 6)
    for number, (question, answer, _) in enumerate(asked(part)):
        first = question.index("right") < question.index("wrong")
        assert answer == TEMPLATES["text-for-image"][number // 2 % 3][1][0 if first else 1]
        assert first == (number % 2 == 0) and question.count(TOKEN) == 1


def test_images_stand_in_the_order_of_their_tokens():
    """In the third form the reference comes last."""
    part = listed("image-choice", [(b"reference", b"better", b"worse")] * 6, [0] * 6)
    named = [images for *_, images in asked(part)]
    assert named[0] == ["reference", "better", "worse"] and named[5] == ["worse", "better", "reference"]


def test_what_cannot_be_read_leaves_no_file_and_a_foreign_folder_is_not_touched(tmp_path):
    broken = {"image 0": ("quality", "p", b"no image", b"none"), "text 0": ("text-for-image", b"x", " ", "b")}
    for word, (task, *row) in broken.items():
        with pytest.raises(BadInput, match=f"noise, {word}"):
            write(tmp_path, sets=[listed(task, [row], [0])])
    assert not (tmp_path / "instructions.json").exists()
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match="notes.txt"):
        write(tmp_path)


def test_the_command_compares_and_says_what_it_wrote(tmp_path, monkeypatch):
    unisim_files.write(tmp_path / "data", "nights", "pie_app", "hpdv2", "polaris", training=True)
    monkeypatch.setattr(splits, "evaluated_tasks", lambda: [shipped().task("unisim/nights")])
    chosen = ("image-choice=nights", "image-for-text=hpdv2", "text-for-image=polaris", "quality=pieapp")
    out, given = tmp_path / "out", f"--count 1 --data {tmp_path}/data --offline".split()
    made = done(
        likeness(
            "instructions", out, *given, *(f"--datasets={each}" for each in chosen), "--results", tmp_path / "results"
        )
    )
    assert "4 conversations" in made.output and "1 evaluated tasks" in made.output
