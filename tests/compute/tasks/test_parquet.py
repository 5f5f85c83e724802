"""Tables of hub data sets, written by the hub's own library (`datasets`) and read by ours."""

import numpy as np
import pytest

from compute.content.items import content_key
from compute.tasks import parquet
from compute.types import BadInput, NotHere
from tests.compute.tasks import hub_files


def pictures(count):
    return hub_files.table(
        {"image": [hub_files.image(at) for at in range(count)], "label": [at % 2 for at in range(count)]}
    )


def opened(folder, split="test"):
    return parquet.table(folder, repo="org/set", split=split)


@pytest.mark.parametrize("card", [True, False])
def test_images_of_all_shards_in_order_with_their_bytes_and_keys(tmp_path, card):
    tables = {"test": pictures(5), "train": pictures(2)}
    hub_files.write(tmp_path, tables, card=card, shards=2)
    table = opened(tmp_path)
    column = table.images("image")
    assert len(table) == len(column) == 5
    for at in (4, 0, 3):
        data = hub_files.png(hub_files.image(at))
        assert column.read(at) == data
        assert column.keys[at] == content_key(data)
    assert column.name(3) == "org/set test, image 3"
    assert parquet.splits(tmp_path) == ("test", "train")


def test_lists_of_images_are_a_column_a_place(tmp_path):
    lists = [[hub_files.image(1), hub_files.image(2)], [hub_files.image(3), hub_files.image(4)]]
    hub_files.write(tmp_path, {"test": {"images": lists}})
    first, second = opened(tmp_path).image_columns("images")
    assert second.read(0) == hub_files.png(hub_files.image(2))
    assert first.keys[1] == content_key(hub_files.png(hub_files.image(3)))


def test_keys_are_read_from_files_once_and_anew_when_a_file_changes(tmp_path):
    data, cache = tmp_path / "data", tmp_path / "cache"
    hub_files.write(data, {"test": pictures(3)})
    first = opened(data).images("image", cache=cache).keys
    kept = list(cache.rglob("*.npy"))
    assert len(kept) == 1
    marked = np.load(kept[0])
    marked[0] = b"from the cache"
    np.save(kept[0], marked)
    assert opened(data).images("image", cache=cache).keys[0] == b"from the cache"
    hub_files.write(data, {"test": pictures(4)})
    anew = opened(data).images("image", cache=cache).keys
    assert anew[:3].tolist() == first.tolist()
    assert len(anew) == 4


def test_what_is_missing_or_half_fetched_is_named(tmp_path):
    hub_files.write(tmp_path, {"test": pictures(3)})
    with pytest.raises(NotHere, match="'dev'"):
        opened(tmp_path, "dev")
    with pytest.raises(BadInput, match="'img'"):
        opened(tmp_path).images("img")
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="half-fetched"):
        len(opened(tmp_path))
