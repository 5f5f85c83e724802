"""The training examples as conversations for tuning multi-modal language models (UniSim-LL-N, appendix B.2).

The layout is LLaVA's: a list of entries with `id`, `image` (paths below one folder) and `conversations`, in which an
`<image>` stands for each image in turn. The tuning itself is left to existing trainers.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from compute import drafts
from compute.content import decoding
from compute.content.items import content_key
from compute.progress import Progress
from compute.training.unisim.data.examples import Content, ExampleSet, TrainingExample, by_task, example_at, rows
from compute.training.unisim.data.llava import TOKEN
from compute.training.unisim.data.mixed_in import Mixture, OtherInstructions
from compute.types import BadInput, CannotWrite

VERSION = 1  # of the templates: raise it when a wording changes
# The paper's numbers of samples (appendix B.2): at most so many of a task.
COUNTS = {"image-choice": 120_000, "image-for-text": 300_000, "text-for-image": 300_000, "quality": 120_000}
FILES = ("instructions.json", "instructions.jsonl")  # one of them is written
IMAGE_FOLDER = re.compile("[0-9a-f]{2}")  # below images/: how the content keys in it begin


@dataclass(frozen=True, kw_only=True)
class InstructionTemplate:
    """A question with `{reference}`, `{first}`, `{second}` where contents stand, and its answers for either one."""

    question: str
    answers: tuple[str, str]


_LETTERS = ("A", "B")
TEMPLATES: dict[str, tuple[InstructionTemplate, ...]] = {
    "image-choice": (
        InstructionTemplate(
            question="Reference: {reference}\nA: {first}\nB: {second}\nWhich of A and B looks more like the reference? "
            "Answer with one letter.",
            answers=_LETTERS,
        ),
        InstructionTemplate(
            question="{reference}{first}{second}\nTake the first image as the reference. Is the second or the third "
            "image more similar to it?",
            answers=("The second image.", "The third image."),
        ),
        InstructionTemplate(
            question="{first}{second}\nHere are two candidates, and here is a reference: {reference}\nWhich candidate "
            "would a person say is closer to it, the first or the second?",
            answers=("The first.", "The second."),
        ),
    ),
    "image-for-text": (
        InstructionTemplate(
            question="A: {first}\nB: {second}\nWhich image fits this description better: {reference}\nAnswer with one "
            "letter.",
            answers=_LETTERS,
        ),
        InstructionTemplate(
            question='Two images were made for the text "{reference}".\n{first}{second}\nDoes the first or the second '
            "follow it better?",
            answers=("The first image.", "The second image."),
        ),
        InstructionTemplate(
            question="Description: {reference}\nFirst image: {first}\nSecond image: {second}\nName the image that "
            "matches the description.",
            answers=("First image", "Second image"),
        ),
    ),
    "text-for-image": (
        InstructionTemplate(
            question="{reference}\nA: {first}\nB: {second}\nWhich caption describes the image better? Answer with one "
            "letter.",
            answers=_LETTERS,
        ),
        InstructionTemplate(
            question='Look at this image: {reference}\nFirst caption: "{first}"\nSecond caption: "{second}"\nWhich of '
            "the two is the better caption?",
            answers=("The first caption.", "The second caption."),
        ),
        InstructionTemplate(
            question="Caption 1: {first}\nCaption 2: {second}\n{reference}\nGive the number of the caption that is "
            "true of this image.",
            answers=("1", "2"),
        ),
    ),
    "quality": (
        InstructionTemplate(
            question="A: {first}\nB: {second}\nWhich of the two images has the higher quality? Answer with one letter.",
            answers=_LETTERS,
        ),
        InstructionTemplate(
            question="{first}{second}\nOne of these images is less distorted. Is it the first or the second?",
            answers=("The first image.", "The second image."),
        ),
        InstructionTemplate(
            question="First image: {first}\nSecond image: {second}\nName the image of better visual quality.",
            answers=("First image", "Second image"),
        ),
    ),
}


@dataclass(frozen=True, kw_only=True)
class ExportedInstructions:
    """What was written; stored beside it as `record.json`."""

    file: str
    version: int
    seed: int
    counts: Mapping[str, int]  # task -> conversations
    datasets: Mapping[str, tuple[str, ...]]  # task -> data sets
    images: int  # distinct image files
    mixed: int  # conversations of the other file
    renamed: int  # of these, those without an id of their own in the whole file: they were given one, mixed-NUMBER
    skipped: int  # of the other file, whose tokens are not as many as its images
    leaks: str  # what the comparison with the evaluation items says


def export(
    sets: Sequence[ExampleSet],
    folder: Path,
    *,
    seed: int = 0,
    counts: Mapping[str, int] | None = None,
    other: OtherInstructions | None = None,
    lines: bool = False,
    compare: Callable[[Sequence[Path]], str] | None = None,
    progress: Progress | None = None,
) -> ExportedInstructions:
    """Writes `instructions.json` (with `lines`: `.jsonl`), images under `images/` by content key, and `record.json`.

    At most `counts` examples of each task, none twice, drawn by the seed. Of a task's conversations half have the first
    alternative as the right answer, with every template. The file is streamed, and there whole or not at all; a second
    call writes only the images that are missing. `compare` is called with the other file's images before anything is
    written, once all that is cheaper is checked; the record has what it returns. Raises BadInput for examples or
    another file that cannot be used, of which everything is checked before the first entry is written, and as `check`.
    """
    check(folder, other=other)
    tasks = by_task(sets)
    limits = COUNTS if counts is None else counts
    numbers = {task: min(sum(map(len, parts)), limits.get(task, 0)) for task, parts in tasks.items()}
    if not any(numbers.values()):
        raise BadInput("No example is to be written: raise the number of examples a task")
    path = folder / f"instructions.{'jsonl' if lines else 'json'}"
    written: set[str] = set()
    prefixes = tuple(f"{part.task}-{part.dataset}-" for part in sets)
    mixture = Mixture(other, total=sum(numbers.values()), folder=folder, prefixes=prefixes) if other else None
    compared = compare(mixture.images if mixture else ()) if compare else ""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    bar = (progress or Progress()).bar("Writing conversations", total=sum(numbers.values()), unit="conversation")
    with drafts.replacing(path) as draft, draft.open("w", encoding="utf-8") as file, bar as done:
        write = _writer(file, lines=lines)
        for entry in _interleaved(tasks, numbers, seed=seed, folder=folder, written=written):
            write(entry)
            for mixed in mixture.due() if mixture else ():
                write(mixed)
            done(1)
        if not lines:
            file.write("\n]\n")
    record = ExportedInstructions(
        file=path.name,
        version=VERSION,
        seed=seed,
        counts=numbers,
        datasets={task: tuple(part.dataset for part in parts) for task, parts in tasks.items()},
        images=len(written),
        mixed=mixture.taken if mixture else 0,
        renamed=mixture.renamed if mixture else 0,
        skipped=mixture.skipped if mixture else 0,
        leaks=compared,
    )
    drafts.write_text(folder / "record.json", json.dumps(asdict(record), indent=2) + "\n")
    return record


def check(folder: Path, *, other: OtherInstructions | None = None) -> None:
    """What can be known before any example is read. Raises BadInput for another file, or a folder of its images, that
    cannot be used, and for a folder with something that no export wrote; CannotWrite where nothing can be written."""
    if other:
        if not (math.isfinite(other.ratio) and other.ratio > 0):
            raise BadInput(
                f"--mix-ratio {other.ratio:g}: name a finite number above 0, how many conversations of {other.file} "
                "come for each of ours. To mix nothing in, leave --mix out"
            )
        if other.images and not other.images.is_dir():
            raise BadInput(
                f"--mix-images {other.images}: no such folder. Name the one that the image paths of {other.file} are in"
            )
        _ = other.contents  # raises
    absolute = folder.absolute()
    try:
        existing = next(path for path in (absolute, *absolute.parents) if path.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
        placed = other.contents.folders if other and not other.images else ()
        foreign = _foreign(folder, placed=placed)
    except OSError as error:
        raise CannotWrite(
            f"{folder}: cannot be written ({error.strerror or error}). Check the path and its permissions, or name "
            "another folder"
        ) from error
    if foreign:
        raise BadInput(
            f"{folder} holds {foreign}, which this command did not write. Name a folder that is empty or not there "
            "yet, or one that it wrote before"
        )


def _foreign(folder: Path, *, placed: Container[str]) -> str:
    """The name of something in a folder that no export wrote, empty for nothing.

    A folder with an export's record is an export's, whatever was added. Without one, as a killed run leaves it, it has
    the names that an export writes, and those `placed` there for the other file's images.
    """
    if not folder.is_dir() or _is_record(folder / "record.json"):
        return ""
    images = folder / "images"
    stored = sorted(path.name for path in images.iterdir()) if images.is_dir() else []
    own = {"images"} if images.is_dir() else set()
    if any(map(IMAGE_FOLDER.fullmatch, stored)):
        own.update(FILES)
    names = [name for name in sorted(os.listdir(folder)) if name not in own and not drafts.DRAFT.fullmatch(name)]
    if "images" not in placed:
        names += [f"images/{name}" for name in stored if not IMAGE_FOLDER.fullmatch(name)]
    return next((name for name in names if name not in placed), "")


def _is_record(path: Path) -> bool:
    """Whether a file is an export's record, of an earlier version too."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and {"file", "version", "seed", "counts", "datasets"} <= record.keys()


def conversation(example: TrainingExample, number: int, store: Callable[[Content], str]) -> dict[str, Any]:
    """The `number`-th entry of its task: the right answer is the first alternative at even numbers, and every template
    comes at as many even as odd ones. `store` gives the path of an image."""
    templates = TEMPLATES[example.task]
    template = templates[number // 2 % len(templates)]
    answer = number % 2
    order = example.alternatives if example.preferred == answer else example.alternatives[::-1]
    contents = {"reference": example.reference, "first": order[0], "second": order[1]}
    used = sorted((name for name in contents if f"{{{name}}}" in template.question), key=_position(template))
    paths = [store(contents[name]) for name in used if contents[name].modality == "image"]
    shown = {
        name: TOKEN if contents[name].modality == "image" else contents[name].text().replace(TOKEN, "image").strip()
        for name in used
    }
    return {
        "id": f"{example.task}-{example.dataset}-{number}",
        "image": paths,
        "conversations": [
            {"from": "human", "value": template.question.format(**shown)},
            {"from": "gpt", "value": template.answers[answer]},
        ],
    }


def _position(template: InstructionTemplate) -> Callable[[str], int]:
    return lambda name: template.question.index(f"{{{name}}}")


def _interleaved(
    tasks: Mapping[str, Sequence[ExampleSet]],
    numbers: Mapping[str, int],
    *,
    seed: int,
    folder: Path,
    written: set[str],
) -> Iterator[dict[str, Any]]:
    """Entries of all tasks, spread evenly over the file, so that its beginning is a sample of it."""

    def store(content: Content) -> str:
        data = content.data()
        name = _image_name(content, data)
        if name not in written:
            _write_image(folder / name, data)
            written.add(name)
        return name

    order = {
        task: iter(rows(sum(map(len, tasks[task])), count, seed=seed, task=task, step=0))
        for task, count in numbers.items()
        if count
    }
    written_of = Counter(dict.fromkeys(order, 0))
    for _ in range(sum(numbers.values())):
        task = min(order, key=lambda name: (written_of[name] + 1) / numbers[name])
        yield conversation(example_at(tasks[task], next(order[task])), written_of[task], store)
        written_of[task] += 1


def _image_name(content: Content, data: bytes) -> str:
    try:
        form = (decoding.opened(data).format or "image").lower()
    except BadInput as error:
        raise BadInput(f"{content.name()}: {error}") from error
    key = content_key(data).decode()
    return f"images/{key[:2]}/{key}.{'jpg' if form == 'jpeg' else form}"


def _write_image(path: Path, data: bytes) -> None:
    if path.is_file() and path.stat().st_size == len(data):
        return
    path.parent.mkdir(exist_ok=True)
    draft = drafts.draft_of(path)
    draft.write_bytes(data)
    os.replace(draft, path)


def _writer(file: TextIO, *, lines: bool) -> Callable[[Mapping[str, Any]], None]:
    """Writes entries one by one, as lines or as the elements of one list; the list's end is the caller's."""
    first = True

    def write(entry: Mapping[str, Any]) -> None:
        nonlocal first
        text = json.dumps(entry, ensure_ascii=False)
        file.write(f"{text}\n" if lines else f"{'[' if first else ','}\n{text}")
        first = False

    return write
