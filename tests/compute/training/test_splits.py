"""Training splits of Table 5 on small copies in the public layouts: labels, no evaluated image, and what is missing."""

import numpy as np
import pytest

from compute.catalog import shipped
from compute.content import decoding
from compute.tasks.source import Source
from compute.tasks.unisim import image_pairs
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.training import splits
from compute.training.examples import TASKS, packed
from compute.types import BadInput, NotHere
from tests.compute.tasks import unisim_files
from tests.compute.tasks.files import put
from tests.compute.training.small_training import examples, listed


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Of KADID-10k two of 25 distortions."""
    folder = tmp_path_factory.mktemp("splits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_pairs, "KADID_DISTORTIONS", range(1, 3))
        unisim_files.write(folder, training=True)
        yield folder


def rows(*datasets):
    """Of these data sets alone."""
    named = {tuple(each.split("=")) for each in datasets}
    return [row for row in splits.SPLITS if (row.task, row.dataset) in named]


def source(folder, *, cache=None):
    return Source(root=folder, offline=True, cache=cache)


@pytest.fixture(scope="module")
def sets(data, tmp_path_factory):
    parts = splits.training(splits.SPLITS, source=source(data, cache=tmp_path_factory.mktemp("keys")))
    return {(part.task, part.dataset): part for part in parts}


def words(column, row):
    """A text, or an image's file."""
    return column.read(row) if column.modality == "text" else column.name(row).partition(", ")[2]


def red(column, row):
    return decoding.decode(column.read(row)).getpixel((0, 0))[0]


def questions(part, read=words):
    """Reference, preferred and other alternative of every row."""
    reference, *both = part.columns
    rows = enumerate(part.data.answer.tolist())
    return [(words(reference, row), read(both[good], row), read(both[1 - good], row)) for row, good in rows]


def test_every_data_set_of_table_5_is_read(sets):
    counts = [1, 2, 6, 1, 2, 2, 2, 72 * 2 * 5, 2, 2 * 2]
    assert [(*key, len(part)) for key, part in sets.items()] == [
        (row.task, row.dataset, count) for row, count in zip(splits.SPLITS, counts, strict=True)
    ]
    for part in sets.values():
        assert (part.columns[0].modality, part.columns[1].modality) == TASKS[part.task]


@pytest.mark.parametrize(
    "key, ends",
    [
        ("image-choice=nights", [("nights/ref/3.png", "3_1.png", "3_0.png")]),
        ("image-choice=pieapp", [("scene2.png", "a.png", "b.png"), ("scene2.png", "c.png", "b.png")]),
        ("image-for-text=magicbrush", [("", "d.png", ".png")]),
        ("image-for-text=hq-edit", [("a bush", "d.png", "c.png"), ("a tree", "c.png", "d.png")]),
        ("text-for-image=hq-edit", [(".png", "a tree", "a bush"), (".png", "a bush", "a tree")]),
        ("text-for-image=polaris", [("", "A bird.", "a boat"), ("", "A wing.", "a boat")]),
        ("quality=pieapp", [("A high quality photo.", "reference_images/train/scene2.png", ".png")] * 2),
    ],
)
def test_the_preferred_alternative_is_what_the_data_say(sets, key, ends):
    found = sorted(questions(sets[tuple(key.split("="))]))
    assert len(found) == len(ends)
    assert all(all(map(str.endswith, each, end)) for each, end in zip(found, ends, strict=True)), found


def test_scores_and_severities_decide(sets):
    """Of HPDv2 and PIPAL the redder image has the higher or the lower score."""
    hpdv2, pipal = (questions(sets[key], red) for key in (("image-for-text", "hpdv2"), ("quality", "pipal")))
    assert all(good > bad for _, good, bad in hpdv2) and hpdv2[2][0] == "a 2"
    assert all(good < bad for _, good, bad in pipal)
    kadid = questions(sets["quality", "kadid-10k"])
    assert all(good[:-7] == bad[:-7] and good < bad for _, good, bad in kadid) and len({*kadid}) == len(kadid)
    assert 0.45 < sets["quality", "kadid-10k"].data.answer.mean() < 0.55


def test_nothing_that_is_evaluated_is_trained_on(sets, data, monkeypatch):
    evaluated = [shipped().task(key) for key in sorted({row.evaluated for row in splits.SPLITS})]
    monkeypatch.setattr(splits, "evaluated_tasks", lambda: evaluated)
    assert splits.check_leaks(list(sets.values()), source=source(data)).endswith(" of 10 evaluated tasks")


def test_a_missing_split_another_layout_and_a_file_that_a_table_names_are_named(tmp_path):
    folder = unisim_files.write(tmp_path, "hpdv2", "nights")
    hpdv2 = rows("image-for-text=hpdv2")
    (folder / "hpdv2/train.json").write_text('[{"prompt": "a", "image_path": ["x", "y"]}]')
    with pytest.raises(BadInput, match="human_preference"):
        splits.training(hpdv2, source=source(tmp_path))
    (folder / "hpdv2/train.json").unlink()
    with pytest.raises(NotHere, match="ymhao/HPDv2"):
        splits.training(hpdv2, source=source(tmp_path))
    with pytest.raises(NotHere, match="hpdv2/ from"):
        splits.training(hpdv2, source=source(tmp_path / "elsewhere"))
    (folder / "nights/ref/3.png").unlink()
    with pytest.raises(NotHere, match="nights/ref/3.png"):
        splits.training(rows("image-choice=nights"), source=source(tmp_path))


def test_data_sets_are_chosen_by_task():
    def names(*given, **more):
        return [(row.task, row.dataset) for row in splits.chosen(*given, **more)]

    chosen = names(["image-for-text=hpdv2,hq-edit", "quality="])
    assert [task for task, _ in chosen] == ["image-choice"] * 2 + ["image-for-text"] * 2 + ["text-for-image"] * 2
    assert chosen[:4:3] == [("image-choice", "nights"), ("image-for-text", "hq-edit")]
    assert names(["quality=pipal"], tasks=["quality"]) == [("quality", "pipal")]


@pytest.mark.parametrize(
    "given, word",
    [
        ({"datasets": ["hpdv2"]}, "does not map"),
        ({"datasets": ["image-for-texts=x"]}, "image-for-text"),
        ({"datasets": ["quality=hpdv2"]}, "hpdv2"),
        ({"tasks": ["qualities"]}, "'quality'"),
        ({"datasets": ["quality="], "tasks": ["quality"]}, "No data set"),
    ],
)
def test_what_cannot_be_chosen_is_named(given, word):
    with pytest.raises(BadInput, match=word):
        splits.chosen(**given)


def of_names(data, *pairs, task="quality"):
    """Examples of a data set of one's own whose alternatives have these file names."""
    drawn = [
        Sample(name=str(at), reference=f"p{at}", alternatives=pair, answer=at % 2) for at, pair in enumerate(pairs)
    ]
    return packed(drawn, task=task, dataset="own", files=Files.of("own", data))


def names(part):
    """Of the images, column after column."""
    return [column.name(row).rpartition(", ")[2] for column in part.images for row in range(len(part))]


@pytest.fixture
def numbered(tmp_path):
    """Files 0 to 399 of as many contents, and `again` with the first's."""
    return put(tmp_path, {"again": "content 0", **{f"{at}": f"content {at}" for at in range(400)}})


def test_a_share_is_held_out_and_no_image_is_on_both_sides(sets, numbered):
    """Of one data set by connected examples, of KADID-10k by reference image, and between two tasks by content."""
    kadid = sets["quality", "kadid-10k"]
    [train], [held] = splits.divided([kadid])
    images = [{each[-13:-10] for each in names(part)} for part in (train, held)]
    assert not images[0] & images[1] and 1 <= len(held) <= splits.VALIDATION_COUNT
    chains = [(str(at), str(at + 1)) for at in range(400) if at % 4 < 3]  # of 4 files each
    across = [(str(at), str((at + 200) % 400)) for at in range(0, 400, 3)]
    parts = [of_names(numbered, *chains), of_names(numbered, *across, task="image-for-text")]
    train, held = splits.divided(parts)
    keys = [{key for part in side for column in part.images for key in column.keys.tolist()} for side in (train, held)]
    assert all(keys) and not keys[0] & keys[1]
    assert 10 < len(held[0]) < 60


def test_an_image_that_is_held_out_under_another_name_is_not_trained_on(numbered, monkeypatch):
    first, second = of_names(numbered, ("0", "1"), ("2", "3")), of_names(numbered, ("again", "5"), ("6", "7"))
    held = {id(first): np.array([True, False]), id(second): np.array([False, False])}
    monkeypatch.setattr(splits, "held_out", lambda part, share: held[id(part)])
    train, validation = splits.divided([first, second])
    assert [names(part) for part in train] == [["2", "3"], ["6", "7"]]
    assert [names(part) for part in validation] == [["0", "1"]]


def test_what_hangs_together_is_only_trained_on_and_few_examples_choose_the_stored_step(numbered, monkeypatch):
    train, held = splits.divided([of_names(numbered, *(("0", str(at)) for at in range(1, 20)))])
    assert (sum(map(len, train)), held) == (19, [])
    monkeypatch.setattr(splits, "VALIDATION_COUNT", 7)
    monkeypatch.setattr(splits, "VALIDATION_SHARE", 0.9)
    [train], [held] = splits.divided([of_names(numbered, *((str(at), str(at + 1)) for at in range(0, 400, 2)))])
    assert 1 <= len(held) <= 7 and len(train) > 170


def pairs(*files, task="quality"):
    """Each of the files is an alternative once, the other alternative is made up; of captions it is the reference."""
    rows = [(file, "a", "b") if task == "text-for-image" else ("p", b"made up", file) for file in files]
    return listed(task, rows, [0] * len(files))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Those of NIGHTS, evaluated and of the training split."""
    return unisim_files.write(tmp_path_factory.mktemp("data"), "nights", "pie_app") / "nights"


@pytest.fixture
def check(images, monkeypatch):
    """Compares with two tasks that are here and one that is not."""
    keys = ("unisim/pieapp-iqa", "unisim/nights", "unisim/koniq-10k")
    monkeypatch.setattr(splits, "evaluated_tasks", lambda: [shipped().task(key) for key in keys])
    return lambda *sets: splits.check_leaks(sets, source=Source(root=images.parents[2], offline=True))


def test_what_nobody_evaluates_passes_and_what_is_not_here_is_counted(images, check):
    """NIGHTS' row 3 is of the training split: its images lie beside the evaluated ones."""
    said = check(pairs(b"one", (images / "ref/3.png").read_bytes()), examples("image-choice"))
    assert "2 evaluated tasks; 1 tasks" in said and "of 0 images" not in said


@pytest.mark.parametrize(
    "name, task", [("ref/0.png", "quality"), ("distort/1_1.png", "quality"), ("ref/1.png", "text-for-image")]
)
def test_an_evaluated_image_in_whatever_role_is_a_hit_and_named(images, check, name, task):
    part = pairs(b"one", (images / name).read_bytes(), task=task)
    with pytest.raises(BadInput, match=f"noise, image 1.*nights/{name}' of unisim/nights"):
        check(pairs(b"harmless"), part)
    with pytest.raises(BadInput, match=f"^{splits.LISTED + 1} ") as error:
        check(*[part] * (splits.LISTED + 1))
    assert str(error.value).count(" of unisim/nights") == splits.LISTED


def test_the_tasks_that_are_compared_are_those_with_items():
    keys = {task.key for task in splits.evaluated_tasks()}
    assert {"unisim/nights", "unisim/roxford", "mini/image-choice", "mini/pairs-sp"} <= keys
    assert not any(key.startswith("mieb/") for key in keys)
