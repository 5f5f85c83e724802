"""Sets of images, read once for their contents and for what is odd about them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np

from compute.content import decoding
from compute.content.items import Column, content_key
from compute.io.images import is_image_name
from compute.types import BadInput, BadItem

NAMED = 3  # items that a sentence names; the rest is counted
TRANSPARENT = ("RGBA", "LA", "PA", "RGBa", "La")
GREY = ("1", "L", *decoding.DEEP_GREY)


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """The images of one generator, or of the reference.

    `ids` (n,) name the images within the set, each once; `prompts` (n,) are those that the source itself stores beside
    its images, None where it stores none. `warnings` say what is odd about the images.
    """

    name: str
    ids: tuple[str, ...]
    images: Column
    prompts: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(kw_only=True)
class _Oddities:
    """What the headers of a set's images say."""

    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def see(self, name: str, data: bytes) -> None:
        """Reads one image's header. Raises BadInput."""
        with warnings.catch_warnings():  # of Pillow, on details that the decoder settles
            warnings.simplefilter("ignore")
            image = decoding.opened(data)
        self.sizes[image.size] += 1
        kind = ""
        if getattr(image, "is_animated", False):
            kind = "animated: the first frame is used"
        elif image.mode in GREY:
            kind = "grey: the grey level is used for all three channels"
        elif image.mode == "CMYK":
            kind = "CMYK: converted to RGB without a colour profile"
        elif image.mode in TRANSPARENT or (image.mode == "P" and "transparency" in image.info):
            kind = "with transparency, which is dropped"
        if kind:
            self.kinds.setdefault(kind, []).append(name)

    def sentences(self, of: str) -> list[str]:
        lines = []
        if len(self.sizes) > 1:
            (low, high) = min(self.sizes), max(self.sizes)
            lines.append(
                f"{of}: the images have {len(self.sizes)} sizes, from {low[0]} x {low[1]} to {high[0]} x {high[1]}; "
                "each is resized as the backbone prescribes"
            )
        lines += [f"{of}: {some(names, noun='image')} {kind}" for kind, names in self.kinds.items()]
        return lines


def scanned(
    name: str,
    *,
    ids: Sequence[str],
    read: Callable[[int], bytes],
    label: Callable[[int], str],
    prompts: Sequence[str] | None = None,
    skip_bad: bool = False,
    notes: Sequence[str] = (),
) -> ImageSet:
    """A set whose images are read once, one at a time, for their content keys and headers.

    `label` names an image in messages; `notes` go before the set's own warnings. Raises BadItem for an image that
    cannot be read, which `skip_bad` leaves out, and BadInput for ids that repeat or a set without images.
    """
    repeated = [key for key, count in Counter(ids).items() if count > 1]
    if repeated:
        raise BadInput(
            f"{name}: {some(repeated, noun='name')} used by several images (the ending of a file is no part of its "
            "name). Rename or remove the extra files"
        )
    odd, keys, good, bad = _Oddities(), [], [], []
    for at in range(len(ids)):
        data = read(at)
        try:
            odd.see(label(at), data)
        except BadInput as error:
            if not skip_bad:
                raise BadItem(label(at), str(error), key=content_key(data)) from error
            bad.append(label(at))
            continue
        keys.append(content_key(data))
        good.append(at)
    if not good:
        raise BadInput(f"{name} holds no image that can be read")
    rows = np.array(good, dtype=np.int64)
    whole = Column(
        modality="image",
        keys=np.array(keys, dtype="S32"),
        read=lambda row: read(int(rows[row])),
        name=lambda row: label(int(rows[row])),
    )
    lines = [*notes, *odd.sentences(name)]
    if bad:
        lines.append(f"{name}: {some(bad, noun='image')} left out, as they cannot be read")
    copies = len(keys) - len(set(keys))
    if copies:
        lines.append(f"{name}: {copies} of {len(keys)} images are exact copies of others in the set")
    return ImageSet(
        name=name,
        ids=tuple(ids[at] for at in good),
        images=whole,
        prompts=None if prompts is None else tuple(prompts[at] for at in good),
        warnings=tuple(lines),
    )


def some(names: Iterable[str], *, noun: str) -> str:
    """`2 images (a, b)`; `9 images (a, b, c and 6 more)`."""
    names = list(names)
    listed = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names):,} {noun}{'s' if len(names) != 1 else ''} ({listed}{more})"


def stem(name: str) -> str:
    """A path without the ending of an image file: `a/0001.png` -> `a/0001`, `v1.5` stays."""
    name = name.replace("\\", "/").removeprefix("./")
    return name[: -len(PurePosixPath(name).suffix)] if is_image_name(name) else name
