"""Training splits of Table 5 on small copies in the public layouts: labels, no evaluated image, and what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from compute.tasks.source import Source
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.training.unisim.data import leaks, splits
from compute.training.unisim.data.examples import QUALITY_PROMPT, TASKS, batches
from compute.types import BadInput, NotHere
from tests.compute.training.unisim.data import training_files


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("splits")
    training_files.write(folder)
    return folder


def source(folder: Path, *, cache: Path | None = None) -> Source:
    return Source(root=folder, offline=True, cache=cache, manifests=None)


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[tuple[str, str], splits.FileExamples]:
    return {(part.task, part.dataset): part for part in splits.training(source=source(data))}


def preferred(part: splits.FileExamples, row: int):
    example = part[row]
    return example.alternatives[example.preferred]


def other(part: splits.FileExamples, row: int):
    example = part[row]
    return example.alternatives[1 - example.preferred]


def red(content) -> int:
    return content.image().getpixel((0, 0))[0]


def test_every_data_set_of_table_5_is_read(sets) -> None:
    assert list(sets) == [(row.task, row.dataset) for row in splits.SPLITS]
    assert {key: len(part) for key, part in sets.items()} == {
        ("image-choice", "nights"): 1,
        ("image-choice", "pieapp"): 2,
        ("image-for-text", "hpdv2"): 6,
        ("image-for-text", "magicbrush"): 1,
        ("image-for-text", "hq-edit"): 2,
        ("text-for-image", "polaris"): 2,
        ("text-for-image", "hq-edit"): 2,
        ("quality", "kadid-10k"): 72 * 25 * 5,
        ("quality", "pieapp"): 2,
        ("quality", "pipal"): 2 * 2,
    }
    for part in sets.values():
        example = part[0]
        assert (example.reference.modality, example.alternatives[0].modality) == TASKS[part.task]


def test_table_5s_numbers_add_up_to_its_total() -> None:
    assert round(sum(row.samples for row in splits.SPLITS), -5) == 1_300_000


def test_the_preferred_alternative_is_what_the_data_say(sets) -> None:
    nights = sets["image-choice", "nights"]
    assert nights[0].reference.name() == "nights, nights/ref/3.png" and nights[0].preferred == 1
    pieapp = sets["image-choice", "pieapp"]
    assert [preferred(pieapp, row).name()[-5:] for row in range(2)] == ["a.png", "c.png"]
    hpdv2 = sets["image-for-text", "hpdv2"]
    assert all(red(preferred(hpdv2, row)) > red(other(hpdv2, row)) for row in range(6))
    assert hpdv2[2].reference.text() == "a 2"
    magicbrush = sets["image-for-text", "magicbrush"]
    assert preferred(magicbrush, 0).name().endswith("MagicBrush/train/d.png")
    edited = sets["image-for-text", "hq-edit"]
    assert [(edited[row].reference.text(), preferred(edited, row).name()[-5:]) for row in range(2)] == [
        ("a tree", "c.png"),
        ("a bush", "d.png"),
    ]
    described = sets["text-for-image", "hq-edit"]
    assert [preferred(described, row).text() for row in range(2)] == ["a tree", "a bush"]
    polaris = sets["text-for-image", "polaris"]
    assert {preferred(polaris, row).text() for row in range(2)} == {"A bird.", "A wing."}
    assert {other(polaris, row).text() for row in range(2)} == {"a boat"}


def test_quality_prefers_the_milder_the_higher_scored_and_the_reference(sets) -> None:
    kadid = sets["quality", "kadid-10k"]
    for row in range(0, len(kadid), 517):
        good, bad = preferred(kadid, row).name(), other(kadid, row).name()
        assert good[:-7] == bad[:-7] and good < bad
    assert 0.45 < kadid.preferred.mean() < 0.55
    assert len(set(map(bytes, np.sort(kadid.rows[:, 1:])))) == len(kadid)  # no pair twice
    pieapp = sets["quality", "pieapp"]
    assert all("reference_images/train" in preferred(pieapp, row).name() for row in range(2))
    pipal = sets["quality", "pipal"]
    assert all(red(preferred(pipal, row)) < red(other(pipal, row)) for row in range(4))
    assert {part[0].reference.text() for part in (kadid, pieapp, pipal)} == {"A high quality photo."}


def test_nothing_that_is_evaluated_is_trained_on(sets, data: Path) -> None:
    evaluated = [
        task
        for task in leaks.evaluated_tasks(shipped())
        if task.key.removeprefix("unisim/")
        in {
            "nights",
            "pieapp-2afc",
            "pieapp-iqa",
            "hpdv2",
            "magicbrush",
            "hq-edit-it",
            "hq-edit-text",
            "polaris",
            "kadid-10k",
            "pipal",
        }
    ]
    shown = leaks.evaluated_images(evaluated, source=source(data))
    found = leaks.check(list(sets.values()), shown)
    assert len(found.tasks) == 10 and not found.unreadable
    assert found.trained > 8500


def test_an_evaluated_file_in_a_training_folder_is_a_hit(tmp_path: Path) -> None:
    folder = training_files.write(tmp_path, "nights")
    shutil.copy(folder / "nights/ref/0.png", folder / "nights/ref/3.png")
    parts = splits.training({"image-choice": ("nights",)}, source=source(tmp_path))
    shown = leaks.evaluated_images([shipped().task("unisim/nights")], source=source(tmp_path))
    with pytest.raises(BadInput, match=r"'nights, nights/ref/3.png' of nights \(image-choice\) is .*unisim/nights"):
        leaks.check(parts, shown)


def test_archives_are_read_as_folders_are(tmp_path: Path, sets) -> None:
    training_files.write(tmp_path, "nights", "PIPAL", packed=True)
    for part in splits.training({"quality": ("pipal",), "image-choice": ("nights",)}, source=source(tmp_path)):
        assert part.keys().tolist() == sets[part.task, part.dataset].keys().tolist()


def test_keys_are_the_contents_own_and_read_once(data: Path, tmp_path: Path, monkeypatch) -> None:
    (part,) = splits.training({"image-choice": ("pieapp",)}, source=source(data, cache=tmp_path))
    keys = part.keys()
    assert keys[1].tolist() == [content.key() for content in part[1].contents]
    monkeypatch.setattr(splits.FileExamples, "_read", lambda *_: pytest.fail("read again"))
    assert part.keys().tolist() == keys.tolist()


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    folder = training_files.write(tmp_path / "data", "nights")
    (part,) = splits.training({"image-choice": ("nights",)}, source=source(tmp_path / "data", cache=tmp_path / "keys"))
    before = part.keys()
    (folder / "nights/ref/3.png").write_bytes(b"another")
    after = part.keys()
    assert before[0, 0] != after[0, 0] and before[0, 1] == after[0, 1]


def test_keys_are_stored_in_parts(data: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(splits, "KEYS_AT_ONCE", 2)
    (part,) = splits.training({"image-for-text": ("hpdv2",)}, source=source(data, cache=tmp_path))
    part.keys()
    assert len(list(tmp_path.iterdir())) == 6  # twelve images


def test_the_same_seed_draws_the_same(data: Path, sets) -> None:
    again = splits.training({"quality": ("kadid-10k",)}, source=source(data))[0]
    assert (again.rows == sets["quality", "kadid-10k"].rows).all()
    more = splits.training({"quality": ("kadid-10k",)}, source=source(data), seed=1)[0]
    assert not (more.preferred == again.preferred).all()


def test_a_missing_split_says_which_and_who_publishes_it(tmp_path: Path) -> None:
    folder = training_files.write(tmp_path, "hpdv2")
    (folder / "hpdv2/train.json").unlink()
    with pytest.raises(NotHere, match=r"hpdv2, examples of image-for-text: .*'hpdv2/train.json'.*ymhao/HPDv2; put it"):
        splits.training({"image-for-text": ("hpdv2",)}, source=source(tmp_path))
    with pytest.raises(NotHere, match=r"Fetch it: hf download .* belong into the same folder: hpdv2/ from hub"):
        splits.training({"image-for-text": ("hpdv2",)}, source=source(tmp_path / "elsewhere"))


def test_another_layout_and_an_empty_split_are_refused(tmp_path: Path) -> None:
    folder = training_files.write(tmp_path, "hpdv2")
    (folder / "hpdv2/train.json").write_text('[{"prompt": "a", "image_path": ["x", "y"]}]')
    with pytest.raises(BadInput, match=r"hpdv2, .*its table has no 'human_preference'.* public layout"):
        splits.training({"image-for-text": ("hpdv2",)}, source=source(tmp_path))
    (folder / "hpdv2/train.json").write_text("[]")
    with pytest.raises(BadInput, match="there is none in the training split"):
        splits.training({"image-for-text": ("hpdv2",)}, source=source(tmp_path))


def test_a_file_that_a_table_names_and_nobody_has_is_named(tmp_path: Path) -> None:
    folder = training_files.write(tmp_path, "nights")
    (folder / "nights/ref/3.png").unlink()
    (part,) = splits.training({"image-choice": ("nights",)}, source=source(tmp_path))
    with pytest.raises(NotHere, match="nights: its table names nights/ref/3.png"):
        part.keys()


def test_batches_mix_data_sets_of_a_task(sets) -> None:
    batch = batches(list(sets.values()), batch_size=32, seed=0, step=0)
    assert {task: len(rows) for task, rows in batch.items()} == dict.fromkeys(TASKS, 32)
    assert {row.dataset for row in batch["image-for-text"]} == {"hpdv2", "magicbrush", "hq-edit"}


def test_data_sets_are_chosen_by_task() -> None:
    chosen = splits.chosen(["image-for-text=hq-edit,hpdv2", "quality="])
    assert chosen["image-for-text"] == ("hpdv2", "hq-edit") and "quality" not in chosen
    assert chosen["image-choice"] == ("nights", "pieapp")
    assert splits.chosen([]) == splits.every()
    assert splits.chosen(["quality=drawn"], known={"quality": ("drawn", "other")}) == {"quality": ("drawn",)}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("hpdv2", "does not say which data sets a task has"),
        ("image-for-texts=hpdv2", "Did you mean 'image-for-text'"),
        ("image-for-text=hpdv", "No data set 'hpdv' has examples of image-for-text. Did you mean 'hpdv2'"),
        ("quality=hpdv2", "No data set 'hpdv2' has examples of quality. It has examples of image-for-text."),
    ],
)
def test_unknown_names_are_refused(option: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        splits.chosen([option])


def test_naming_a_task_twice_or_leaving_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="named twice"):
        splits.chosen(["quality=pipal", "quality=kadid-10k"])
    with pytest.raises(BadInput, match="No data set is left"):
        splits.chosen([f"{task}=" for task in TASKS])


def test_a_share_is_held_out_and_no_image_is_on_both_sides(sets) -> None:
    kadid = sets["quality", "kadid-10k"]
    train, held_out = splits.divided(kadid, share=0.2)
    assert len(train) + len(held_out) == len(kadid) and 0.05 < len(held_out) / len(kadid) < 0.4
    shown = [{name[-13:-10] for name in part.contents["image"]} for part in (train, held_out)]
    assert not shown[0] & shown[1] and len(shown[0] | shown[1]) == 72  # by reference image
    names = [
        {tuple(content.name() for content in part[row].contents) for row in range(0, len(part), 7)}
        for part in (train, held_out)
    ]
    whole = {tuple(content.name() for content in kadid[row].contents) for row in range(len(kadid))}
    assert names[0] | names[1] <= whole and not names[0] & names[1]


def test_examples_that_share_an_image_stay_together(data: Path) -> None:
    """Fifty prompts of three images each, in two pairs that share one image."""
    drawn = [
        Sample(name=f"{at}", reference=f"p{at}", alternatives=(f"{at}a", f"{at}{other}"), answer=0)
        for at in range(50)
        for other in "bc"
    ]
    part = splits.packed(drawn, task="image-for-text", dataset="own", files=Files.of("own", data))
    train, held_out = splits.divided(part, share=0.3)
    assert 10 <= len(held_out) <= 50 and len(train) + len(held_out) == 100
    assert not set(train.contents["image"]) & set(held_out.contents["image"])
    assert held_out[0].reference.text().removeprefix("p") == held_out.contents["image"][0][:-1]
    with pytest.raises(BadInput, match="A share of 1 of own cannot be held out"):
        splits.divided(part, share=1)


def test_a_blank_prompt_is_refused_by_name(data: Path) -> None:
    """Only a quality question has a prompt that is the same for all."""
    blank = Sample(name="x", reference=" ", alternatives=("1.jpg", "2.jpg"), answer=0)
    files = Files.of("own", data)
    with pytest.raises(BadInput, match=r"own, examples of image-for-text: the text that 1\.jpg and 2\.jpg .* blank"):
        splits.packed([blank], task="image-for-text", dataset="own", files=files)
    part = splits.packed([blank], task="quality", dataset="own", files=files)
    assert part.contents["text"] == (QUALITY_PROMPT,)


def test_an_image_held_out_of_one_task_is_trained_on_in_none(data: Path) -> None:
    """Forty images in questions of one task, and the same images in other pairs of another."""

    def part(task: str, shift: int) -> splits.FileExamples:
        drawn = [
            Sample(name=f"{at}", reference="p", alternatives=(f"{at}", f"{(at + shift) % 40}"), answer=at % 2)
            for at in range(0, 40, 2)
        ]
        return splits.packed(drawn, task=task, dataset="own", files=Files.of("own", data))

    parts = [part("image-for-text", 1), part("quality", 3)]
    train, held_out = splits.divided_all(parts)
    shown = [{name for part in side for name in part.contents["image"]} for side in (train, held_out)]
    assert all(shown) and not shown[0] & shown[1]
    alone = splits.divided(parts[0], share=splits.VALIDATION_SHARE)
    assert set(alone[0].contents["image"]) & set(shown[1])  # which the other task alone holds out


def test_an_image_that_is_held_out_under_another_name_is_not_trained_on(tmp_path: Path) -> None:
    """Two data sets may have the same files: what they hold decides."""
    training_files.write(tmp_path)
    folder = next(iter(sorted(path for path in tmp_path.rglob("*") if path.is_dir())))
    for name, level in (("a.png", 10), ("b.png", 20), ("c.png", 30), ("again.png", 10)):
        Image.new("RGB", (8, 8), (level, 0, 0)).save(folder / name)
    files = Files.of("own", folder)

    def part(*names: str) -> splits.FileExamples:
        drawn = [Sample(name=names[0], reference="p", alternatives=names, answer=0)]
        return splits.packed(drawn, task="quality", dataset="own", files=files)

    held_out = [part("a.png", "b.png")]
    assert splits.without_images_of([part("again.png", "c.png")], held_out) == []
    kept = part("c.png", "c.png")
    assert splits.without_images_of([kept, part("c.png", "again.png")], held_out) == [kept]


def test_a_data_set_whose_examples_hang_together_is_only_trained_on(data: Path) -> None:
    drawn = [Sample(name=f"{at}", reference="p", alternatives=("x", f"{at}"), answer=0) for at in range(20)]
    part = splits.packed(drawn, task="quality", dataset="own", files=Files.of("own", data))
    train, held_out = splits.divided_all([part])
    assert (sum(map(len, train)), held_out) == (20, [])


def test_at_most_so_many_examples_choose_the_stored_step(data: Path, monkeypatch) -> None:
    monkeypatch.setattr(splits, "VALIDATION_COUNT", 7)
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.9)
    drawn = [Sample(name=f"{at}", reference="p", alternatives=(f"{at}a", f"{at}b"), answer=0) for at in range(500)]
    part = splits.packed(drawn, task="quality", dataset="own", files=Files.of("own", data))
    [train], [held_out] = splits.divided_all([part])
    assert 1 <= len(held_out) <= 7 and len(train) > 450
