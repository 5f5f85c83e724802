"""Sets of images, read once for their contents and for what is odd about them: from folders, WebDataset shards, Parquet
tables, data sets of the hub, or Python."""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

import numpy as np

from compute.content import decoding
from compute.content.items import Column, content_key
from compute.io.forms import Form, FormField, fitting
from compute.io.images import SUCH_AS, ImageFiles, endings, image_files, is_image_name
from compute.io.tables import check_unpacked
from compute.tasks import parquet
from compute.tasks.generators import tars
from compute.tasks.source import Source
from compute.types import BadInput, BadItem

NAMED = 3  # items that a sentence names; the rest is counted
TRANSPARENT = ("RGBA", "LA", "PA", "RGBa", "La")
GREY = ("1", "L", *decoding.DEEP_GREY)
PROMPT = FormField("prompt", ("caption", "text"))
IMAGES = Form(
    "images",
    (
        FormField("image", ("images", "img", "picture")),
        PROMPT._replace(optional=True),
        FormField("id", ("key", "file_name", "image_id"), optional=True),
    ),
)
HUB = "hf://datasets/"
MOST_TEXT = 1 << 30  # bytes of the prompts and ids of one Parquet file
ADDRESS = re.compile(
    r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?(#(?P<config>[\w.-]+)/(?P<split>[\w.-]+))?"
)


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


def opened(name: str, where: str | Path, *, source: Source, skip_bad: bool = False) -> ImageSet:
    """The set at an address: a folder of images, of WebDataset shards or of Parquet; one such file; or
    `hf://datasets/<org>/<name>[@<revision>][#<configuration>/<split>]`.

    Raises BadInput, NotHere with the command that fetches a data set, and BadItem for an image that cannot be read.
    """
    text = str(where)
    if text.startswith("hf:"):
        return _from_hub(name, text, source=source, skip_bad=skip_bad)
    path = Path(where)
    if not path.exists():
        raise BadInput(f"There is no {path}: give a folder of images, a .tar of WebDataset, Parquet, or {HUB}ORG/NAME")
    found = image_files(path) if path.is_dir() else ImageFiles(names=(), unused=(path.name,))
    if files := sorted(found.names, key=natural):
        return scanned(
            name,
            ids=[stem(file) for file in files],
            read=lambda at: _content(path / files[at]),
            label=lambda at: f"{path.name}/{files[at]}",
            skip_bad=skip_bad,
            notes=found.notes(path),
        )
    shards, tables = (
        [file for file in (path, *sorted(path.rglob(f"*{end}"))) if file.suffix == end and file.is_file()]
        for end in (".tar", ".parquet")
    )
    if shards:
        return from_tars(name, shards, skip_bad=skip_bad)
    if tables:
        return from_table(name, parquet.Table(tuple(tables), path.name), skip_bad=skip_bad)
    raise BadInput(
        f"{path} holds no image ({SUCH_AS}), no .tar of WebDataset and no Parquet. {' '.join(found.notes(path))}"
    )


def from_tars(name: str, shards: Sequence[Path], *, skip_bad: bool = False) -> ImageSet:
    """The samples of WebDataset shards, with the prompts that they store. Raises BadInput, BadItem."""
    samples, unused = tars.samples(list(shards), suffixes=endings())
    notes = [
        f"{name}: {some(unused, noun='image')} not used: in WebDataset a name ends at its first dot, and what follows "
        "is the member's kind. Write a dash for the other dots"
    ] * bool(unused)
    if not samples:
        raise BadInput(" ".join([f"{name}: the shards hold no image ({SUCH_AS}).", *notes]))
    members = [sample.image for sample in samples]
    texts = [sample.prompt for sample in samples]
    if any(texts) and None in texts:
        at = texts.index(None)
        raise BadInput(
            f"{name}: {samples[at].name} has no prompt next to it (.txt, .caption or .json), others have one"
        )
    return scanned(
        name,
        ids=[sample.key for sample in samples],
        read=lambda at: members[at].read(),
        label=lambda at: f"{members[at].container.name}, {samples[at].name}",
        prompts=texts if any(texts) else None,
        skip_bad=skip_bad,
        notes=notes,
    )


def from_table(name: str, table: parquet.Table, *, skip_bad: bool = False) -> ImageSet:
    """A table with a column of images, and of ids or prompts where it has them. Raises BadInput, BadItem."""
    columns = fitting([IMAGES], table.columns, title=table.title).columns(table.columns)
    image, prompt, key = (columns.get(field.name, "") for field in IMAGES.fields)
    for file in table.files:
        check_unpacked(file, filter(None, (prompt, key)), most_bytes=MOST_TEXT)
    rows = table.rows(image)

    def read(at: int) -> bytes:
        data = rows[at]
        if not isinstance(data, bytes):
            raise BadInput(f"{table.title}: row {at} of {image!r} holds no image")
        return data

    return scanned(
        name,
        ids=[stem(str(value)) for value in table.values(key)[0]] if key else [str(at) for at in range(len(table))],
        read=read,
        label=lambda at: f"{table.title}, {image} {at}",
        prompts=_texts(table, prompt) if prompt else None,
        skip_bad=skip_bad,
    )


def from_images(name: str, images: Iterable[Any], *, spool: Path, skip_bad: bool = False) -> ImageSet:
    """Images from Python, in their order: Pillow images, uint8 arrays (height, width[, 3 or 4]), bytes of image files,
    or paths. Each is taken once; pixels are written to the folder `spool` as PNG, so that memory does not grow.

    Raises BadInput for anything else, naming its position.
    """
    spool.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for at, image in enumerate(images):
        if isinstance(image, str | Path):
            files.append(Path(image))
            continue
        path = spool / f"{at:08}"
        path.write_bytes(_encoded(image, f"{name}, image {at}"))
        files.append(path)
    if not files:
        raise BadInput(f"{name} holds no image")
    return scanned(
        name,
        ids=[str(at) for at in range(len(files))],
        read=lambda at: _content(files[at]),
        label=lambda at: f"{name}, image {at}",
        skip_bad=skip_bad,
    )


def _from_hub(name: str, address: str, *, source: Source, skip_bad: bool) -> ImageSet:
    parts = ADDRESS.fullmatch(address)
    if not parts:
        raise BadInput(f"{address!r} is not an address of a data set: {HUB}ORG/NAME[@REVISION][#CONFIGURATION/SPLIT]")
    repo, revision = parts["repo"], parts["revision"] or ""
    folder = source.folder(repo, revision=revision)
    table = parquet.table(folder, repo=repo, config=parts["config"] or "default", split=parts["split"] or "train")
    return from_table(name, table, skip_bad=skip_bad)


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts numbers within names by their value."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error


def _texts(table: parquet.Table, column: str) -> list[str]:
    (values,) = table.values(column)
    for at, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"{table.title}: row {at} of {column!r} holds no prompt")
    return [value.strip() for value in values]


def _encoded(image: Any, label: str) -> bytes:
    """The bytes of an image file. Raises BadInput."""
    from PIL import Image

    if isinstance(image, bytes):
        return image
    if isinstance(image, np.ndarray):
        if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
            raise BadInput(
                f"{label}: an array of {image.dtype} {image.shape}; give uint8 of (height, width) or (height, width, 3)"
            )
        image = Image.fromarray(image)
    if not isinstance(image, Image.Image):
        raise BadInput(
            f"{label}: {type(image).__name__} is not an image; give a Pillow image, uint8 array, bytes or a path"
        )
    stream = io.BytesIO()
    try:
        image.save(stream, "PNG", compress_level=1)
    except (OSError, ValueError):
        image.convert("RGB").save(stream, "PNG", compress_level=1)  # CMYK and others that PNG does not hold
    return stream.getvalue()


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
    cannot be read, which `skip_bad` skips, and BadInput for ids that repeat or a set without images.
    """
    if twice := repeated(ids):
        raise BadInput(
            f"{name}: {some(twice, noun='name')} used by several images (the ending of a file is not a part of its "
            "name). Rename or remove the extra files"
        )
    keys, good, bad = [], [], []
    sizes: Counter[tuple[int, int]] = Counter()
    odd: dict[str, list[str]] = {}  # kind -> names
    for at in range(len(ids)):
        data = read(at)
        try:
            size, kind = _header(data)
        except BadInput as error:
            if not skip_bad:
                raise BadItem(label(at), str(error), key=content_key(data)) from error
            bad.append(label(at))
            continue
        sizes[size] += 1
        if kind:
            odd.setdefault(kind, []).append(label(at))
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
    lines = list(notes)
    if len(sizes) > 1:
        (low, high) = min(sizes), max(sizes)
        lines.append(
            f"{name}: the images have {len(sizes)} sizes, from {low[0]} x {low[1]} to {high[0]} x {high[1]}; "
            "each is resized as the backbone prescribes"
        )
    lines += [f"{name}: {some(names, noun='image')} {kind}" for kind, names in odd.items()]
    if bad:
        lines.append(f"{name}: {some(bad, noun='image')} skipped, as they cannot be read")
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


def stem(name: str) -> str:
    """A path without the ending of an image file: `a/0001.png` -> `a/0001`, `v1.5` stays; of Unicode's forms one."""
    name = normalize("NFC", name.replace("\\", "/").removeprefix("./"))
    return name[: -len(PurePosixPath(name).suffix)] if is_image_name(name) else name
