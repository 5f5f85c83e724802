"""Folders of small images that differ, for tests of pairs."""

import numpy as np
from PIL import Image

from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.tasks import image_lists
from compute.tasks.pairbench import making
from compute.tasks.pairbench.splits import named


def picture(number, *, side=48):
    """A picture of large random patches, unlike that of any other number."""
    patches = np.random.default_rng([7, number]).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(patches).resize((side + 16, side), Image.Resampling.BICUBIC)


def folder_of(path, count, *, side=48):
    """A folder with so many pictures."""
    path.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        picture(number, side=side).save(path / f"{number:04d}.png", compress_level=1)
    return path


def manifest_of(folder, path, *splits, seed=0):
    """A manifest of the folder's pictures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    making.make(image_lists.opened(folder), out=path, splits=named(splits), seed=seed)
    return path


def suite_of(manifest, results):
    """Its suite, recorded."""
    return suite_records.record(own_suite.from_file(manifest, suite="pairbench"), results=results)
