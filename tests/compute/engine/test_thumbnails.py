"""Small pictures: of which images, how large, and added to."""

import io
import json

import pandas as pd
import pytest
from PIL import Image

from compute.content import items
from compute.database import store
from compute.engine import thumbnails
from compute.tasks.data import Clusters, Labelled
from tests.compute.live.pictures import png


def shown(*keys):
    """A run's items, one a list of keys."""
    details = [json.dumps({"images": [key.decode() for key in some]}) for some in keys]
    return pd.DataFrame({"item": [f"i{row}" for row in range(len(keys))], "detail": details})


@pytest.mark.parametrize("size, small", [((640, 320), (64, 32)), ((30, 90), (21, 64)), ((10, 20), (10, 20))])
def test_the_longer_side_is_64_pixels_at_most(size, small):
    with Image.open(io.BytesIO(thumbnails.thumbnail(png("red", size)))) as drawn:
        assert (drawn.format, drawn.size) == ("WEBP", small)


def test_only_what_items_show_is_drawn_and_more_is_added(tmp_path):
    column = items.images([*map(png, ("red", "green", "blue"))] + [b"bad"], of="t")
    red, _, blue, bad = column.keys.tolist()
    data = {"default": Clusters(test=Labelled(names=(), items=column, labels=None, classes=()))}
    path = thumbnails.path(tmp_path, "b/t")
    first = shown([red, bad], [b""])
    for run, added, held in (
        (first, 1, {red}),
        (first, 0, {red}),
        (shown([red], [blue, b"0" * 32]), 1, {red, blue}),
    ):
        before = path.stat().st_mtime_ns if path.exists() else 0
        assert thumbnails.add(tmp_path, task="b/t", data=data, items=run) == added
        assert set(store.read_parquet(path)["image"]) == {key.decode() for key in held}
        assert (path.stat().st_mtime_ns == before) == (added == 0)
    assert list(thumbnails.files(tmp_path)) == [("b/t", path)]
    assert len(thumbnails.shown(shown(*([f"{row}".encode()] for row in range(9))), most=3)) == 3
