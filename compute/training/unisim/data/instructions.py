"""The training examples as conversations for tuning multi-modal language models (UniSim-LL-N, appendix B.2).

The layout is LLaVA's: a list of entries with `id`, `image` (paths below one folder) and `conversations`, in which an
`<image>` stands for each image in turn. The tuning itself is left to existing trainers.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from compute import drafts
from compute.content import decoding
from compute.content.items import content_key
from compute.progress import Progress
from compute.training.unisim.data.examples import Content, ExampleSet, TrainingExample, by_task, example_at, rows
from compute.types import BadInput

TOKEN = "<image>"
VERSION = 1  # of the templates: raise it when a wording changes
# The paper's numbers of samples (appendix B.2): at most so many of a task.
COUNTS = {"image-choice": 120_000, "image-for-text": 300_000, "text-for-image": 300_000, "quality": 120_000}
CHUNK = 1 << 20  # characters of another file that are read at once


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
class OtherInstructions:
    """Another instruction file, mixed in: so many of its conversations for each of ours (the paper: 500K for 840K)."""

    file: Path  # a JSON list, or JSON lines, in the same layout
    ratio: float
    images: Path | None = None  # the folder of its images; None: its paths are left as they are


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
    leaks: str = "",
    progress: Progress | None = None,
) -> ExportedInstructions:
    """Writes `instructions.json` (with `lines`: `.jsonl`), images under `images/` by content key, and `record.json`.

    At most `counts` examples of each task, none twice, drawn by the seed. Of a task's conversations half have the first
    alternative as the right answer, with every template. The file is streamed, and there whole or not at all; a second
    call writes only the images that are missing. Raises BadInput for examples or another file that cannot be used; of
    the other file everything is checked before the first entry is written.
    """
    tasks = by_task(sets)
    limits = COUNTS if counts is None else counts
    numbers = {task: min(sum(map(len, parts)), limits.get(task, 0)) for task, parts in tasks.items()}
    if not any(numbers.values()):
        raise BadInput("No example is to be written: raise the number of examples a task")
    path = folder / f"instructions.{'jsonl' if lines else 'json'}"
    written: set[str] = set()
    prefixes = tuple(f"{part.task}-{part.dataset}-" for part in sets)
    mixture = _Mixture(other, total=sum(numbers.values()), folder=folder, prefixes=prefixes) if other else None
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
        leaks=leaks,
    )
    drafts.write_text(folder / "record.json", json.dumps(asdict(record), indent=2) + "\n")
    return record


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


class _Mixture:
    """The conversations of another file, spread over its length, at the ratio to ours.

    Ids are unique in what is written, as trainers and `verify` expect. Those of LLaVA's own files are not, as one image
    has several conversations: an id that is missing, or that an earlier entry has, is replaced by `mixed-NUMBER`, the
    entry's number among those that can be used. `prefixes`: ids that begin so are ours.
    """

    def __init__(self, other: OtherInstructions, *, total: int, folder: Path, prefixes: tuple[str, ...]) -> None:
        if other.ratio <= 0:
            raise BadInput(f"A ratio of {other.ratio:g} mixes nothing in: name a number above 0, or no other file")
        self._other, self._prefixes = other, prefixes
        self._ours = self.taken = self.renamed = 0
        counts = Counter(bool(problem(entry)) for entry in entries(other.file))
        available, self.skipped = counts[False], counts[True]
        self._share = round(total * other.ratio), available
        if self._share[0] > available:
            raise BadInput(
                f"{other.file}: a ratio of {other.ratio:g} to {total:,} conversations takes {self._share[0]:,}, and it "
                f"has {available:,} that can be used. Lower the ratio, or the number of examples"
            )
        images = other.images or folder
        for entry, renamed in self._drawn():
            self.renamed += renamed
            missing = next((path for path in image_paths(entry) if not (images / path).is_file()), None)
            if missing:
                remedy = "Complete that folder, or name another" if other.images else "Name the folder"
                raise BadInput(f"{other.file}: its image {missing} is not in {images}. {remedy}: --mix-images FOLDER")
        self._entries = (entry for entry, _ in self._drawn())

    def due(self) -> Iterator[dict[str, Any]]:
        """What belongs after the next of our conversations."""
        self._ours += 1
        for entry in islice(self._entries, round(self._ours * self._other.ratio) - self.taken):
            self.taken += 1
            yield entry

    def _drawn(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """Each entry that is taken, evenly from the whole file; and whether its id is not the one in the file."""
        count, available = self._share
        seen: set[str] = set()
        for at, entry in enumerate(self._usable()):
            if (at + 1) * count // available > at * count // available:
                own = "" if entry.get("id") is None else str(entry["id"])
                name, renamed = own, not own or own in seen or own.startswith(self._prefixes)
                if renamed:
                    name = f"mixed-{at}"
                    while name in seen:
                        name += "-again"
                    entry = {**entry, "id": name}
                seen.add(name)
                yield entry, renamed

    def _usable(self) -> Iterator[dict[str, Any]]:
        for entry in entries(self._other.file):
            if problem(entry):
                continue
            paths = image_paths(entry)
            if self._other.images and paths:
                entry = {**entry, "image": [str((self._other.images / path).absolute()) for path in paths]}
            yield entry


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of an instruction file, a JSON list or JSON lines, read a part at a time. Raises BadInput naming the
    entry that is none."""
    decoder, buffer, number = json.JSONDecoder(), "", 0
    try:
        with path.open(encoding="utf-8") as file:
            ended = False
            while True:
                buffer = buffer.lstrip(" \t\r\n,") if number else buffer.lstrip(" \t\r\n\ufeff[")
                if buffer.startswith("]") or (ended and not buffer):
                    return
                try:
                    entry, end = decoder.raw_decode(buffer)
                except json.JSONDecodeError as error:
                    if ended:
                        raise BadInput(f"{path}, entry {number}: not JSON ({error.msg})") from error
                    more = file.read(max(CHUNK, len(buffer)))  # twice as much each time, for entries of any length
                    ended, buffer = not more, buffer + more
                    continue
                if not isinstance(entry, dict):
                    raise BadInput(f"{path}, entry {number}: {type(entry).__name__}, not an object of LLaVA's layout")
                yield entry
                number, buffer = number + 1, buffer[end:]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}). Name a JSON file in LLaVA's layout") from error


def image_paths(entry: Mapping[str, Any]) -> list[str]:
    """The images of an entry: a list, a single path, or none."""
    value = entry.get("image") or []
    return [value] if isinstance(value, str) else list(value)


def problem(entry: Mapping[str, Any]) -> str:
    """What is wrong with an entry, empty for nothing: turns that alternate, and a token for each image."""
    turns = entry.get("conversations")
    if not isinstance(turns, list) or not turns:
        return "it has no conversations"
    if not all(isinstance(turn, dict) and isinstance(turn.get("value"), str) for turn in turns):
        return "a turn has no text"
    speakers = [turn.get("from") for turn in turns if turn.get("from") != "system"]
    if speakers != ["human", "gpt"] * (len(speakers) // 2) or not speakers:
        return "human and gpt do not take turns"
    tokens, images = sum(turn["value"].count(TOKEN) for turn in turns), len(image_paths(entry))
    return "" if tokens == images else f"it has {tokens} {TOKEN} for {images} images"


def verify(path: Path) -> int:
    """How many entries a file has. Raises BadInput naming the first that a trainer could not use: turns, tokens, ids,
    and images that are not below the file's folder."""
    seen: set[str] = set()
    for number, entry in enumerate(entries(path)):
        wrong = problem(entry)
        missing = [name for name in image_paths(entry) if not (path.parent / name).is_file()]
        if missing:
            wrong = f"its image {missing[0]} is missing"
        if str(entry.get("id")) in seen:
            wrong = "an earlier entry has its id"
        if wrong:
            raise BadInput(f"{path}, entry {number} ({entry.get('id')}): {wrong}")
        seen.add(str(entry.get("id")))
    return len(seen)
