"""PairBench's published data sets, in the layout that their cards state: small files of it."""

import io

import numpy as np
import pytest
from PIL import Image

from compute import tasks
from compute.catalog import shipped
from compute.tasks.data import size
from compute.tasks.pairbench import hub
from compute.tasks.perturb import perturb
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from tests.compute.tasks.hub_files import write
from tests.compute.tasks.pairbench.images import picture

ROWS = 4


def resized(image):
    return image.resize(tuple(round(0.95 * side) for side in image.size))


def table(kind, *order, counterparts=1):
    """Rows of an original and, in columns of this order, its 95%, its transformed versions, and an irrelevant image."""
    images = [picture(row) for row in range(ROWS)]
    others = [
        [resized(image) for image in images],
        *(
            [perturb(image, kind=kind, strength=0.4 + 0.2 * at, seed=row) for row, image in enumerate(images)]
            for at in range(counterparts)
        ),
        [perturb(picture(100 + row), kind=kind, strength=0.5, seed=row) for row in range(ROWS)],
    ]
    columns = [images, *(others[at] for at in order or range(len(others)))]
    return {f"img{number}": column for number, column in enumerate(columns, start=1)}


CAPTIONS = (
    "A mug {} on a table",
    "A mug {} under a table",
    "A mug {} to the left of a table",
    "A dog {} under a chair",
)


@pytest.fixture
def root(tmp_path):
    write(
        tmp_path / "feiziaarash/pairbench",
        {
            ("coco", "colorjitter"): table("colorjitter"),
            ("coco", "rotate"): table("rotate", 1, 0, 2),
            ("wu_img_img", "subset_a_pos"): table("rotate", counterparts=2),
            ("wu_img_img", "subset_b_pos_gaussianblur"): table("gaussianblur", counterparts=2),
            ("wu_img_text", "wu_subset_a_pos"): {
                "img1": [picture(row) for row in range(ROWS)],
                **{f"txt{at}": [text.format(row) for row in range(ROWS)] for at, text in enumerate(CAPTIONS, start=1)},
            },
        },
    )
    return tmp_path


def loaded(root, key):
    return tasks.load(shipped().task(key), source=Source(root=root, offline=True))


def shown(file):
    return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))


@pytest.mark.parametrize("key", ["pairbench/coco-cj", "pairbench/coco-r"])
def test_images_are_paired_by_their_columns(root, key):
    """In the second, the identical pair's column is not the first: its size tells."""
    part = loaded(root, key)["sensitive"]
    assert size(part) == 3 * ROWS
    for row, (kind, source) in enumerate(zip(part.types, part.sources, strict=True)):
        image = picture(int(source))
        assert (shown(part.first.read(row)) == np.asarray(image)).all()
        second = Image.open(io.BytesIO(part.second.read(row))).convert("RGB")
        assert (second.size == resized(image).size) == (kind == "identical")
        if kind == "transformed":
            name = part.transformations[0]
            assert second.tobytes() == perturb(image, kind=name, strength=0.4, seed=int(source)).tobytes()
        if kind == "irrelevant":
            other = perturb(picture(100 + int(source)), kind=part.transformations[0], strength=0.5, seed=int(source))
            assert second.tobytes() == other.tobytes()
    assert len(set(part.names)) == 3 * ROWS and set(part.templates) <= set(range(5))


def test_a_fourth_pair_is_a_second_counterpart(root):
    part = loaded(root, "pairbench/wu-ii-a-sp")["sensitive"]
    assert part.types.tolist() == ["identical", "transformed", "transformed-2", "irrelevant"] * ROWS
    assert part.expected.tolist() == [10, 8, 8, 1] * ROWS
    blurred = loaded(root, "pairbench/wu-ii-b-sp-gb")["invariant"]
    assert blurred.transformations == ("position", "gaussianblur") and len(blurred.first_variants) == 5


def test_captions_are_paired_in_the_order_of_their_columns(root):
    part = loaded(root, "pairbench/wu-it-a")["invariant"]
    assert part.second.modality == "text" and part.first_variants == ()
    assert [part.second.read(row) for row in range(4)] == [text.format(0) for text in CAPTIONS]
    assert part.expected.tolist() == [10, 10, 10, 1] * ROWS


def test_every_split_of_the_paper_has_a_part():
    wanted = [task for task in shipped().tasks if task.benchmark == "pairbench"]
    parts = {task.key: hub.part_of(task) for task in wanted if tasks.computable(task)}
    assert len(parts) == 24 == len(wanted) - 1
    assert parts["pairbench/in100-et"][1] == ("elastic",)
    with pytest.raises(NotHere, match="published or imported scores only"):
        tasks.load(shipped().task("pairbench/aggregate"), source=Source(offline=True))


def test_another_layout_is_refused_with_what_is_assumed(root):
    folder = root / "feiziaarash/pairbench"
    write(folder, {("in100", "elastic"): table("elastic", 2, 1, 1)})
    with pytest.raises(BadInput, match=r"unknown layout: .*img1, img2, img3, img4.*95%"):
        loaded(root, "pairbench/in100-et")


def test_what_is_not_on_this_machine_is_named_with_its_command(tmp_path):
    task = shipped().task("pairbench/coco-cj")
    source = Source(root=tmp_path, offline=True)
    with pytest.raises(NotHere, match=r"hf download feiziaarash/pairbench .*--include 'coco/\*'"):
        tasks.load(task, source=source)
    need = tasks.needs(task, source=source)
    assert not need.present and need.bytes == 761_297_687 and need.questions == 2 * 3_000
