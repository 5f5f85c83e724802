"""The prompts of a comparison: which prompt each image was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compute.io.tables import read_lines, read_table
from compute.tasks.generators.sets import some, stem
from compute.types import BadInput

IMAGE_COLUMNS = ("image", "file_name", "file", "id", "key", "name")
PROMPT_COLUMNS = ("prompt", "caption", "text")


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Prompts by the id of their images; `ordered` where they name no images and go by the images' order."""

    title: str  # for messages
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    ordered: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Says how many prompts repeat: their images count as independent, which they are not quite."""
        extra = [text for text, count in Counter(self.texts).items() if count > 1]
        if not extra:
            return ()
        return (
            f"{self.title}: {some(map(_short, extra), noun='prompt')} used more than once; every image counts as a "
            "pair of its own",
        )


def read(path: Path) -> Prompts:
    """The prompts in a file: a table (`compute.io.tables`) of images and prompts, or a text, a prompt a line.

    A table has a column of IMAGE_COLUMNS and one of PROMPT_COLUMNS, in any case of letters; an image goes by its path
    within its folder without the ending. The lines of a .txt go with the images in the order of their names. Raises
    BadInput for a missing file or column, and for an empty prompt, with its row.
    """
    if path.suffix.lower() == ".txt":
        lines = read_lines(path)
        ids = [f"line {row}" for row in range(1, len(lines) + 1)]
        return checked(title=path.name, ids=ids, texts=lines, ordered=True)
    table = read_table(path)
    rows = table.rows()
    image, prompt = table.column(IMAGE_COLUMNS, what="images"), table.column(PROMPT_COLUMNS, what="prompts")
    return checked(title=path.name, ids=[stem(str(row[image])) for row in rows], texts=[row[prompt] for row in rows])


def of_mapping(prompts: Mapping[str, str]) -> Prompts:
    """Prompts by image, from Python. Raises BadInput."""
    return checked(title="prompts", ids=[stem(str(key)) for key in prompts], texts=list(prompts.values()))


def of_sequence(prompts: Sequence[str]) -> Prompts:
    """Prompts in the order of the images, from Python. Raises BadInput."""
    return checked(title="prompts", ids=[str(row) for row in range(len(prompts))], texts=list(prompts), ordered=True)


def checked(*, title: str, ids: Sequence[str], texts: Sequence[object], ordered: bool = False) -> Prompts:
    """Raises BadInput for ids that repeat and for prompts that are empty or not text."""
    if not ids:
        raise BadInput(f"{title} holds no prompt")
    repeated = [key for key, count in Counter(ids).items() if count > 1]
    if repeated:
        raise BadInput(f"{title}: {some(repeated, noun='image')} listed more than once. Leave one row for each")
    clean = []
    for at, (key, text) in enumerate(zip(ids, texts, strict=True), start=1):
        if not isinstance(text, str) or not text.strip():
            raise BadInput(f"{title}, row {at} ({key}): the prompt is empty. Write one, or remove the row")
        clean.append(text.strip())
    return Prompts(title=title, ids=tuple(ids), texts=tuple(clean), ordered=ordered)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
