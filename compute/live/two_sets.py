"""Two sets of a visitor's images, compared by one encoder's features: read a few at a time, encoded, then measured.

Nothing is written to disk. Of an image only its name, its features and a key of its pixels stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from compute.content.items import content_key
from compute.live import inputs
from compute.live.archive import ENTRIES, Archive
from compute.live.decoder.pool import POOL, DecoderUnavailable
from compute.live.inputs import Input
from compute.live.measured_sets import GENERATED, REFERENCE, MetricOfSets, measuring
from compute.live.models.subject import LiveSubject, column_of
from compute.types import BadInput, LikenessError, Model, shortened

ROLES = (REFERENCE, GENERATED)
MOST = 200  # images of a set
LARGEST_FILE = 50_000_000  # bytes of a ZIP
DECODED = 48_000_000  # bytes of decoded images in memory at a time; one takes 16 MB at most
DRAWN = 128  # images of either drawn set
BLUR = 3  # strength of the drawn sets' blur, of 4
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a ZIP begins; the second an empty one
IMAGE = re.compile(r"(?is).+\.(png|jpe?g|jpe|jfif|webp|gif|bmp|tiff?|avif|jp2|j2k|ppm|pgm|pbm|pnm|hei[cf]|jxl|svg|psd)")
SUFFIX = re.compile(r"\.[^./]{1,10}$")
SHOWN = 80  # characters of a name

Embed = Callable[[Sequence[Input]], NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True, eq=False)
class ImagePack:
    """A set's images in their order, none decoded yet. `read(name)` decodes one and raises LikenessError."""

    names: tuple[str, ...]
    read: Callable[[str], Input]
    skipped: tuple[str, ...] = ()  # files that are no images, each with its reason


@dataclass(kw_only=True, eq=False)
class EncodedImages:
    """What stays of a set's images. Row i of all belongs to one image."""

    names: list[str] = field(default_factory=list)
    pixels: list[bytes] = field(default_factory=list)  # a key of the decoded pixels and their size
    features: list[NDArray[np.float32]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # a sentence each

    @property
    def nbytes(self) -> int:
        """Bytes of the features and texts, about."""
        return sum(row.nbytes for row in self.features) + 200 * (len(self.names) + len(self.skipped))


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Images with the same pixels. `pairs` are (name, earlier name) within a set, or (generated, reference)."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class SetsComparison:
    """What two sets give: a row a metric, and what to know about the sets."""

    encoder: Model
    dimension: int
    metrics: tuple[MetricOfSets, ...]
    counts: Mapping[str, int]
    skipped: Mapping[str, tuple[str, ...]]
    repeats: Mapping[str, Repeats]  # by role
    shared: Repeats


@dataclass(kw_only=True, eq=False)
class TwoSets:
    """Two sets on their way from files to features. Not for several threads at once."""

    packs: Mapping[str, ImagePack]
    sets: Mapping[str, EncodedImages] = field(init=False)
    _rows: dict[bytes, NDArray[np.float32]] = field(init=False, default_factory=dict)  # by pixels: each encoded once
    _left: list[tuple[str, str]] = field(init=False)  # role and name of the images still to read, the next one last

    def __post_init__(self) -> None:
        self.sets = {role: EncodedImages(skipped=list(pack.skipped)) for role, pack in self.packs.items()}
        self._left = [(role, name) for role, pack in self.packs.items() for name in pack.names][::-1]

    @property
    def left(self) -> int:
        """Images still to be read and encoded."""
        return len(self._left)

    @property
    def of(self) -> int:
        """All images of both sets."""
        return sum(len(pack.names) for pack in self.packs.values())

    @property
    def nbytes(self) -> int:
        """Bytes of what stays of the images."""
        return sum(part.nbytes for part in self.sets.values())

    def step(self, embed: Embed, *, most: int) -> int:
        """Reads and encodes up to `most` images of one set, fewer where they are large; how many were taken.

        An image that cannot be read or encoded is skipped with its reason. Raises DecoderUnavailable where none can be
        decoded now: the same images come again.
        """
        role = self._left[-1][0]
        decoded: list[tuple[str, Input]] = []
        taken, into = 0, self.sets[role]
        while self._left and self._left[-1][0] == role and taken < most:
            name = self._left[-1][1]
            try:
                decoded.append((name, self.packs[role].read(name)))
            except DecoderUnavailable:
                if not taken:
                    raise
                break
            except LikenessError as error:
                into.skipped.append(str(error))
            self._left.pop()
            taken += 1
            if sum(image.nbytes for _, image in decoded) > DECODED:
                break
        keys = [_pixel_key(image) for _, image in decoded]
        new = {key: image for key, (_, image) in zip(keys, decoded, strict=True) if key not in self._rows}
        refused: dict[bytes, str] = {}
        self._rows |= _encoded(embed, new, refused)
        for key, (name, _) in zip(keys, decoded, strict=True):
            if key in refused:
                into.skipped.append(f"{shortened(name, SHOWN)}: {refused[key]}")
            else:
                into.names.append(shortened(name, SHOWN))
                into.pixels.append(key)
                into.features.append(self._rows[key])
        return taken

    def check(self) -> None:
        """Raises BadInput where no image of a set could be read, with the first reason."""
        for role, part in self.sets.items():
            if not part.names:
                raise BadInput(f"No image of the {role} set can be used. The first: {part.skipped[0]}")

    def compare(self, encoder: Model) -> Iterator[SetsComparison | None]:
        """The metrics of the encoded sets: None after each part of the work, the comparison at last.

        Raises BadInput where a set is empty.
        """
        self.check()
        features = {role: np.stack(part.features) for role, part in self.sets.items()}
        metrics = None
        for metrics in measuring(**features, encoder=encoder.key):
            if metrics is None:
                yield None
        yield SetsComparison(
            encoder=encoder,
            dimension=features[REFERENCE].shape[1],
            metrics=metrics,
            counts={role: len(part.names) for role, part in self.sets.items()},
            skipped={role: tuple(part.skipped) for role, part in self.sets.items()},
            repeats={role: _repeated(part) for role, part in self.sets.items()},
            shared=_shared(self.sets[REFERENCE], self.sets[GENERATED]),
        )


def embed(subject: LiveSubject, *, images: Sequence[Input]) -> NDArray[np.float32]:
    """(n, d) features of the images, a job for a loaded encoder. Raises CannotDo for many vectors an image."""
    return subject.embed(column_of(images))


def packed(data: bytes, *, role: str, owner: str = "") -> ImagePack:
    """The images of a ZIP as a set. `owner`: who takes turns with the others in decoding. Raises BadInput.

    Folders do not matter. A file whose name says that it is no image is skipped.
    """
    if not data.startswith(ZIP):
        raise BadInput(
            f"The file of the {role} set is not a ZIP. Pack the images into a ZIP, or choose them themselves"
        )
    if len(data) > LARGEST_FILE:
        raise BadInput(
            f"The {role} set has {len(data) / 1e6:.0f} MB, more than {LARGEST_FILE // 1_000_000} MB. Save its images "
            "as JPEG or WebP, or take fewer"
        )
    try:
        archive = Archive(data, files=ENTRIES)
    except BadInput as error:
        raise BadInput(f"The {role} set: {error}") from error
    names = tuple(path for path in archive.paths if IMAGE.fullmatch(path) or not SUFFIX.search(path))
    taken = set(names)
    others = tuple(
        f"{shortened(path, SHOWN)} is not an image by its name" for path in archive.paths if path not in taken
    )
    if not names:
        raise BadInput(
            f"The ZIP of the {role} set holds no image"
            + (f". The first file: {others[0]}" if others else "; it is empty")
            + ". Put PNG, JPEG or WebP files in it"
        )
    if len(names) > MOST:
        raise BadInput(
            f"The {role} set has {len(names):,} images, and {MOST} are the most here. Take {MOST} of them at random, "
            "or compare all by the command python -m compute frechet"
        )

    def read(path: str) -> Input:
        content = archive.read(path, most=inputs.LARGEST_IMAGE)
        return POOL.image(content, name=shortened(path, SHOWN), owner=owner)

    return ImagePack(names=names, read=read, skipped=others)


def drawn(role: str) -> ImagePack:
    """A set of drawn scenes, synthetic: other scenes to the same prompts for each role, the generated ones blurred."""
    return ImagePack(names=tuple(f"drawn-{row:03d}" for row in range(DRAWN)), read=partial(_drawn, role))


@cache
def _drawn(role: str, name: str) -> Input:
    from PIL import Image

    from compute.tasks.drawing.distortions import distort
    from compute.tasks.mini import generators

    row = int(name.rpartition("-")[2])
    if role == REFERENCE:
        pixels = generators.reference_image(row)
    else:
        pixels = distort(generators.clean_image(row), kind="blur", strength=BLUR, seed=row)
    return Input(
        modality="image", key=content_key(pixels.tobytes()), name=name, content=Image.fromarray(np.asarray(pixels))
    )


def _encoded(embed: Embed, images: Mapping[bytes, Input], refused: dict[bytes, str]) -> dict[bytes, NDArray]:
    """A row an image, by key; `refused` takes the reasons for those that the encoder does not take."""
    if not images:
        return {}
    try:
        return dict(zip(images, embed(list(images.values())), strict=True))
    except BadInput as error:
        if len(images) == 1:
            refused[next(iter(images))] = str(error)
            return {}
    rows: dict[bytes, NDArray] = {}
    for key, image in images.items():
        rows |= _encoded(embed, {key: image}, refused)
    return rows


def _pixel_key(image: Input) -> bytes:
    return content_key(repr(image.content.size).encode() + image.content.tobytes())


def _repeated(part: EncodedImages) -> Repeats:
    """The images that have the pixels of an earlier one."""
    first: dict[bytes, str] = {}
    pairs = []
    for name, key in zip(part.names, part.pixels, strict=True):
        if key in first:
            pairs.append((name, first[key]))
        first.setdefault(key, name)
    return Repeats(pairs=tuple(pairs))


def _shared(reference: EncodedImages, generated: EncodedImages) -> Repeats:
    """The generated images that have the pixels of a reference image."""
    first = dict(zip(reversed(reference.pixels), reversed(reference.names), strict=True))
    return Repeats(
        pairs=tuple(
            (name, first[key]) for name, key in zip(generated.names, generated.pixels, strict=True) if key in first
        )
    )
