"""Groups of drawn questions, images and texts: drawn when they are used, in this process or in a second one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache

from PIL import Image

from compute import processes
from compute.content.items import content_key
from compute.tasks.drawing.render import Pixels
from compute.tasks.drawing.variants import Shown
from compute.tasks.mini.album import png
from compute.training.unisim.data import question_groups
from compute.training.unisim.data.examples import Content
from compute.training.unisim.data.question_groups import Question
from compute.types import LikenessError

DATASET = "drawn-scenes-training"  # its key in the catalogue of data sets


@dataclass(frozen=True)
class DrawnGroup:
    """Contents, and the questions about them by task, as question_groups.py has them."""

    contents: tuple[Content, ...]
    questions: Mapping[str, tuple[Question, ...]]


@dataclass(frozen=True)
class _Sent:
    """What the second process sends of a group: texts, and images with their keys."""

    contents: tuple[tuple[Pixels, bytes] | str, ...]
    questions: Mapping[str, tuple[Question, ...]]


@lru_cache(maxsize=64)  # more than a step of MINI has; beyond it, tasks embed shared images once each
def group(kind: str, seed: int, number: int) -> DrawnGroup:
    """A group of a kind of question_groups.py: the same for the same arguments, while it is cached the same object.

    Raises LikenessError where the process that draws it has ended.
    """
    made = question_groups.drawn(kind, seed=seed, number=number) if _second is None else _sent(kind, seed, number)
    name = f"{DATASET}, {kind} {number}, content"
    return DrawnGroup(tuple(_content(value, f"{name} {at}") for at, value in enumerate(made.contents)), made.questions)


_second: ProcessPoolExecutor | None = None  # that draws, within `second_process`


@contextmanager
def second_process() -> Iterator[None]:
    """Within it, groups are drawn in a process of their own, image by image the same.

    Drawing takes Python's lock for about a third of a step of MINI, in which the thread that trains waits. For commands
    only, as `processes.second` says.
    """
    global _second
    with processes.second() as pool:
        _second = pool
        try:
            yield
        finally:
            _second = None


def draw_here() -> None:
    """Has a process that was forked from one with a second process draw its groups itself."""
    global _second
    _second = None


def _sent(kind: str, seed: int, number: int) -> _Sent:
    try:
        return _second.submit(_drawn, kind, seed, number).result()
    except BrokenProcessPool as error:
        raise LikenessError(
            "The process that draws training images was killed, perhaps because memory ran out. Run the same command "
            "again to go on"
        ) from error


def _drawn(kind: str, seed: int, number: int) -> _Sent:
    group = question_groups.drawn(kind, seed=seed, number=number)
    contents = []
    for value in group.contents:
        pixels = value if isinstance(value, str) else value.pixels()
        contents.append(pixels if isinstance(pixels, str) else (pixels, content_key(png(pixels))))
    return _Sent(tuple(contents), group.questions)


def _content(value: str | Shown | tuple[Pixels, bytes], name: str) -> Content:
    if isinstance(value, str):
        return Content(modality="text", read=lambda: value, name=lambda: name)
    # Drawn once, for the key and for the model, while the group is in memory.
    pixels, key = (cache(value.pixels), None) if isinstance(value, Shown) else ((lambda: value[0]), value[1])
    return Content(
        modality="image",
        read=lambda: png(pixels()),
        name=lambda: name,
        draw=lambda: Image.fromarray(pixels()),
        known_key=key,
    )
