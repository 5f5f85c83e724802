"""A folder of images -> a manifest -> pairs a judge can rate, the same on every reading."""

import hashlib
import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from compute.io.files import replacing
from compute.tasks import data, image_lists
from compute.tasks.pairbench import making, manifest, pairs, pixels
from compute.tasks.pairbench.splits import IMAGE_SPLITS, SPLITS
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from tests.compute.tasks.pairbench.images import folder_of, picture


def made(folder, out, *, seed=0, splits=IMAGE_SPLITS):
    return making.make(image_lists.opened(folder), out=out, splits=splits, seed=seed)


@pytest.fixture
def written(tmp_path):
    return made(folder_of(tmp_path / "images", 6), tmp_path / "pairs.parquet")


def opened(file):
    return Image.open(io.BytesIO(file)).convert("RGB")


def test_each_item_has_an_identical_a_transformed_and_an_irrelevant_pair_in_every_split(written):
    assert written.splits == ("cj", "r", "gb", "ps", "et")
    for split in written.splits:
        assert written.counts()[split] == {"identical": 6, "transformed": 6, "irrelevant": 6}
        by_condition = pairs.load(written.path, split=split)
        assert tuple(by_condition) == data.CONDITIONS
        for condition, part in by_condition.items():
            assert (part.condition, part.transformations) == (condition, SPLITS[split].transformations)
            assert len(set(part.names)) == len(part.names) == 18
            scores = {"identical": 10, "transformed": 8 if condition == "sensitive" else 10, "irrelevant": 1}
            assert [scores[kind] for kind in part.types] == part.expected.tolist()
            assert part.sources.tolist() == [name.rpartition("/")[0] for name in part.names]
            assert set(part.templates) <= set(range(5))


def test_the_sides_of_a_pair_show_what_its_type_says(written):
    part = pairs.load(written.path, split="r")["sensitive"]
    for row, kind in enumerate(part.types):
        first, second = opened(part.first.read(row)), opened(part.second.read(row))
        pair = written.of("r")[row]
        assert first.tobytes() == Image.open(written.path.parent / "images" / pair.item).convert("RGB").tobytes()
        if kind == "identical":
            assert second.size == tuple(round(0.95 * side) for side in first.size)
            assert np.abs(np.asarray(second.resize(first.size), int) - np.asarray(first, int)).mean() < 4
        else:
            assert second.size == first.size and second.tobytes() != first.tobytes()
            assert (pair.second == pair.item) == (kind == "transformed")


def test_the_keys_are_known_without_making_an_image_and_name_one_content_each(written):
    contents = {}
    for split in written.splits:
        part = pairs.load(written.path, split=split)["invariant"]
        for column in data.columns(part):
            for row, key in enumerate(column.keys.tolist()):
                content = contents.setdefault(key, column.read(row))
                assert content == column.read(row)
    assert len(set(contents.values())) == len(contents)
    # Of 6 images: themselves and their 95% once for all splits; in each of 5 splits a transformed and an irrelevant
    # one, 5 applications to the first and to each of the three second images.
    assert len(contents) == 6 * (1 + 1 + 5 * (1 + 1 + 5 + 3 * 5))


def test_an_image_is_made_once_for_all_splits_and_models_of_a_run(written, monkeypatch):
    drawn, real, source, shown = [], pixels.perturb, Source(), []

    def counted(image, **given):
        drawn.append((given["kind"], given["seed"]))
        return real(image, **given)

    monkeypatch.setattr(pixels, "perturb", counted)
    for _ in range(2):
        column = pairs.load(written.path, split="ps", source=source)["invariant"].second_variants[1]
        shown.append([column.image(row).tobytes() for row in range(len(column))])
    assert shown[0] == shown[1] and len(drawn) == len(set(drawn)) >= len(column)


def test_the_choices_are_the_same_in_every_process_and_version(written):
    drawn = [(pair.split, pair.name, pair.second, pair.seed, pair.template) for pair in written.pairs]
    assert hashlib.sha256(repr(drawn).encode()).hexdigest()[:16] == "a9df8bbd190a8735"


def test_another_seed_draws_other_pairs_and_another_image_leaves_the_draws_of_the_rest(written, tmp_path):
    other = made(tmp_path / "images", tmp_path / "other.parquet", seed=1)
    assert [pair.seed for pair in other.pairs] != [pair.seed for pair in written.pairs]
    assert [pair.strength for pair in other.of("cj")] != [pair.strength for pair in written.of("cj")]
    folder_of(tmp_path / "images", 7)
    more = {(pair.split, pair.name): pair for pair in made(tmp_path / "images", tmp_path / "more.parquet").pairs}
    for pair in written.pairs:
        if pair.type != "irrelevant":
            assert more[pair.split, pair.name] == pair


def test_an_irrelevant_partner_is_neither_the_item_nor_a_near_copy_of_it(tmp_path):
    folder = folder_of(tmp_path / "images", 3)
    for number in range(3):
        picture(number).resize((40, 30)).save(folder / f"copy-{number}.jpg", quality=70)
        (folder / f"same-{number}.png").write_bytes((folder / f"{number:04d}.png").read_bytes())
    for seed in range(2):
        for pair in made(folder, tmp_path / f"{seed}.parquet", seed=seed, splits=(SPLITS["cj"],)).pairs:
            if pair.type == "irrelevant":
                assert Path(pair.item).stem[-1] != Path(pair.second).stem[-1]


def test_an_unreadable_image_is_named_and_can_be_left_out(tmp_path):
    folder = folder_of(tmp_path / "images", 3)
    (folder / "broken.png").write_bytes(b"\x89PNG broken")
    images = image_lists.opened(folder)
    with pytest.raises(making.BadItem, match="broken.png"):
        making.scanned(images)
    skipped = []
    items = making.scanned(images, skipped=lambda error: skipped.append(error.item))
    assert skipped == ["broken.png"] and len(items) == 3
    (folder / "broken.png").unlink()
    picture(5).resize((30, 15)).save(folder / "small.png")  # for a metric
    with pytest.raises(making.BadItem, match="small.png"):
        making.scanned(image_lists.opened(folder))


def test_a_manifest_and_its_images_may_be_moved_together_and_need_no_source(written, tmp_path):
    before = pairs.load(written.path, split="ps")["sensitive"].second.read(1)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "images" / "0002.png").unlink()
    for name in ("pairs.parquet", "pairs-images.parquet"):
        (tmp_path / name).rename(moved / name)
    assert pairs.load(moved / "pairs.parquet", split="ps")["sensitive"].second.read(1) == before


def test_images_that_are_gone_or_missing_are_named(written, tmp_path):
    stored = tmp_path / "pairs-images.parquet"
    table = pq.read_table(stored)
    pq.write_table(table.slice(1), stored)
    with pytest.raises(NotHere, match=re.escape(f"an image of {written.pairs[0].first}")):
        pairs.load(written.path, split="cj")
    stored.unlink()
    with pytest.raises(NotHere, match="pairs-images.parquet"):
        pairs.load(written.path, split="cj")
    rewritten(written.path, heading={"stored": ""})  # as earlier versions wrote it
    with pytest.raises(NotHere, match="likeness pairs make"):
        pairs.load(written.path, split="cj")


def rewritten(path, *, heading):
    table = pq.read_table(path)
    if not isinstance(heading, bytes):
        heading = json.dumps(json.loads(table.schema.metadata[manifest.HEADING]) | heading).encode()
    with replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata({manifest.HEADING: heading}), draft)


@pytest.mark.parametrize(
    "column, value, message",
    [
        ("strength", 1e5, "strength"),  # an image grown to fill the memory
        ("strength", "large", "strength"),
        ("seed", -1, "seed"),
        ("template", 5, "template"),
        ("change", "os.system", "os.system"),
        ("split", "up", "split"),
        ("type", "up", "type"),
        ("first_seeds", [None], "first_seeds"),
        ("second_seeds", [], "strengths"),  # strengths without seeds
        ("second", "", "second side"),
        ("text", "a", "second side"),  # next to the second image
        ("item", "0000.png", "twice"),
    ],
)
def test_what_no_pair_can_hold_is_refused_before_an_image_is_made(written, column, value, message):
    """A manifest from elsewhere, with this value in every row of a column."""
    table = pq.read_table(written.path)
    changed = table.set_column(table.column_names.index(column), column, pa.array([value] * len(table)))
    with replacing(written.path) as draft:
        pq.write_table(changed, draft)
    with pytest.raises(BadInput, match=message):
        manifest.read(written.path)


@pytest.mark.parametrize(
    "heading, message",
    [
        (b"{sources", "heading"),
        (b"[]", "heading"),
        ({"stored": "../../images.parquet"}, "stored"),
        ({"synthetic": 3}, "synthetic"),
        ({"version": 99}, "99"),
    ],
)
def test_a_damaged_heading_and_another_version_are_refused(written, heading, message):
    rewritten(written.path, heading=heading)
    with pytest.raises(BadInput, match=message):
        manifest.read(written.path)
