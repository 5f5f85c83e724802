"""Lists of images by address: a folder, WebDataset shards, Parquet, a data set on the hub; or files in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePath, PurePosixPath
from unicodedata import normalize

from compute.io.forms import Form, FormField, fitting
from compute.io.tables import check_unpacked
from compute.tasks import parquet, tars
from compute.tasks.source import Source
from compute.types import BadInput

ADDRESSES = "a folder of images, a .tar of WebDataset, Parquet, or hf://datasets/ORG/NAME[@REVISION]"
ADDRESS = re.compile(
    r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?(#(?P<config>[\w.-]+)/(?P<split>[\w.-]+))?"
)
MAX_FILE = 1 << 30  # bytes of an image file; no image within the pixel limit is larger
MOST_TEXT = 1 << 30  # bytes of the prompts and ids of one Parquet file
JUNK = ("thumbs.db", "desktop.ini")  # files that operating systems add to a folder, besides hidden files
NAMED = 3  # unused files named in a note
SUCH_AS = ".jpg, .png, .webp, .gif, .tif, .bmp, .ppm, .jp2 or .avif"
PROMPT = FormField("prompt", ("caption", "text"))
IMAGES = Form(
    "images",
    (
        FormField("image", ("images", "img", "img1", "picture")),
        PROMPT._replace(optional=True),
        FormField("id", ("key", "file_name", "image_id"), optional=True),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Images:
    """Images (n,), none of which has been read yet. `names` are unique: paths within a folder, keys of shards, or row
    numbers. `ids` and `prompts` read those stored by the source, and are None if it stores none.
    """

    title: str  # for messages
    names: tuple[str, ...]
    read: Callable[[int], bytes]  # raises BadInput
    label: Callable[[int], str]  # name of an image in messages
    ids: Callable[[], Sequence[str]] | None = None
    prompts: Callable[[], Sequence[str]] | None = None
    about: Mapping[str, str] = field(default_factory=dict)  # facts about the source
    notes: tuple[str, ...] = ()  # about unused files

    def take(self, rows: Sequence[int]) -> Images:
        """Returns some of the images, in that order, without ids and prompts."""
        return replace(
            self,
            names=tuple(self.names[row] for row in rows),
            read=lambda at: self.read(rows[at]),
            label=lambda at: self.label(rows[at]),
            ids=None,
            prompts=None,
        )


def opened(where: str | Path, *, source: Source | None = None, column: str = "") -> Images:
    """Returns the images at an address: a folder of images, of WebDataset shards or of Parquet; one such file; or
    `hf://datasets/<org>/<name>[@<revision>][#<configuration>/<split>]`. `column` names that of a table's images.

    Raises BadInput, and NotHere with the command that fetches a data set.
    """
    if str(where).startswith("hf:"):
        parts = ADDRESS.fullmatch(str(where))
        if not parts:
            raise BadInput(
                f"{str(where)!r} is not an address of a data set: "
                "hf://datasets/ORG/NAME[@REVISION][#CONFIGURATION/SPLIT]"
            )
        repo, revision = parts["repo"], parts["revision"] or ""
        chosen = {"config": parts["config"] or "default", "split": parts["split"] or "train"}
        table = parquet.table((source or Source()).folder(repo, revision=revision), repo=repo, **chosen)
        return of_table(table, column, about={"kind": "hub", "repo": repo, "revision": revision, **chosen})
    path = Path(where)
    if not path.exists():
        raise BadInput(f"There is no {path}: give {ADDRESSES}")
    found = image_files(path) if path.is_dir() else ImageFiles(names=(), unused=(path.name,))
    about = {"kind": "folder", "path": path.resolve().name}
    if found.names:
        return Images(
            title=path.name,
            names=found.names,
            read=lambda at: content(path / found.names[at]),
            label=lambda at: f"{path.name}/{found.names[at]}",
            about=about,
            notes=found.notes(path),
        )
    shards, tables = (
        [file for file in (path, *sorted(path.rglob(f"*{end}"))) if file.suffix == end and file.is_file()]
        for end in (".tar", ".parquet")
    )
    if shards:
        return _from_tars(path.name, shards, about=about | {"kind": "tar"})
    if tables:
        return of_table(parquet.Table(tuple(tables), path.name), column, about=about | {"kind": "parquet"})
    raise BadInput(
        f"{path} holds no image ({SUCH_AS}), no .tar of WebDataset and no Parquet. {' '.join(found.notes(path))}"
    )


def in_memory(files: Mapping[str, bytes], *, title: str) -> Images:
    """Files in memory."""
    names = tuple(files)
    return Images(title=title, names=names, read=lambda at: files[names[at]], label=names.__getitem__)


def of_table(table: parquet.Table, column: str = "", *, about: Mapping[str, str]) -> Images:
    """Returns a table with a column of images, and of ids or prompts if it has them. Raises BadInput."""
    form = IMAGES._replace(fields=(FormField(column), *IMAGES.fields[1:])) if column else IMAGES
    columns = fitting([form], table.columns, title=table.title).columns(table.columns)
    image, prompt, key = (columns.get(each.name, "") for each in form.fields)
    rows = table.rows(image)

    def read(at: int) -> bytes:
        data = rows[at]
        if not isinstance(data, bytes):
            raise BadInput(f"{table.title}: row {at} of {image!r} holds no image")
        return data

    def values(column: str) -> list[str]:
        for file in table.files:
            check_unpacked(file, [column], most_bytes=MOST_TEXT)
        return table.values(column)[0]

    def prompts() -> list[str]:
        for at, value in enumerate(texts := values(prompt)):
            if not isinstance(value, str) or not value.strip():
                raise BadInput(f"{table.title}: row {at} of {prompt!r} holds no prompt")
        return [text.strip() for text in texts]

    return Images(
        title=f"{table.title}, {image}",
        names=tuple(map(str, range(len(table)))),
        read=read,
        label=lambda at: f"{table.title}, {image} {at}",
        ids=(lambda: list(map(str, values(key)))) if key else None,
        prompts=prompts if prompt else None,
        about={**about, "column": image},
    )


def _from_tars(title: str, shards: Sequence[Path], *, about: Mapping[str, str]) -> Images:
    """Returns the samples of WebDataset shards, with the prompts stored in them. Raises BadInput."""
    samples, unused = tars.samples(list(shards), suffixes=endings())
    notes = ()
    if unused:
        notes = (
            f"{title}: {len(unused):,} images not used ({unused[0]}): in WebDataset a name ends at its first dot, and "
            "what follows is the member's kind. Write a dash for the other dots",
        )
    if not samples:
        raise BadInput(" ".join([f"{title}: the shards hold no image ({SUCH_AS}).", *notes]))
    members, texts = [sample.image for sample in samples], [sample.prompt for sample in samples]
    if any(texts) and None in texts:
        at = texts.index(None)
        raise BadInput(
            f"{title}: {samples[at].name} has no prompt next to it (.txt, .caption or .json), others have one"
        )
    return Images(
        title=title,
        names=tuple(sample.key for sample in samples),
        read=lambda at: members[at].read(),
        label=lambda at: f"{members[at].container.name}, {samples[at].name}",
        prompts=(lambda: texts) if any(texts) else None,
        about=about,
        notes=notes,
    )


def stem(name: str) -> str:
    """Removes the extension of an image file from a path: `a/0001.png` -> `a/0001`, `v1.5` is unchanged. Unicode is
    normalised.
    """
    name = normalize("NFC", name.replace("\\", "/").removeprefix("./"))
    return name[: -len(PurePosixPath(name).suffix)] if is_image_name(name) else name


def natural(name: str) -> list[tuple[int, int, str]]:
    """Returns a sort key that orders numbers within names by value."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def content(path: str | Path) -> bytes:
    """Returns a file's bytes. Raises BadInput for a file that cannot be read or is larger than any image."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    if len(data) > MAX_FILE:
        raise BadInput(f"{Path(path).name} has more than {MAX_FILE >> 20} MB, which no image has")
    return data


# ---- which files of a folder are images: one rule for all readers


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """The sorted files below a folder, by their path within it, without hidden files."""

    names: tuple[str, ...]  # images
    unused: tuple[str, ...]  # all others

    def notes(self, folder: Path) -> tuple[str, ...]:
        """Returns a sentence about the unused files, if there are any."""
        return unused_note(folder.name, self.unused)


def unused_note(title: str, unused: Sequence[str]) -> tuple[str, ...]:
    """Returns a sentence with the number of files that are not images, and the first of them."""
    if not unused:
        return ()
    more = f" and {len(unused) - NAMED:,} more" if len(unused) > NAMED else ""
    are = "files are not used, as they are not images that can be read" if len(unused) > 1 else "file is not used"
    return (
        f"{title}: {len(unused):,} {are} ({', '.join(unused[:NAMED])}{more}). Images end in {SUCH_AS}: save others so",
    )


def image_files(folder: Path) -> ImageFiles:
    """Returns the images below a folder: by their extensions, case-insensitively; files without an extension by their
    content.

    Links to folders are not followed. Raises BadInput for a folder that cannot be read.
    """
    names, unused = [], []
    for below, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.startswith(".") or name.lower() in JUNK:
                continue
            path = Path(below, name)
            within = path.relative_to(folder).as_posix()
            is_image = is_image_name(name) or (not path.suffix and _is_image(path))
            (names if is_image and path.is_file() else unused).append(within)
    return ImageFiles(names=tuple(sorted(names)), unused=tuple(sorted(unused)))


@cache
def endings() -> tuple[str, ...]:
    """Returns the extensions of image files: all that Pillow registers for FORMATS."""
    from PIL import Image

    from compute.content.decoding import FORMATS

    return tuple(sorted(end for end, kind in Image.registered_extensions().items() if kind in FORMATS))


def is_image_name(name: str) -> bool:
    """Returns whether a text is the name of an image file, by its extension."""
    return PurePath(name).suffix.lower() in endings()


def _is_image(path: Path) -> bool:
    from PIL import Image

    from compute.content.decoding import FORMATS

    try:
        with Image.open(path, formats=FORMATS):
            return True
    except Exception:  # readers raise many exceptions for files of another format
        return False


def _refuse(error: OSError) -> None:
    raise BadInput(f"{error.filename} cannot be read ({error.strerror})") from error
