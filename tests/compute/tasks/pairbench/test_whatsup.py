"""Images of two objects in a spatial relation: the layout of What's Up, and the counts of Table 8."""

from collections import Counter

import pytest

from compute.tasks import image_lists
from compute.tasks.pairbench import making, whatsup
from compute.tasks.pairbench.splits import IMAGE_SPLITS, SPATIAL_SPLITS, SPLITS
from compute.types import BadItem
from tests.compute.tasks.files import put
from tests.compute.tasks.pairbench.images import folder_of

ON_SIDES = ("to the left of", "to the right of", "on", "under")


def table_of(folder, groups, *, side=48):
    """What's Up's JSON for groups of so many images of the same two objects, each in another relation."""
    folder_of(folder / "controlled_images", sum(groups), side=side)
    rows = []
    for group, size in enumerate(groups):
        captions = [f"A mug {group} {relation} a knife {group}" for relation in ON_SIDES]
        for at in range(size):
            options = [captions[at], *captions[:at], *captions[at + 1 :]]
            rows.append({"image_path": f"data/controlled_images/{len(rows):04d}.png", "caption_options": options})
    return put(folder, {"controlled_images_dataset.json": rows}) / "controlled_images_dataset.json"


def made(table, out, **options):
    images, shows = whatsup.read(table)
    return making.make(images, shows=shows, out=out, **({"splits": SPATIAL_SPLITS} | options))


def test_counts_are_those_of_table_8(tmp_path):
    """500 images: 3,000 comparisons a split; 418 and 408 of What's Up: 3,344 and 3,264."""
    images = image_lists.opened(folder_of(tmp_path / "coco", 500, side=16))
    drawn = making.draw(making.scanned(images), splits=IMAGE_SPLITS)
    assert Counter(pair.split for pair in drawn) == dict.fromkeys(("cj", "r", "gb", "ps", "et"), 3_000 // 2)
    for name, groups, total in (("a", [4] * 100 + [3] * 6, 3_344), ("b", [4] * 102, 3_264)):
        assert sum(groups) == {"a": 418, "b": 408}[name]
        images, shows = whatsup.read(table_of(tmp_path / name, groups, side=16))
        drawn = list(making.draw(making.scanned(images, shows=shows), splits=SPATIAL_SPLITS))
        assert Counter(pair.split for pair in drawn) == dict.fromkeys((each.key for each in SPATIAL_SPLITS), total // 2)
        # The table's new data points: none in SP, else one for each second image but the identical one.
        for split in SPLITS.keys() & {pair.split for pair in drawn}:
            new = {pair.seed for pair in drawn if pair.split == split and pair.change and pair.type != "identical"}
            assert len(new) == (0 if split in ("sp", "sp-text") else 3 * sum(groups))


@pytest.fixture
def written(tmp_path):
    return made(table_of(tmp_path, [4, 4, 3]), tmp_path / "pairs.parquet")


def test_a_counterpart_shows_the_same_objects_in_another_relation(written, tmp_path):
    _, shows = whatsup.read(tmp_path / "controlled_images_dataset.json")
    for split in ("sp", "sp-et"):
        seen = {}
        for pair in written.of(split):
            first, second = shows[pair.first], shows[pair.second]
            match pair.type:
                case "identical":
                    assert pair.first == pair.second and pair.change == "resize"
                case "irrelevant":
                    assert first.objects != second.objects
                case _:
                    assert first.objects == second.objects and first.relation != second.relation
                    seen.setdefault(pair.item, set()).add(second.relation)
            assert (pair.change == "elastic") == (split == "sp-et" and pair.type != "identical")
        assert {len(relations) for relations in seen.values()} == {2}


def test_objects_and_relation_are_those_of_the_first_caption(tmp_path):
    options = ("A cup left of a plate.", "The box right of a plate", "A dog under a cat", "A cat under a dog")
    folder_of(tmp_path, 1)
    put(tmp_path, {"table.json": [{"image_path": "x/0000.png", "caption_options": list(options)}]})
    _, shows = whatsup.read(tmp_path / "table.json")
    captions = tuple(zip(("left of", "right of", "under"), options, strict=False))
    assert shows == {"0000.png": whatsup.Shows(("cup", "plate"), "left of", captions)}


def test_captions_change_the_relation_word_alone(written, tmp_path):
    _, shows = whatsup.read(tmp_path / "controlled_images_dataset.json")
    for pair in written.of("sp-text"):
        own = shows[pair.item]
        captions = dict(own.captions)
        match pair.type:
            case "identical":
                assert pair.text == captions[own.relation]
            case "irrelevant":
                assert pair.text not in captions.values()
                assert pair.text in {text for other in shows.values() for _, text in other.captions}
            case _:
                assert pair.text != captions[own.relation] and pair.text in captions.values()
    texts = [pair.text for pair in written.of("sp-text") if pair.type.startswith("transformed")]
    assert len(texts) == 2 * 11


def test_an_image_without_a_counterpart_is_named_and_can_be_left_out(tmp_path):
    table = table_of(tmp_path, [4, 1])
    with pytest.raises(BadItem, match="0004.png: the table has no image of its objects in another spatial relation"):
        made(table, tmp_path / "pairs.parquet")
    lines = []
    left = made(table, tmp_path / "pairs.parquet", splits=(SPLITS["sp"],), skip_bad=True, report=lines.append)
    assert left.counts()["sp"].total() == 4 * 4 and "0004.png" in lines[0]
