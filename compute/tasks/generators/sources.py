"""Sets of images, read once for their contents and for what is odd about them."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from compute.content import decoding
from compute.content.items import Column, content_key
from compute.progress import followed
from compute.tasks import image_lists
from compute.tasks.image_lists import Images, content, natural, stem
from compute.tasks.source import Source
from compute.types import BadInput, BadItem

NAMED = 3  # items that a sentence names; the rest is counted
TRANSPARENT = ("RGBA", "LA", "PA", "RGBa", "La")
GREY = ("1", "L", *decoding.DEEP_GREY)


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """The images of one generator, or of the reference.

    `ids` (n,) name the images within the set, each once; `prompts` (n,) are those that the source itself stores with
    its images, None where it stores none. `warnings` say what is odd about the images.
    """

    name: str
    ids: tuple[str, ...]
    images: Column
    prompts: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: np.ndarray) -> ImageSet:
        """The set of these images, in this order."""
        ids, prompts = (of and tuple(of[row] for row in rows) for of in (self.ids, self.prompts))
        return replace(self, ids=ids, images=self.images.take(rows), prompts=prompts)


def opened(
    name: str, where: str | Path | Iterable[Any], *, source: Source, spool: Path, skip_bad: bool = False
) -> ImageSet:
    """The set at an address of `compute.tasks.image_lists`; the files of a folder in the order of the numbers in their
    names. Or images from Python, in their order: Pillow images, uint8 arrays (height, width[, 3 or 4]), bytes of image
    files, or paths; each is taken once, and pixels are written below `spool` as PNG, so that memory does not grow.

    Raises as `image_lists.opened`, BadItem for an image that cannot be read, and BadInput for what is no image.
    """
    if isinstance(where, str | Path):
        images = image_lists.opened(where, source=source)
        if images.about["kind"] == "folder":
            images = images.take(sorted(range(len(images.names)), key=lambda at: natural(images.names[at])))
        return scanned(name, images, skip_bad=skip_bad)
    folder = spool / str(len(list(spool.iterdir())))
    folder.mkdir()
    files: list[Path] = []
    for at, image in enumerate(where):
        files.append(Path(image) if isinstance(image, str | Path) else folder / f"{at:08}")
        if files[at].parent == folder:
            files[at].write_bytes(_encoded(image, f"{name}, image {at}"))
    if not files:
        raise BadInput(f"{name} holds no image")
    listed = Images(
        title=name,
        names=tuple(map(str, range(len(files)))),
        read=lambda at: content(files[at]),
        label=lambda at: f"{name}, image {at}",
    )
    return scanned(name, listed, skip_bad=skip_bad)


def _encoded(image: Any, label: str) -> bytes:
    """The bytes of an image file. Raises BadInput."""
    from PIL import Image

    if isinstance(image, bytes):
        return image
    if isinstance(image, np.ndarray) and image.dtype == np.uint8:
        with suppress(TypeError):
            image = Image.fromarray(image)
    if not isinstance(image, Image.Image):
        what = f"an array of {image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise BadInput(
            f"{label}: {what} is not an image; give a Pillow image, a uint8 array (height, width) or "
            "(height, width, 3), bytes or a path"
        )
    stream = io.BytesIO()
    plain = image.mode in ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
    (image if plain else image.convert("RGB")).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def scanned(name: str, images: Images, *, skip_bad: bool = False) -> ImageSet:
    """A set whose images are read once, one at a time, for their content keys and headers.

    Raises BadItem for an image that cannot be read, which `skip_bad` skips, and BadInput for ids that repeat or a set
    without images.
    """
    read, label = images.read, images.label
    ids = list(map(stem, images.ids() if images.ids else images.names))
    if twice := repeated(ids):
        raise BadInput(
            f"{name}: {some(twice, noun='name')} used by several images (the ending of a file is not a part of its "
            "name). Rename or remove the extra files"
        )
    every = ImageSet(
        name=name,
        ids=tuple(ids),
        images=Column(modality="image", keys=np.zeros(len(ids), "S32"), read=read, name=label),
        prompts=tuple(images.prompts()) if images.prompts else None,
    )
    good: list[int] = []
    sizes: Counter[tuple[int, int]] = Counter()
    odd: dict[str, list[str]] = {}  # kind -> names
    for at in followed(range(len(ids)), f"Reading {name}", unit="image"):
        data = read(at)
        try:
            size, kind = _header(data)
        except BadInput as error:
            if not skip_bad:
                raise BadItem(label(at), str(error), key=content_key(data)) from error
            odd.setdefault("skipped, as they cannot be read", []).append(label(at))
            continue
        sizes[size] += 1
        if kind:
            odd.setdefault(kind, []).append(label(at))
        every.images.keys[at] = content_key(data)
        good.append(at)
    if not good:
        raise BadInput(f"{name} holds no image that can be read")
    lines = list(images.notes)
    if len(sizes) > 1:
        (low, high) = min(sizes), max(sizes)
        lines.append(
            f"{name}: the images have {len(sizes)} sizes, from {low[0]} x {low[1]} to {high[0]} x {high[1]}; "
            "each is resized as the backbone prescribes"
        )
    lines += [f"{name}: {some(names, noun='image')} {kind}" for kind, names in odd.items()]
    left = every.take(np.array(good))
    if copies := len(good) - len(set(left.images.keys.tolist())):
        lines.append(f"{name}: {copies} of {len(good)} images are exact copies of others in the set")
    return replace(left, warnings=tuple(lines))


def _header(data: bytes) -> tuple[tuple[int, int], str]:
    """An image's size and what is odd about it, by its header. Raises BadInput."""
    with warnings.catch_warnings():  # of Pillow, on details that the decoder settles
        warnings.simplefilter("ignore")
        image = decoding.opened(data)
    kind = ""
    if getattr(image, "is_animated", False):
        kind = "animated: the first frame is used"
    elif image.mode in GREY:
        kind = "grey: the grey level is used for all three channels"
    elif image.mode == "CMYK":
        kind = "CMYK: converted to RGB without a colour profile"
    elif image.mode in TRANSPARENT or (image.mode == "P" and "transparency" in image.info):
        kind = "with transparency, which is dropped"
    return image.size, kind


def repeated(names: Iterable[str]) -> list[str]:
    """Those that are there more than once, each once."""
    return [name for name, count in Counter(names).items() if count > 1]


def some(names: Iterable[str], *, noun: str) -> str:
    """`2 images (a, b)`; `9 images (a, b, c and 6 more)`."""
    names = list(names)
    listed = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names):,} {noun}{'s' if len(names) != 1 else ''} ({listed}{more})"
