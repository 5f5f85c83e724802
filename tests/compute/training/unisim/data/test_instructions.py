"""Training examples as conversations: what a trainer's loader reads, answers that hold, balance, mixing, streaming."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from compute.__main__ import app
from compute.content.items import content_key, images, texts
from compute.features.passes import distinct
from compute.tasks.drawing.lexicon import COLOURS
from compute.training.unisim.data import instructions, leaks, llava, mini, mixed_in
from compute.training.unisim.data.examples import TASKS, ColumnExamples
from compute.training.unisim.data.instructions import TEMPLATES, export
from compute.training.unisim.data.llava import TOKEN, entries, verify
from compute.training.unisim.data.mixed_in import OtherInstructions
from compute.types import BadInput

COUNT = 24  # of each task: every template, both orders, four times


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("instructions")
    export(mini.unrelated(seed=2, count=COUNT), folder)
    return folder


def read(folder: Path) -> list[dict]:
    return json.loads((folder / "instructions.json").read_text())


def other_file(path: Path, count: int, *, lines: bool = False, broken: int = 0) -> Path:
    """Another instruction file: a turn about one image each; `broken` entries have a token too many."""
    rows = [
        {
            "id": f"other-{at}",
            "image": "photo.png",
            "conversations": [
                {"from": "human", "value": TOKEN * (2 if at < broken else 1) + f"\nWhat is {at}? [{{,]"},
                {"from": "gpt", "value": "A number."},
            ],
        }
        for at in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows, indent=1))
    Image.new("RGB", (4, 4)).save(path.parent / "photo.png")
    return path


def test_a_loader_reads_every_entry_and_each_token_is_an_image(exported: Path, tmp_path: Path) -> None:
    rows = datasets.load_dataset(
        "json", data_files=str(exported / "instructions.json"), split="train", cache_dir=str(tmp_path)
    )
    assert len(rows) == COUNT * len(TASKS) == len(set(rows["id"]))
    for row in rows:
        human, gpt = row["conversations"]
        assert (human["from"], gpt["from"]) == ("human", "gpt")
        assert human["value"].count(TOKEN) == len(row["image"]) > 0 and TOKEN not in gpt["value"]
        for name in row["image"]:
            with Image.open(exported / name) as image:
                assert image.size == (64, 64)
    assert verify(exported / "instructions.json") == len(rows)


def test_images_are_written_once_by_their_content(exported: Path) -> None:
    named = {name for row in read(exported) for name in row["image"]}
    written = {str(path.relative_to(exported)) for path in (exported / "images").rglob("*") if path.is_file()}
    assert named == written
    assert all(Path(name).stem == content_key((exported / name).read_bytes()).decode() for name in named)
    assert json.loads((exported / "record.json").read_text())["images"] == len(named)


def test_both_orders_and_all_templates_are_equally_frequent(exported: Path) -> None:
    for task in TASKS:
        answers = Counter(
            row["conversations"][1]["value"] for row in read(exported) if row["id"].startswith(f"{task}-drawn")
        )
        expected = Counter({answer: COUNT // 6 for each in TEMPLATES[task] for answer in each.answers})
        assert answers == expected


def test_an_answer_names_the_preferred_alternative() -> None:
    """Of examples whose preferred caption is the word right, whatever order they are shown in."""
    part = ColumnExamples(
        task="text-for-image",
        dataset="words",
        reference=images([b"i"] * 12, of="i"),
        alternatives=(texts(["right"] * 6 + ["wrong"] * 6, of="a"), texts(["wrong"] * 6 + ["right"] * 6, of="b")),
        preferred=np.repeat([0, 1], 6),
    )
    for number in range(12):
        entry = instructions.conversation(part[number], number, lambda content: "x.png")
        question, answer = (turn["value"] for turn in entry["conversations"])
        first = question.index("right") < question.index("wrong")
        template = TEMPLATES["text-for-image"][number // 2 % 3]
        assert answer == template.answers[0 if first else 1]
        assert first == (number % 2 == 0)


def test_images_stand_in_the_order_of_their_tokens() -> None:
    """In the third form the reference comes last."""
    part = ColumnExamples(
        task="image-choice",
        dataset="files",
        reference=images([b"reference"] * 6, of="r"),
        alternatives=(images([b"better"] * 6, of="a"), images([b"worse"] * 6, of="b")),
        preferred=np.zeros(6, int),
    )
    named = [instructions.conversation(part[at], at, lambda content: content.data().decode()) for at in range(6)]
    assert named[0]["image"] == ["reference", "better", "worse"]
    assert named[5]["image"] == ["worse", "better", "reference"]


@pytest.mark.parametrize("task", TASKS)
def test_templates_show_each_content_once_and_tell_answers_apart(task: str) -> None:
    assert len(TEMPLATES[task]) >= 3
    for template in TEMPLATES[task]:
        shown = {"first", "second"} | (set() if task == "quality" else {"reference"})
        assert all(
            template.question.count(f"{{{name}}}") == (name in shown) for name in ("reference", "first", "second")
        )
        assert template.answers[0] != template.answers[1]


def test_a_caption_that_holds_the_token_or_braces_adds_no_image() -> None:
    part = ColumnExamples(
        task="text-for-image",
        dataset="captions",
        reference=images([b"i"], of="i"),
        alternatives=(texts([f"an {TOKEN} of {{first}}"], of="a"), texts(["b"], of="b")),
        preferred=np.zeros(1, int),
    )
    entry = instructions.conversation(part[0], 0, lambda content: "x.png")
    assert llava.problem(entry) == "" and "an image of {first}" in entry["conversations"][0]["value"]


def test_counts_limit_each_task_and_no_example_comes_twice(tmp_path: Path) -> None:
    record = export(mini.unrelated(count=10), tmp_path, counts={"quality": 4, "image-for-text": 99}, lines=True)
    assert dict(record.counts) == {"image-choice": 0, "image-for-text": 10, "text-for-image": 0, "quality": 4}
    rows = [json.loads(line) for line in (tmp_path / "instructions.jsonl").read_text().splitlines()]
    assert len(rows) == 14 == verify(tmp_path / "instructions.jsonl")
    assert len({tuple(sorted(row["image"])) for row in rows}) == 14
    with pytest.raises(BadInput, match="No example is to be written"):
        export(mini.unrelated(count=10), tmp_path, counts={})


def test_the_same_seed_writes_the_same_file_and_the_beginning_is_a_sample(exported: Path, tmp_path: Path) -> None:
    export(mini.unrelated(seed=2, count=COUNT), tmp_path)
    assert (tmp_path / "instructions.json").read_bytes() == (exported / "instructions.json").read_bytes()
    beginning = Counter(row["id"].rpartition("-drawn")[0] for row in read(exported)[: 2 * len(TASKS)])
    assert set(beginning.values()) == {2}


@pytest.mark.parametrize("lines", [False, True])
def test_another_file_is_mixed_in_at_the_ratio_over_the_whole_length(tmp_path: Path, lines: bool, monkeypatch) -> None:
    monkeypatch.setattr(llava, "CHUNK", 50)  # entries are longer than what is read at once
    (tmp_path / "other").mkdir()
    other = other_file(tmp_path / "other/other.json", 40, lines=lines, broken=4)
    record = export(
        mini.unrelated(count=8),
        tmp_path / "out",
        other=OtherInstructions(file=other, ratio=0.5, images=tmp_path / "other"),
    )
    rows = read(tmp_path / "out")
    positions = [at for at, row in enumerate(rows) if row["id"].startswith("other-")]
    assert (len(rows), len(positions), record.mixed, record.skipped) == (48, 16, 16, 4)
    assert max(b - a for a, b in zip(positions, positions[1:], strict=False)) <= 4
    chosen = [int(rows[at]["id"].removeprefix("other-")) for at in positions]
    assert chosen == sorted(set(chosen)) and chosen[0] < 10 and chosen[-1] > 30
    assert verify(tmp_path / "out/instructions.json") == 48


def test_ids_that_are_missing_repeated_or_ours_are_replaced(tmp_path: Path) -> None:
    """LLaVA's own files have the image's id, and several conversations about one image."""
    path = other_file(tmp_path / "other.json", 10)
    rows = json.loads(path.read_text())
    ids = [33, "33", None, "", f"text-for-image-{mini.DATASET}-0", "x", "x", "mixed-8", None, "y"]
    del rows[8]["id"]
    for row, name in zip(rows[:8] + rows[9:], ids[:8] + ids[9:], strict=True):
        row["id"] = name
    path.write_text(json.dumps(rows))
    other = OtherInstructions(file=path, ratio=10 / 8, images=tmp_path)
    record = export(mini.unrelated(count=2), tmp_path / "out", other=other)
    written = [row["id"] for row in read(tmp_path / "out") if "What is" in row["conversations"][0]["value"]]
    assert written == [33, *(f"mixed-{at}" for at in range(1, 5)), "x", "mixed-6", "mixed-8", "mixed-8-again", "y"]
    assert verify(tmp_path / "out/instructions.json") == 18
    assert (record.mixed, record.renamed) == (10, 6)
    assert json.loads((tmp_path / "out/record.json").read_text())["renamed"] == 6


def test_the_command_says_how_many_ids_it_replaced(tmp_path: Path) -> None:
    path = other_file(tmp_path / "other.json", 2)
    path.write_text(path.read_text().replace("other-1", "other-0"))
    words = ["instructions", str(tmp_path / "out"), "--count", "1", "--mix", str(path), "--mix-ratio", "0.5"]
    called = CliRunner().invoke(app, [*words, "--mix-images", str(tmp_path), "--results", str(tmp_path)])
    assert called.exit_code == 0, called.output
    assert "2 of them from" in called.output and "(1 without an id of their own" in called.output


def test_any_missing_image_of_another_file_is_named_before_anything_is_written(tmp_path: Path) -> None:
    path = other_file(tmp_path / "other.json", 4)
    path.write_text(path.read_text()[::-1].replace("gnp.otohp", "gnp.enon", 1)[::-1])  # the last entry's
    other = OtherInstructions(file=path, ratio=0.5, images=tmp_path)
    with pytest.raises(BadInput, match="other.json: its image .*none.png is not in .*Complete that folder"):
        export(mini.unrelated(count=2), tmp_path / "out", other=other)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("ratio", "message"),
    [
        (3.0, r"takes 24, and it has 10 that can be used"),
        (1e308, "takes inf, and it has 10"),
        (0.0, "--mix-ratio 0: name a finite number above 0"),
        (-1.0, "--mix-ratio -1: name a finite number above 0"),
        (math.nan, "--mix-ratio nan: name a finite number above 0"),
        (math.inf, "--mix-ratio inf: name a finite number above 0"),
    ],
)
def test_a_ratio_that_cannot_be_had_is_refused_before_anything_is_written(tmp_path: Path, ratio, message) -> None:
    other = OtherInstructions(file=other_file(tmp_path / "other.json", 10), ratio=ratio, images=tmp_path)
    with pytest.raises(BadInput, match=message):
        export(mini.unrelated(count=2), tmp_path / "out", other=other)
    assert not (tmp_path / "out/instructions.json").exists()


def test_another_files_images_are_looked_for(tmp_path: Path) -> None:
    other = OtherInstructions(file=other_file(tmp_path / "other.json", 10), ratio=0.5)
    with pytest.raises(BadInput, match="its image photo.png is not in .*--mix-images FOLDER"):
        export(mini.unrelated(count=2), tmp_path / "out", other=other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"id": 1}, {"id": ', "entry 1: not JSON .*Expected a list of objects in LLaVA's layout.*mend that entry"),
        ("[1]", "entry 0: int, not an object. Expected a list of objects"),
        ("no json", "entry 0: not JSON .*or one such object a line: mend that entry, or name another file"),
    ],
)
def test_a_file_that_is_no_instruction_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        list(entries(path))
    with pytest.raises(BadInput, match="cannot be read"):
        list(entries(tmp_path / "none.json"))


def test_what_a_trainer_could_not_use_is_refused(exported: Path, tmp_path: Path) -> None:
    row = read(exported)[0]
    for change, message in (
        ({"image": row["image"][:1]}, "it has 3 <image> for 1 images"),
        ({"conversations": row["conversations"][:1]}, "do not take turns"),
        ({"conversations": []}, "no conversations"),
        ({"image": ["images/none.png"] * 3}, "its image images/none.png is missing"),
        ({"image": 5}, "its image is neither a path nor a list of paths"),
    ):
        path = exported / "changed.json"
        path.write_text(json.dumps([row | change]))
        with pytest.raises(BadInput, match=message):
            verify(path)
    (exported / "changed.json").write_text(json.dumps([row, row]))
    with pytest.raises(BadInput, match="an earlier entry has its id"):
        verify(exported / "changed.json")
    (exported / "changed.json").unlink()


def test_a_damaged_image_is_named(tmp_path: Path) -> None:
    part = ColumnExamples(
        task="quality",
        dataset="files",
        reference=texts(["A high quality photo."], of="p"),
        alternatives=(images([b"broken"], of="left"), images([b"damaged"], of="right")),
        preferred=np.zeros(1, int),
    )
    with pytest.raises(BadInput, match="left, image 0: not an image"):
        export([part], tmp_path)
    assert not (tmp_path / "instructions.json").exists()


def test_the_command_writes_compares_and_says_what_it_did(tmp_path: Path) -> None:
    called = CliRunner().invoke(
        app,
        ["instructions", str(tmp_path / "out"), "--count", "6", "--datasets", "quality=", "--results", str(tmp_path)],
    )
    assert called.exit_code == 0, called.output
    assert "training images is one of" in called.output and "18 conversations" in called.output
    assert not any(row["id"].startswith("quality") for row in read(tmp_path / "out"))
    assert any(colour in json.dumps(read(tmp_path / "out")) for colour in COLOURS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "minis"], "No suite 'minis' to train on. Did you mean 'mini'"),
        (["--datasets", "quality=hpdv2"], "No data set 'hpdv2' has examples of quality"),
        (["--suite", "unisim", "--offline", "--data", "."], "is not on this machine"),
        (["--mix-ratio", "0.5", "--count", "1"], "--mix-ratio is about the file that --mix names"),
        (["--mix-images", ".", "--count", "1"], "--mix-images is about the file that --mix names"),
        (["--data", "no-such-folder", "--count", "1"], "There is no folder no-such-folder"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(tmp_path: Path, options: list[str], message: str) -> None:
    called = CliRunner().invoke(app, ["instructions", str(tmp_path / "out"), *options, "--results", str(tmp_path)])
    assert called.exit_code == 1 and message in called.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ratio", ["nan", "inf", "0", "-1"])
def test_the_command_refuses_a_ratio_that_is_no_number_above_0(tmp_path: Path, ratio: str) -> None:
    mix = ["--mix", str(other_file(tmp_path / "other.json", 2)), "--mix-ratio", ratio]
    called = CliRunner().invoke(
        app, ["instructions", str(tmp_path / "out"), "--count", "1", *mix, "--results", str(tmp_path)]
    )
    assert called.exit_code == 1 and f"Error: --mix-ratio {ratio}: name a finite number above 0" in called.output


def foreign_folder(path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("mine")


@pytest.mark.parametrize(
    ("text", "options", "make", "message"),
    [
        ("no json", [], None, "other.json, entry 0: not JSON (Expecting value). Expected a list of objects"),
        ("[]", [], None, "other.json: none of its entries can be used (it is empty)"),
        ('[{"image": 5}]', [], None, "can be used (its image is neither a path nor a list of paths)"),
        ("", ["--mix", "none.json"], None, "none.json: cannot be read"),
        ("", ["--mix-images", "no-folder"], None, "--mix-images no-folder: no such folder"),
        ("", ["--mix-ratio", "9"], None, "takes 36, and it has 4 that can be used"),
        ("", ["--count", "1"], lambda out: out.write_text("a file"), "out: cannot be written (Not a directory)"),
        ("", ["--count", "1"], foreign_folder, "out holds notes.txt, which this command did not write"),
    ],
)
def test_cheap_things_are_checked_before_any_image_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    options: list[str],
    make: Callable[[Path], object] | None,
    message: str,
) -> None:
    monkeypatch.setattr(leaks, "evaluated_images", lambda *args, **named: pytest.fail("images are read"))
    path, out = other_file(tmp_path / "other.json", 4), tmp_path / "out"
    if text:
        path.write_text(text)
    if make:
        make(out)
    words = ["instructions", str(out), "--count", "1", "--mix", str(path), "--mix-ratio", "0.5"]
    words += ["--mix-images", str(tmp_path), "--results", str(tmp_path / "results")]
    called = CliRunner().invoke(app, [*words, *options])
    assert called.exit_code == 1 and message in called.output, called.output
    assert not (tmp_path / "results").exists()


def test_an_export_is_written_over_and_another_folder_is_not(tmp_path: Path) -> None:
    sets, out = mini.unrelated(count=1), tmp_path / "out"
    export(sets, out)
    (out / "notes.txt").write_text("added by its owner")
    export(sets, out, seed=1)
    (out / "notes.txt").unlink()
    (out / "record.json").unlink()  # as a run leaves it that is killed
    (out / "instructions.json.draft-1").write_text("[")
    export(sets, out)
    (out / "record.json").write_text('{"version": 1}')
    with pytest.raises(BadInput, match="out holds record.json, which this command did not write. Name a folder that"):
        export(sets, out)
    for name in ("instructions.json", "photo.png", "images/photo.png"):
        other = tmp_path / name.replace("/", "-")
        (other / name).parent.mkdir(parents=True)
        (other / name).write_text("mine")
        with pytest.raises(BadInput, match=f"{name}, which this command did not write"):
            export(sets, other)
        assert (other / name).read_text() == "mine" and not (other / "record.json").exists()


def test_images_that_were_placed_for_the_other_file_are_not_foreign(tmp_path: Path) -> None:
    path, out = other_file(tmp_path / "other.json", 4), tmp_path / "out"
    out.mkdir()
    (tmp_path / "photo.png").rename(out / "photo.png")
    export(mini.unrelated(count=1), out, other=OtherInstructions(file=path, ratio=0.5))
    assert verify(out / "instructions.json") == 6


def test_images_that_are_mixed_in_are_compared_with_evaluated_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = other_file(tmp_path / "other.json", 4)
    rows = json.loads(path.read_text())
    rows[0]["conversations"][0]["value"] = "A question without an image"
    del rows[0]["image"]
    path.write_text(json.dumps(rows))
    images_of = {"mini/shapes": [b"another"]}

    def evaluated(*args, **named) -> leaks.EvaluatedImages:
        items = {task: distinct([images(files, of="item")]) for task, files in images_of.items()}
        return leaks.EvaluatedImages(items=items, stored={}, missing=(), unreadable={})

    monkeypatch.setattr(leaks, "evaluated_images", evaluated)
    words = ["instructions", str(tmp_path / "out"), "--count", "1", "--mix", str(path), "--mix-ratio", "1"]
    words += ["--mix-images", str(tmp_path), "--results", str(tmp_path / "results")]
    called = CliRunner().invoke(app, words)
    assert called.exit_code == 0, called.output
    compared = json.loads((tmp_path / "out/record.json").read_text())["leaks"]
    assert compared.endswith("images of 1 evaluated tasks. Nor is any image of other.json that is mixed in: compared 1")
    assert compared in called.output
    before = (tmp_path / "out/instructions.json").read_bytes()
    images_of["mini/kinds"] = [b"another", (tmp_path / "photo.png").read_bytes()]
    called = CliRunner().invoke(app, [*words, "--seed", "1"])
    assert called.exit_code == 1 and "other.json: 1 of its images is evaluated too" in called.output
    assert f"'{tmp_path / 'photo.png'}' is 'item, image 1' of mini/kinds. Nothing was written" in called.output
    assert (tmp_path / "out/instructions.json").read_bytes() == before


def test_a_hit_with_a_stored_runs_item_names_its_task(tmp_path: Path) -> None:
    files = [tmp_path / f"{at}.png" for at in range(7)]
    for at, file in enumerate(files):
        file.write_bytes(bytes([at]))
    keys = np.array([content_key(bytes([at])) for at in range(7)], dtype="S32")
    evaluated = leaks.EvaluatedImages(items={}, stored={"unisim/nights": keys[:6]}, missing=(), unreadable={})
    with pytest.raises(BadInput, match=r"6 of its images are .*0.png' is an item of a stored run .*, and 1 more"):
        mixed_in.check_images(files, evaluated, file=Path("other.json"), cache=tmp_path / "keys")
    assert mixed_in.check_images(files[6:], evaluated, file=Path("other.json"), cache=tmp_path / "keys") == 1
    assert mixed_in.check_images((), evaluated, file=Path("other.json")) == 0


def test_data_are_read_with_drawn_examples_where_a_file_is_mixed_in(tmp_path: Path) -> None:
    """The evaluated images in that folder are compared with the file's."""
    path = other_file(tmp_path / "other.json", 2)
    words = ["instructions", str(tmp_path / "out"), "--count", "1", "--mix", str(path), "--mix-ratio", "0.5"]
    words += ["--mix-images", str(tmp_path), "--data", str(tmp_path), "--results", str(tmp_path / "results")]
    called = CliRunner().invoke(app, words)
    assert called.exit_code == 0, called.output


def test_help_says_what_the_ratio_means_and_its_bounds() -> None:
    called = CliRunner().invoke(app, ["instructions", "--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert "conversations come for each of ours, a finite number above 0; refused where that is more" in called.output
