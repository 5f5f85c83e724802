"""Sets of images, of generators and of their reference: each is read once for content keys and anomalies, and all are
paired by prompts.
"""

from __future__ import annotations

import io
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.content import decoding, items
from compute.content.items import Column, content_key
from compute.io import forms
from compute.io.forms import Form, FormField
from compute.io.tables import read_lines
from compute.progress import followed
from compute.tasks import image_lists
from compute.tasks.image_lists import PROMPT, Images, content, natural, stem
from compute.tasks.source import Source
from compute.types import BadInput, BadItem, shortened

NAMED = 3  # items named in a sentence; the others are counted
TRANSPARENT = ("RGBA", "LA", "PA", "RGBa", "La")
GREY = ("1", "L", *decoding.DEEP_GREY)
REFERENCE = "reference"  # the reference's name among the sets
PROMPTS = Form(
    "prompts",
    (
        FormField("image", ("file_name", "file", "id", "key", "name")),
        PROMPT,
    ),
)


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """The images of one generator, or of the reference.

    `ids` (n,) are unique names of the images within the set. `prompts` (n,) are those stored with the images, or None.
    `warnings` describes anomalies of the images.
    """

    name: str
    ids: tuple[str, ...]
    images: Column
    prompts: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: np.ndarray) -> ImageSet:
        """Returns the set of these images, in this order."""
        ids, prompts = (of and tuple(of[row] for row in rows) for of in (self.ids, self.prompts))
        return replace(self, ids=ids, images=self.images.take(rows), prompts=prompts)


def opened(
    name: str, where: str | Path | Iterable[Any], *, source: Source, spool: Path, skip_bad: bool = False
) -> ImageSet:
    """Returns the set at an address of `compute.tasks.image_lists`; the files of a folder in the order of the numbers
    in their names. Or images from Python, in their order: Pillow images, uint8 arrays (height, width[, 3 or 4]), bytes
    of image files, or paths; each is taken once, and pixels are written below `spool` as PNG, so that memory does not
    grow.

    Raises as `image_lists.opened`, BadItem for an image that cannot be read, and BadInput for what is not an image.
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
    """Returns the bytes of an image file. Raises BadInput."""
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
    """Returns a set after reading its images once, one at a time, for their content keys and headers.

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
    for at in followed(range(len(ids)), f"Reading {name}"):
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
    """Returns an image's size and any anomaly, from its header. Raises BadInput."""
    with warnings.catch_warnings():  # Pillow's, about details that the decoder handles
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
    """Returns the distinct names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def some(names: Iterable[str], *, noun: str) -> str:
    """Formats `2 images (a, b)`; `9 images (a, b, c and 6 more)`."""
    names = list(names)
    listed = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names):,} {noun}{'s' if len(names) != 1 else ''} ({listed}{more})"


class Prompts(NamedTuple):
    """Prompts by image id; `ordered` if they name no images and follow the order of the images."""

    title: str  # for messages
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, kw_only=True)
class PromptedSets:
    """A reference and the sets of generators. If they are paired, row i of each was made from prompt i, and all have
    the same `ids` and `texts`. Otherwise both are empty, `prompts` is None, and the numbers of images may differ.
    `reference` is None if saved statistics replace its images.
    """

    sets: tuple[ImageSet, ...]  # the reference first
    warnings: tuple[str, ...]

    @property
    def paired(self) -> bool:
        return self.sets[0].prompts is not None

    @property
    def reference(self) -> ImageSet | None:
        return self.sets[0] if self.sets[0].name == REFERENCE else None

    @property
    def generated(self) -> tuple[ImageSet, ...]:
        return tuple(part for part in self.sets if part.name != REFERENCE)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.sets[0].ids if self.paired else ()

    @property
    def texts(self) -> tuple[str, ...]:
        return self.sets[0].prompts if self.paired else ()

    @cached_property
    def prompts(self) -> Column | None:
        return items.texts(self.texts, of="prompts") if self.paired else None

    def without(self, bad: Collection[bytes]) -> PromptedSets:
        """Returns the same without the pairs (or images) that contain one of these contents; the warnings count
        them.
        """
        hit = [np.isin(part.images.keys, np.array(list(bad), dtype="S32")) for part in self.sets]
        warnings = list(self.warnings)
        for part, rows in zip(self.sets, hit, strict=True):
            if rows.any():
                named = some([part.images.name(row) for row in np.flatnonzero(rows)], noun="image")
                warnings.append(f"{part.name}: {named} skipped, as they cannot be decoded")
        if self.paired:
            hit = [np.logical_or.reduce(hit)] * len(hit)
        left = tuple(part.take(np.flatnonzero(~rows)) for part, rows in zip(self.sets, hit, strict=True))
        if not all(map(len, left)):
            raise BadInput("No image is left after those that cannot be decoded")
        return replace(self, sets=left, warnings=tuple(warnings))


def prompts_of(prompts: str | Path | Sequence[str] | Mapping[str, str] | None) -> Prompts | None:
    """Reads prompts: from a file, by image, or in the order of the images.

    A table (`compute.io.tables`) has the form PROMPTS, with images named by their path within the folder without the
    extension. The lines of a .txt correspond to the images in the order of their names. Raises BadInput.
    """
    title, ordered = "prompts", False
    match prompts:
        case None:
            return None
        case str() | Path():
            path = Path(prompts)
            title, ordered = path.name, path.suffix.lower() == ".txt"
            if ordered:
                texts = read_lines(path)
                ids = [f"line {row}" for row in range(1, len(texts) + 1)]
            else:
                _, frame, _ = forms.read(path, [PROMPTS])
                ids, texts = map(stem, frame["image"]), frame["prompt"].tolist()
        case Mapping():
            ids, texts = (stem(str(key)) for key in prompts), list(prompts.values())
        case _:
            texts, ordered = list(prompts), True
            ids = map(str, range(len(texts)))
    return checked(title=title, ids=list(ids), texts=texts, ordered=ordered)


def checked(*, title: str, ids: Sequence[str], texts: Sequence[object], ordered: bool = False) -> Prompts:
    """Validates prompts. Raises BadInput for repeated ids and for prompts that are empty or not text."""
    if not ids:
        raise BadInput(f"{title} holds no prompt")
    if twice := repeated(ids):
        raise BadInput(f"{title}: {some(twice, noun='image')} listed more than once. Leave one row for each")
    for at, (key, text) in enumerate(zip(ids, texts, strict=True), start=1):
        if not isinstance(text, str) or not text.strip():
            raise BadInput(f"{title}, row {at} ({key}): the prompt is empty. Write one, or remove the row")
    return Prompts(title, tuple(ids), tuple(text.strip() for text in texts), ordered)


def pair(*, reference: ImageSet | None, generated: Sequence[ImageSet], prompts: Prompts | None) -> PromptedSets:
    """Pairs the sets by prompt, and counts and names images and prompts without a partner.

    Images are matched by id. If a source stores prompts and its ids are not in the list, its images are matched by
    prompt; several images of one prompt are matched in order. Prompts that name no images are matched by order, and
    every set must have the same number. Only pairs in all sets are compared, so that all generators have the same
    prompts. Without `prompts`, those stored by a source are used; if no source stores prompts, nothing is paired.
    Without `reference`, whose saved statistics are used instead, the generators are paired with each other. Raises
    BadInput for sets that share no prompt, and for different counts if only the order pairs them.
    """
    sets = (*([] if reference is None else [replace(reference, name=REFERENCE)]), *generated)
    if twice := repeated(part.name for part in sets):
        raise BadInput(f"Two sets are named {twice[0]!r}: name each once")
    own = [line for part in sets for line in part.warnings]
    own += [
        f"{part.name}: {count:,} of {len(part):,} images are exact copies of reference images"
        for part in (generated if reference is not None else ())
        if (count := int(np.isin(part.images.keys, reference.images.keys).sum()))
    ]
    stored = next((part for part in sets if part.prompts is not None), None)  # the reference before the generators
    if prompts is None and stored is not None:
        prompts = checked(title=f"the prompts of {stored.name}", ids=stored.ids, texts=stored.prompts)
    if prompts is None:
        own += uneven_generators({part.name: len(part) for part in generated})
        return PromptedSets(sets=sets, warnings=tuple(own))
    rows = [_rows(part, prompts) for part in sets]
    lines = []
    for part, known in zip(sets, rows, strict=True):
        missing = [prompts.ids[row] for row in np.flatnonzero(known < 0)]
        extra = [part.images.name(row) for row in sorted(set(range(len(part))) - set(known.tolist()))]
        if missing:
            lines.append(f"{part.name}: {some(missing, noun='prompt')} without an image")
        if extra:
            lines.append(f"{part.name}: {some(extra, noun='image')} without a prompt in {prompts.title}, skipped")
    shared = np.flatnonzero(np.logical_and.reduce([known >= 0 for known in rows]))
    if not len(shared):
        raise BadInput(
            f"The sets share no prompt of {prompts.title}. It has {some(prompts.ids, noun='image')}, "
            + "; ".join(f"{part.name} has {some(part.ids, noun='image')}" for part in sets)
        )
    if len(shared) < len(prompts.ids):
        lines.append(
            f"{len(shared):,} of {len(prompts.ids):,} prompts have an image in every set; the others are skipped"
        )
    if extra := repeated(prompts.texts):  # their images count as independent, which they are not entirely
        used = some((repr(shortened(text, 40)) for text in extra), noun="prompt")
        own.append(f"{prompts.title}: {used} used more than once; every image counts as its own pair")
    ids, texts = (tuple(each[row] for row in shared) for each in (prompts.ids, prompts.texts))
    taken = (part.take(known[shared]) for part, known in zip(sets, rows, strict=True))
    return PromptedSets(sets=tuple(replace(part, ids=ids, prompts=texts) for part in taken), warnings=(*own, *lines))


def uneven_generators(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the warning for generators with different numbers of images."""
    if len(set(counts.values())) < 2:
        return ()
    fewest, most = (choose(counts, key=lambda name: counts[name]) for choose in (min, max))
    return (
        f"{fewest} has {counts[fewest]:,} images and {most} {counts[most]:,}: Fréchet distances fall as N grows, so "
        "the plain values favour the larger set. Compare the values extrapolated to infinite N, or equal "
        "numbers of images",
    )


def _rows(part: ImageSet, prompts: Prompts) -> np.ndarray:
    """Returns (prompts,) int64: the row of the set's image for each prompt, -1 for none."""
    if prompts.ordered and part.prompts is None:
        if len(part) != len(prompts.ids):
            raise BadInput(
                f"{part.name} has {len(part):,} images and {prompts.title} {len(prompts.ids):,} prompts. Prompts that "
                "name no images go by the images' order, so there must be as many; or give a table of image and prompt"
            )
        return np.arange(len(part))
    by_id = pd.Index(part.ids).get_indexer(list(prompts.ids))
    if (
        part.prompts is None
        or (by_id >= 0).any()
        and all(
            # Row numbers carry no meaning, so a match by ids must agree with the source's own prompts.
            part.prompts[row] == text
            for row, text in zip(by_id.tolist(), prompts.texts, strict=True)
            if row >= 0
        )
    ):
        return by_id
    waiting: dict[str, list[int]] = defaultdict(list)
    for row in range(len(part) - 1, -1, -1):
        waiting[part.prompts[row]].append(row)
    return np.array([waiting[text].pop() if waiting.get(text) else -1 for text in prompts.texts], dtype=np.int64)
