"""Near-duplicates within a data set and across its splits, on real photographs."""

import io

import numpy as np
from PIL import Image

from compute.content.items import images
from compute.engine.checking.findings import hashed, within
from compute.tasks.data import Clusters, Labelled, Probe
from compute.tasks.drawing.render import photo_path

NAMES = ("astronaut.png", "coffee.png", "rocket.jpg", "chelsea.png", "camera.png")


def file(name, change=lambda image: image, **how):
    with Image.open(photo_path(name)) as stored:
        image = change(stored.convert("RGB"))
    out = io.BytesIO()
    image.save(out, **(how or {"format": "PNG"}))
    return out.getvalue()


def smaller(name):
    return file(name, lambda image: image.resize((image.width // 2, image.height // 2)), format="JPEG", quality=70)


def labelled(files, labels, *, start=1):
    names = tuple(f"row {start + at}" for at in range(len(files)))
    column = images(files, of="own")
    return Labelled(names=names, items=column, labels=np.array(labels), classes=("person", "thing"))


PHOTOGRAPHS = [file(name) for name in NAMES]


def test_near_duplicates_of_items_with_their_labels():
    part = labelled([*PHOTOGRAPHS, smaller("coffee.png"), smaller("astronaut.png")], [0, 1, 1, 1, 1, 1, 1])
    data = {"default": Clusters(test=part)}
    found = within(data, hashed(data))
    assert found == [
        (
            "items that are near-duplicates of an earlier one",
            ["row 6 ~ row 2", "row 7 ~ row 1: 'thing' and 'person'"],
            False,
        )
    ]


def test_near_duplicates_across_the_splits():
    """The same file is none of itself: it is counted as a repeat, by its content key."""
    train = labelled([*PHOTOGRAPHS[:3], PHOTOGRAPHS[0]], [0, 1, 1, 0])
    data = Probe(train=train, test=labelled([smaller("rocket.jpg"), PHOTOGRAPHS[1]], [1, 1], start=9))
    found = within({"default": data}, hashed({"default": data}))
    assert found == [("test items that are near-duplicates of training items", ["row 9 ~ row 3"], False)]


def test_plain_images_are_no_near_duplicates_of_one_another():
    """Two reds that differ by two levels, one of them with the noise of its compression, beside a photograph twice."""
    reds = []
    for colour, how in (((200, 10, 10), "PNG"), ((198, 12, 12), "JPEG")):
        out = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(out, how)
        reds.append(out.getvalue())
    part = labelled([*reds, reds[0], PHOTOGRAPHS[1], smaller("coffee.png")], [0] * 5)
    data = {"default": Clusters(test=part)}
    result = hashed(data)
    assert (result.total, result.plain, len(result.keys), result.bad) == (4, 2, 2, ())
    assert "of a plain colour, compared by content alone: 2" in result.sentence
    assert [each.items for each in within(data, result)] == [["row 5 ~ row 4"]]
