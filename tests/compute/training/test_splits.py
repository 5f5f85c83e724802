"""Training splits of Table 5 on small copies in the public layouts: labels, no evaluated image, and what is missing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from compute.catalog import shipped
from compute.tasks.source import Source
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.training import leaks, splits
from compute.training.examples import TASKS
from compute.types import BadInput, NotHere
from tests.compute.tasks import unisim_files
from tests.compute.tasks.files import put


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("splits")
    unisim_files.write(folder, training=True)
    return folder


def source(folder: Path, *, cache: Path | None = None) -> Source:
    return Source(root=folder, offline=True, cache=cache)


@pytest.fixture(scope="module")
def sets(data, tmp_path_factory):
    parts = splits.training(splits.chosen([]), source=source(data, cache=tmp_path_factory.mktemp("keys")))
    return {(part.task, part.dataset): part for part in parts}


def preferred(part: splits.FileExamples, row: int, *, other: bool = False):
    example = part[row]
    return example.alternatives[example.preferred ^ other]


other = partial(preferred, other=True)


def red(content) -> int:
    return content.image().getpixel((0, 0))[0]


def test_every_data_set_of_table_5_is_read(sets):
    counts = [1, 2, 6, 1, 2, 2, 2, 72 * 25 * 5, 2, 2 * 2]
    assert [(*key, len(part)) for key, part in sets.items()] == [
        (row.task, row.dataset, count) for row, count in zip(splits.SPLITS, counts, strict=True)
    ]
    for part in sets.values():
        example = part[0]
        assert (example.reference.modality, example.alternatives[0].modality) == TASKS[part.task]


def test_the_preferred_alternative_is_what_the_data_say(sets):
    nights, hpdv2 = sets["image-choice", "nights"], sets["image-for-text", "hpdv2"]
    assert nights[0].reference.name == "nights, nights/ref/3.png" and nights[0].preferred == 1
    assert all(red(preferred(hpdv2, row)) > red(other(hpdv2, row)) for row in range(6))
    assert hpdv2[2].reference.text() == "a 2"
    for task, dataset, names in (
        ("image-choice", "pieapp", ["a.png", "c.png"]),
        ("image-for-text", "magicbrush", ["d.png"]),
        ("image-for-text", "hq-edit", ["c.png", "d.png"]),
    ):
        part = sets[task, dataset]
        assert [preferred(part, row).name[-5:] for row in range(len(part))] == names
    assert [sets["image-for-text", "hq-edit"][row].reference.text() for row in range(2)] == ["a tree", "a bush"]
    described, polaris = sets["text-for-image", "hq-edit"], sets["text-for-image", "polaris"]
    assert [preferred(described, row).text() for row in range(2)] == ["a tree", "a bush"]
    assert {preferred(polaris, row).text() for row in range(2)} == {"A bird.", "A wing."}
    assert {other(polaris, row).text() for row in range(2)} == {"a boat"}


def test_quality_prefers_the_milder_the_higher_scored_and_the_reference(sets):
    kadid = sets["quality", "kadid-10k"]
    for row in range(0, len(kadid), 517):
        good, bad = preferred(kadid, row).name, other(kadid, row).name
        assert good[:-7] == bad[:-7] and good < bad
    assert 0.45 < kadid.preferred.mean() < 0.55
    assert len(set(map(bytes, np.sort(kadid.rows[:, 1:])))) == len(kadid)  # no pair twice
    pieapp = sets["quality", "pieapp"]
    assert all("reference_images/train" in preferred(pieapp, row).name for row in range(2))
    pipal = sets["quality", "pipal"]
    assert all(red(preferred(pipal, row)) < red(other(pipal, row)) for row in range(4))
    assert {part[0].reference.text() for part in (kadid, pieapp, pipal)} == {"A high quality photo."}


def test_nothing_that_is_evaluated_is_trained_on(sets, data):
    evaluated = [shipped().task(key) for key in sorted({row.evaluated for row in splits.SPLITS})]
    shown = leaks.evaluated_images(evaluated, source=source(data))
    leaks.check(list(sets.values()), shown)
    assert len(shown.tasks) == 10 and not shown.missing


def test_archives_are_read_as_folders_are(tmp_path, sets):
    unisim_files.write(tmp_path, "nights", "PIPAL", packed=True, training=True)
    for part in splits.training({"quality": ("pipal",), "image-choice": ("nights",)}, source=source(tmp_path)):
        assert part.keys().tolist() == sets[part.task, part.dataset].keys().tolist()


def test_keys_are_the_contents_own_and_read_once_until_a_file_changes(tmp_path, monkeypatch):
    folder = unisim_files.write(tmp_path / "data", "nights")
    (part,) = splits.training({"image-choice": ("nights",)}, source=source(tmp_path / "data", cache=tmp_path / "keys"))
    before = part.keys()
    assert before[0].tolist() == [content.key() for content in part[0].contents]
    with monkeypatch.context() as patch:
        patch.setattr(splits.FileExamples, "_read", lambda *_: pytest.fail("read again"))
        assert part.keys().tolist() == before.tolist()
    (folder / "nights/ref/3.png").write_bytes(b"another")
    after = part.keys()
    assert before[0, 0] != after[0, 0] and before[0, 1] == after[0, 1]


def test_a_missing_split_another_layout_and_a_file_that_a_table_names_are_named(tmp_path):
    folder, chosen = unisim_files.write(tmp_path, "hpdv2", "nights"), {"image-for-text": ("hpdv2",)}
    (folder / "hpdv2/train.json").write_text('[{"prompt": "a", "image_path": ["x", "y"]}]')
    with pytest.raises(BadInput, match="human_preference"):
        splits.training(chosen, source=source(tmp_path))
    (folder / "hpdv2/train.json").unlink()
    with pytest.raises(NotHere, match="ymhao/HPDv2"):
        splits.training(chosen, source=source(tmp_path))
    with pytest.raises(NotHere, match="hpdv2/ from"):
        splits.training(chosen, source=source(tmp_path / "elsewhere"))
    (folder / "nights/ref/3.png").unlink()
    (part,) = splits.training({"image-choice": ("nights",)}, source=source(tmp_path))
    with pytest.raises(NotHere, match="nights/ref/3.png"):
        part.keys()


def test_data_sets_are_chosen_by_task():
    chosen = splits.chosen(["image-for-text=hpdv2,hq-edit", "quality="])
    assert (chosen["image-for-text"], chosen["quality"]) == (("hpdv2", "hq-edit"), ())
    assert chosen["image-choice"] == ("nights", "pieapp")
    for option, word in (
        ("hpdv2", "does not map"),
        ("image-for-texts=x", "image-for-text"),
        ("quality=hpdv2", "hpdv2"),
    ):
        with pytest.raises(BadInput, match=word):
            splits.chosen([option])


def of_names(data: Path, *pairs: tuple[str, str], task: str = "quality"):
    """Examples of a data set of one's own whose alternatives have these file names."""
    drawn = [
        Sample(name=str(at), reference=f"p{at}", alternatives=pair, answer=at % 2) for at, pair in enumerate(pairs)
    ]
    return splits.packed(drawn, task=task, dataset="own", files=Files.of("own", data), cache=None)


@pytest.fixture
def numbered(tmp_path):
    """Files 0 to 399 of as many contents, and `again` with the first's."""
    return put(tmp_path, {"again": "content 0", **{f"{at}": f"content {at}" for at in range(400)}})


def test_a_share_is_held_out_and_no_image_is_on_both_sides(sets, numbered):
    """Of one data set by connected examples, of KADID-10k by reference image, and between two tasks by content."""
    kadid = sets["quality", "kadid-10k"]
    [train], [held] = splits.divided([kadid])
    shown = [{name[-13:-10] for name in part.contents["image"]} for part in (train, held)]
    assert not shown[0] & shown[1] and 1 <= len(held) <= splits.VALIDATION_COUNT
    chains = [(str(at), str(at + 1)) for at in range(400) if at % 4 < 3]  # of 4 files each
    across = [(str(at), str((at + 200) % 400)) for at in range(0, 400, 3)]
    parts = [of_names(numbered, *chains), of_names(numbered, *across, task="image-for-text")]
    train, held = splits.divided(parts)
    keys = [{key for part in side for key in part.image_keys().ravel().tolist()} for side in (train, held)]
    assert all(keys) and not keys[0] & keys[1]
    assert 10 < len(held[0]) < 60


def test_an_image_that_is_held_out_under_another_name_is_not_trained_on(numbered, monkeypatch):
    first, second = of_names(numbered, ("0", "1"), ("2", "3")), of_names(numbered, ("again", "5"), ("6", "7"))
    held = {id(first): np.array([True, False]), id(second): np.array([False, False])}
    monkeypatch.setattr(splits, "held_out", lambda part, share: held[id(part)])
    train, validation = splits.divided([first, second])
    assert [part.contents["image"] for part in train] == [("2", "3"), ("6", "7")]
    assert [part.contents["image"] for part in validation] == [("0", "1")]


def test_what_hangs_together_is_only_trained_on_and_few_examples_choose_the_stored_step(numbered, monkeypatch):
    train, held = splits.divided([of_names(numbered, *(("0", str(at)) for at in range(1, 20)))])
    assert (sum(map(len, train)), held) == (19, [])
    monkeypatch.setattr(splits, "VALIDATION_COUNT", 7)
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.9)
    [train], [held] = splits.divided([of_names(numbered, *((str(at), str(at + 1)) for at in range(0, 400, 2)))])
    assert 1 <= len(held) <= 7 and len(train) > 170
