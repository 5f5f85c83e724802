"""How fast a model is on this machine: its own items, a few seconds long, nothing stored."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from PIL import Image

from compute.content import items
from compute.content.items import Column
from compute.content.messages import Question
from compute.features.store import FeatureStore
from compute.features.subject import LoadedSubject
from compute.io.files import temporary_folder
from compute.models.judges.answer_log import Forgetful

SECONDS = 10.0
FIRST = 32  # items that load and warm the model up, and are not timed where there are more

DRAWN = 96  # items that are used where none of the plan's own are here
SIDE = 400  # pixels of a drawn image
WORDS = "a photo of two small red cups beside an old wooden table near the window in the morning light"

Compared = tuple[Column | None, Column]


def drawn(kinds: Iterable[str]) -> list[Column]:
    """A column of drawn items of each kind: images of the size of photographs, sentences, pairs of both."""
    draw = np.random.default_rng(0)
    made = {}
    for kind in kinds:
        if kind in ("image", "pair"):
            made["image"] = items.images([_picture(draw) for _ in range(DRAWN)], of="drawn images")
        if kind in ("text", "pair"):
            sentences = [" ".join(draw.choice(WORDS.split(), draw.integers(4, 16))) + f" {row}" for row in range(DRAWN)]
            made["text"] = items.texts(sentences, of="drawn texts")
        if kind == "pair":
            made["pair"] = items.paired(made["image"], made["text"])
    return list(made.values())


def drawn_pairs(takes: str) -> list[Compared]:
    """Drawn items as a comparison takes them: `image-image`, `image-text`, or `image` for one alone."""
    if takes == "image-text":
        image, text = drawn(["image", "text"])
        return [(text, image)]
    [image] = drawn(["image"])
    return [(None if takes == "image" else image.take(np.roll(np.arange(DRAWN), 1)), image)]


def _picture(draw: np.random.Generator) -> bytes:
    """Coarse colours with some noise, as JPEG: takes about as long to decode as a photograph."""
    coarse = Image.fromarray(draw.integers(0, 255, (8, 8, 3), dtype=np.uint8)).resize((SIDE, SIDE * 3 // 4))
    noisy = np.clip(np.asarray(coarse, dtype=int) + draw.integers(-12, 12, (SIDE * 3 // 4, SIDE, 3)), 0, 255)
    stream = io.BytesIO()
    Image.fromarray(noisy.astype(np.uint8)).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def rates(
    subject: LoadedSubject,
    *,
    columns: Sequence[Column],
    compared: Sequence[Compared] = (),
    questions: Sequence[Question] = (),
    seconds: float = SECONDS,
) -> dict[str, float]:
    """Items a second of each kind: `image`, `text` and `pair` as the columns are, `comparison`, `question`.

    Takes about `seconds` in all, and what loading takes. Raises what loading and encoding raise.
    """
    kinds = list(dict.fromkeys(column.modality for column in columns))
    share = seconds / max(1, len(kinds) + bool(compared) + bool(questions))
    rates = {}
    with temporary_folder() as folder:
        subject.store = FeatureStore(folder)
        for kind in kinds:
            parts = [column for column in columns if column.modality == kind and len(column)]

            def encode(at: int, rows: np.ndarray, parts: Sequence[Column] = parts) -> None:
                subject.prepare([parts[at].take(rows)])

            rates |= _rate(kind, [len(part) for part in parts], encode, share)

        def compare(at: int, rows: np.ndarray) -> None:
            first, second = compared[at]
            subject.compare(None if first is None else first.take(rows), second.take(rows))

        rates |= _rate("comparison", [len(second) for _, second in compared], compare, share)
        if questions:
            subject.model.answers = Forgetful(subject.row)

            def ask(_: int, rows: np.ndarray) -> None:
                subject.choose([questions[row] for row in rows.tolist()])

            rates |= _rate("question", [len(questions)], ask, share, first=1)
    return rates


def _rate(
    kind: str, lengths: Sequence[int], work: Callable[[int, np.ndarray], None], seconds: float, *, first: int = FIRST
) -> dict[str, float]:
    """The rate over random rows of all columns in turn, in steps that double until the time is over. The first step,
    which loads the model and warms it up, is not timed unless it is all there is."""
    draw = np.random.default_rng(0)
    waiting = [(at, draw.permutation(length)) for at, length in enumerate(lengths) if length]
    step, done, began, rates = first, 0, time.perf_counter(), {}
    while waiting:
        at, rows = waiting.pop(0)
        work(at, rows[:step])
        if len(rows) > step:
            waiting.append((at, rows[step:]))
        done += len(rows[:step])
        took = time.perf_counter() - began
        if not rates:
            rates, done, began = {kind: done / took}, 0, time.perf_counter()
            continue
        rates, step = {kind: done / took}, step * 2
        if took > seconds / 2:  # the next step would take as long as all before
            break
    return rates
