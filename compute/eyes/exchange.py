"""Reads and writes judgments: the log, votes as user data, other raters' files, Label Studio's export and plain tables.

Label Studio's JSON has a task's fields in `data` and its answers in `annotations`: for the tag Pairwise as `{"type":
"pairwise", "value": {"selected": "left"}}`, for Choices as `{"value": {"choices": ["left"]}}`. JSON-MIN has the fields
of task and annotation at the same level, with a tag's answer under the tag's name. All are converted to rows of a
table, whose fields are recognised by NAMES and content, for the whole file at once.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from compute.eyes import asking
from compute.eyes.study import (
    LONGEST_NAME,
    LONGEST_TEXT,
    Judgment,
    Kind,
    Study,
    StudyFile,
    parsed,
    standing,
)
from compute.io import forms
from compute.io.files import parse_json
from compute.io.forms import BLANK, Form, FormField
from compute.io.tables import TableFile, is_table, read_lines, read_table
from compute.io.votes import NUMBERS, PLACES, SIDES, TIES, side, word
from compute.tasks.image_lists import is_image_name
from compute.training.examples import QUALITY_PROMPT
from compute.types import BadInput, CannotWrite, argument, shortened, words_of

VOTES = ("name", "prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
# Field names of other programs, in lower case without punctuation, and the choices for a tie and for no answer yet. A
# rater's field may also end in one of RATER_ENDS.
NAMES = {
    "reference": "reference|ref|referenceimage|refimage|anchor|prompt|caption|text|query",
    "choice": "choice|choices|answer|preferred|preference|winner|selected|pairwise|better|vote",
    "rater": "rater|annotator|completedby|worker|user|labeler|labeller|judge|evaluator|participant|observer|subjectid",
    "time": "time|timestamp|createdat|updatedat",
    "ignored": "name|id",
    "missing": "|none|nan|null|n/a|na|<na>|nat|-|missing|skipped",
}
RATER_ENDS = ("", "id", "name", "email", "key", "number")
*FIELDS, MISSING = (names.split("|") for names in NAMES.values())
ROLES = {name: role for role, names in zip(NAMES, FIELDS, strict=False) for name in names}
ROLES |= {f"{name}{end}": "rater" for name in ROLES if ROLES[name] == "rater" for end in RATER_ENDS}
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
ADDRESS = re.compile(r"^[\w+.-]+://[^/?#]*|[?#].*")  # the parts of an address that are not its path
UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # the prefix that Label Studio adds to file names
LARGEST = 64 << 20  # bytes of a JSON file
ELSEWHERE = 2**53 - 1  # the seed of answers that were given elsewhere; it draws no order
PROMPTS = Form("prompts", (FormField("prompt", ("text", "caption"), BLANK),))
NAMED = 5  # faults and raters that are printed

Question = tuple[str, str, str]  # reference, text or "", and two images
Find = Callable[[str], str]  # returned by `image_finder`


def append(path: Path, judgments: Sequence[Judgment]) -> None:
    """Appends rows to a log, on disk on return; a row that a killed process left unfinished stays
    on a line of its own.
    """
    rows = "".join(f"{each.model_dump_json()}\n" for each in judgments).encode()
    try:
        with open(path, "a+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                rows = rows if file.read(1) == b"\n" else b"\n" + rows
            file.write(rows)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(f"Cannot write {path}: {error.strerror}. Free some disk space, then answer again") from error


def images_of(study: Study) -> set[int]:
    """Returns the indices of the contents that are images."""
    first = 1 if study.kind == "text" else 0
    return {at for question in study.questions for at in question[first:] if at >= 0}


def chosen(judgments: Sequence[Judgment]) -> dict[int, list[int]]:
    """Returns how often each alternative was chosen, by question with any choice. Repeated questions count once."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for each in standing(judgments):
        if each.choice is not None and each.draw != asking.REPEAT:
            counts[each.question][each.choice] += 1
    return counts


def votes(study: Study, judgments: Sequence[Judgment], *, folder: str = "") -> str:
    """Returns the answers as user data of the shape `votes`, a CSV with a row for each question with a choice.

    Image paths are prefixed with `folder`.
    """
    images = images_of(study)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(VOTES)
    for question, counts in sorted(chosen(judgments).items()):
        shown = [
            QUALITY_PROMPT if at < 0 else f"{folder}{study.contents[at]}" if at in images else study.contents[at]
            for at in study.questions[question]
        ]
        table.writerow([f"question {question + 1}", *shown, *counts])
    return out.getvalue()


class GivenJudgment(NamedTuple):
    """One answer from elsewhere."""

    question: Question
    choice: int | None
    rater: str
    time: str


class JudgmentFile(NamedTuple):
    """Questions and answers of one file, sorted by time. `skipped` describes what cannot be used."""

    kind: Kind
    questions: list[Question]  # without duplicates, whichever alternative was first; also those without an answer
    judgments: tuple[GivenJudgment, ...]
    read: str  # in words: sides, raters, and rows without a choice
    skipped: str


def image_finder(names: Sequence[str]) -> Find:
    """Returns a function that finds an image of a folder by another program's path or address.

    It raises BadInput if there is none, or several have that name.
    """
    by_base: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_base[_plain(name)].append(name)
    known = set(names)

    def find(text: str) -> str:
        if text in known:
            return text
        path = _path(text)
        base = _plain(path)
        found = by_base[base] if base in by_base else by_base.get(UPLOADED.sub("", base, 1), [])
        longest = [name for name in found if f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}")]
        if len(longest or found) == 1:
            return (longest or found)[0]
        if found:
            raise BadInput(f"{shortened(text)} may be any of {', '.join(found[:3])}: rename them apart")
        raise BadInput(f"{shortened(text) or 'an empty field'} is not among the images")

    return find


def _path(text: str) -> str:
    """Returns the path in an address, or the text itself if it is not an address."""
    if text.startswith("/data/") and "?d=" in text:  # Label Studio's local files
        return unquote(text.partition("?d=")[2])
    is_address = "://" in text or text.startswith("/data/")
    return unquote(ADDRESS.sub("", text)) if is_address else text


def _plain(path: str) -> str:
    """Returns a file's name as Label Studio stores it: without blanks and punctuation."""
    return re.sub(r"[^-\w.]", "", PurePosixPath(path).name.strip().replace(" ", "_"))


def read(path: Path, find: Find, *, left: str = "") -> JudgmentFile | StudyFile:
    """Reads a saved study, Label Studio's JSON or JSON-MIN, or a table of judgments.

    A table has reference or prompt, two alternatives, `choice`, and optionally rater and time. `left`: the field of the
    image on the left. Raises BadInput if nothing in it can be used, or if it is ambiguous.
    """
    if path.suffix.lower() != ".json":
        return _imported(path.name, _rows(read_table(path)), find, left=left, is_table=True)
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path.name} has more than {LARGEST >> 20} MB. Export fewer tasks at once")
        content = parse_json(path.read_text(encoding="utf-8-sig"), name=path.name)
    except (OSError, ValueError) as error:
        why = f"{path.name} cannot be read as JSON ({error}). Save the study, or export from Label Studio as JSON"
        raise BadInput(why) from error
    if isinstance(content, list):
        return _imported(path.name, list(_of_label_studio(content)), find, left=left)
    return parsed(content, name=path.name)


def questions(table: TableFile, find: Find) -> JudgmentFile:
    """Reads the questions of a table: reference or prompt, and two alternatives. Raises BadInput if
    none can be used.
    """
    return _imported(table.title, _rows(table), find, is_table=True, is_judged=False)


def prompts(source: Path | TableFile) -> list[str]:
    """Returns texts, one per line, or a table's column `prompt`. Raises BadInput."""
    is_lines = isinstance(source, Path) and not is_table(source)
    texts = read_lines(source) if is_lines else forms.read(source, [PROMPTS])[1]["prompt"]
    title = source.name if isinstance(source, Path) else source.title
    kept = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if long := next((text for text in kept if len(text) > LONGEST_TEXT), ""):
        raise BadInput(f"{title}: {shortened(long)!r} has more than {LONGEST_TEXT:,} characters. Shorten it")
    if not kept:
        raise BadInput(f"{title} has no prompts. Write one a line, or in a column prompt")
    return kept


# ---- other programs' files as rows: the location, and the fields or why it is skipped

Rows = Sequence[tuple[str, dict[str, Any] | str]]


def _rows(table: TableFile) -> Rows:
    return [(f"row {at}", row) for at, row in enumerate(table.rows(), 1)]


def _of_label_studio(tasks: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yields each annotation; for a task without one, and in JSON-MIN, the task."""
    for at, task in enumerate(tasks, start=1):
        if not isinstance(task, dict):
            yield f"task {at}", "it is not an object"
            continue
        where = f"task {task.get('id', at)}"
        if not isinstance(data := task.get("data"), dict):
            yield where, task
            continue
        data = {key: value for key, value in data.items() if _role(key) in ("", "reference")}
        annotations = task.get("annotations", task.get("completions"))
        for each in annotations if isinstance(annotations, list) and annotations else [{"result": []}]:
            if not isinstance(each, dict) or not isinstance(results := each.get("result"), list):
                yield where, "its annotation is not an object with a list `result`"
            elif each.get("was_cancelled"):
                yield where, "its annotation was cancelled"
            else:
                row, answers = data, []
                for part in filter(lambda part: isinstance(part, dict), results):
                    text, tags = _text(part.get("value")), str(part.get("to_name")).split(",")
                    if len(tags) == 2 and {*tags} <= row.keys():
                        row = {tag: row[tag] for tag in tags} | row  # the left one first
                        text = dict(zip(SIDES, tags, strict=True)).get(text, text)
                    answers.append(text)
                known = {*row, *TIES, *sum(PLACES, ())}  # includes field names, for tags that are named like fields
                row |= {"choice": [text for text in answers if {text, word(text)} & known] or answers}
                yield where, row | {key: each.get(key) for key in ("completed_by", "created_at", "updated_at")}


def _text(value: Any) -> str:
    """Returns a cell or a part of JSON as text: a selection, or a person."""
    match value:
        case {"email": str(one)} if one:
            return one
        case {"selected": one} | {"choices": one} | {"id": one}:
            return _text(one)
        case list():
            return " and ".join(filter(None, map(_text, value)))
        case None | dict():
            return ""
    return str(value).strip()


def _role(heading: str) -> str:
    """Returns the key of NAMES that a field matches; empty for an image or anything else."""
    return ROLES.get(re.sub(r"[\W_]", "", heading.lower()), "")


# ---- rows to judgments


def _imported(
    title: str, given: Rows, find: Find, *, left: str = "", is_table: bool = False, is_judged: bool = True
) -> JudgmentFile:
    """Returns the usable judgments of one kind. Raises BadInput if there are none, or if all are ambiguous."""
    faults = [f"{where}: {why}" for where, why in given if isinstance(why, str)]
    rows = [(at, {str(key): _text(row[key]) for key in row if key}) for at, row in given if isinstance(row, dict)]
    cells: dict[str, list[str]] = defaultdict(list)
    for key, text in (cell for _, row in rows for cell in row.items()):
        cells[key] += [text] if text else []
    of = {role: [key for key in cells if _role(key) == role and cells[key]] for role in (*NAMES, "")}
    images = [key for key in of[""] if _are_images(cells[key])]
    if len(images) != 2:
        listed = ", ".join(images) or "none"
        raise BadInput(f"{title} needs 2 fields of images besides a reference or prompt, and has {listed}")
    own = {key.lower() for key in images}
    held = {key: {*map(str.lower, cells[key])}.difference(MISSING, TIES) for key in of[""]}
    choices = of["choice"] or [key for key, said in held.items() if said and said <= {*SIDES, *own}]
    if not is_judged:
        choices = []
    elif not choices:
        listed = ", ".join(cells)
        raise BadInput(f"{title} has the fields {listed}. Call the one that holds left, right or tie `choice`")
    words = {word(text) for key in choices for text in cells[key] if text.lower() not in own}
    numbers = {float(word) for word in words if NUMBER.fullmatch(word)}
    if not (numbers <= {1, 2} or numbers <= {0, 1}):
        listed = ", ".join(f"{number:g}" for number in sorted(numbers)[:NAMED])
        raise BadInput(f"{title} has the choices {listed}. Write left, right or tie, or 1 and 2")
    used = [pair for pair in PLACES if words & {*pair} or pair == NUMBERS and numbers]
    sides = _sides(title, (images[0], images[1]), used, left=left, is_table=is_table)
    places = {"0": 0, "1": 1} if 0 in numbers else {}
    places |= {key.lower(): at for at, key in enumerate(sides)}
    rater, reference = ((*of[role], "")[0] for role in ("rater", "reference"))
    time = ["", *of["time"]][-1]  # created_at is followed by updated_at
    shown = [text for text in cells[reference] if text != QUALITY_PROMPT]
    kind: Kind = "quality" if not shown else "image" if _are_images(shown) else "text"
    judgments: list[GivenJudgment] = []
    asked: dict[Question, Question] = {}
    without = 0
    for where, row in rows:
        try:
            first, second = (find(row.get(key, "")) for key in sides)
            if first == second:
                raise BadInput(f"both alternatives are {shortened(first)}")
            about = "" if kind == "quality" else row.get(reference, "")
            if kind == "image":
                about = find(about)
            elif kind == "text" and (is_image_name(_path(about)) or not 0 < len(about) <= LONGEST_TEXT):
                raise BadInput(
                    f"it is about {shortened(about)!r}, not about a text of 1 to {LONGEST_TEXT:,} characters"
                )
            question, choice = (about, first, second), None
            said = [text for text in {row.get(key, ""): 0 for key in choices} if text.lower() not in MISSING]
            if text := " and ".join(said):
                choice = places.get(text.lower(), places.get(word(text)))
                if choice is None and is_image_name(_path(text)) and (name := find(text)) in question[1:]:
                    choice = question.index(name, 1) - 1
                elif choice is None:
                    choice = side(text)
        except BadInput as error:
            faults.append(f"{where}: {error}")
            continue
        asked[question[0], *sorted(question[1:])] = question
        without += not said
        if said:
            by, at = row.get(rater, "")[:LONGEST_NAME], row.get(time, "")[:40]
            judgments.append(GivenJudgment(question, choice, rater=by, time=at))
    more = f"; and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    skipped = f"{len(faults):,} skipped: {'; '.join(faults[:NAMED])}{more}" if faults else ""
    if not (judgments if is_judged else asked):
        raise BadInput(f"{title} has no judgment that can be used; {without} have no choice. {skipped}")
    named = f"raters are named by {rater}" if rater else "no field names raters"
    return JudgmentFile(
        kind=kind,
        questions=list(asked.values()),
        judgments=tuple(sorted(judgments, key=lambda each: _moment(each.time))),
        read=f"left is {sides[0]}, right is {sides[1]}, {named}, {without} rows have no choice",
        skipped=skipped,
    )


def _are_images(texts: Collection[str]) -> bool:
    """Returns whether most of the texts name images."""
    return 2 * sum(is_image_name(_path(text)) for text in texts) > len(texts)


def _sides(
    title: str, order: tuple[str, str], used: Sequence[tuple[str, str]], *, left: str, is_table: bool
) -> tuple[str, str]:
    """Returns the fields of the left and the right image, from the order of columns or, for JSON, from their names.

    The order of JSON fields has no meaning. `used`: the pairs of words in choices. Raises BadInput if the sides are
    unknown.
    """
    if left in order:
        return order if left == order[0] else order[::-1]

    def are(fields: tuple[str, str], words: tuple[str, str]) -> bool:
        """Returns whether each name contains its word; words of several letters may be inside a longer word."""
        pairs = zip(fields, words, strict=True)
        return all(word in (name.lower() if len(word) > 1 else words_of(name)) for name, word in pairs)

    by_name = {words: named for words in PLACES for named in (order[::-1], order) if are(named, words)}
    sides = by_name.get(SIDES, order)
    if is_table:
        is_clear = all(by_name.get(words, sides) == order for words in used if words != SIDES)
    else:
        is_clear = not used or SIDES in by_name or {*by_name.values()} == {order}
    if left or not is_clear:
        one, other = (argument("left", name) for name in order)
        raise BadInput(
            f"{title} does not tell which image was on the left: its fields are {order[0]} and {order[1]}. "
            f"Add {one} or {other}"
        )
    return sides


def _moment(time: str) -> float:
    """Returns seconds since 1970 for an ISO 8601 time; 0 for anything else."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


# ---- into a study


def placed(study: Study, given: JudgmentFile, *, rater: str) -> list[Judgment]:
    """Converts judgments from elsewhere to rows of this study; judgments of other questions are dropped.

    A rater's answer has the number of its question as its order, so the last of two answers to one question counts.
    """
    names = [*study.contents, ""]  # -1: no reference
    place = {
        tuple(names[at] for at in (reference, *sides)): (number, sides != pair)
        for number, (reference, *pair) in enumerate(study.questions)
        for sides in (pair[::-1], pair)
    }
    return [
        Judgment(
            time=each.time,
            rater=each.rater or rater,
            seed=ELSEWHERE,
            order=number,
            question=number,
            draw=asking.GIVEN,
            left=int(is_swapped),
            choice=None if each.choice is None else int(each.choice != is_swapped),
        )
        for each in given.judgments
        if each.question in place
        for number, is_swapped in [place[each.question]]
    ]


def merged(
    study: Study, here: Sequence[Judgment], given: JudgmentFile | StudyFile, *, rater: str
) -> tuple[list[Judgment], str]:
    """Returns the rows of others that are new in a study, and a sentence on how all were read.

    A rater's answer replaces an older one to the same question. Raises BadInput for a study of other questions.
    """
    if isinstance(given, JudgmentFile):
        rows, read, skipped = placed(study, given, rater=rater), given.read, given.skipped
        others = len(given.judgments) - len(rows)
    elif given.study.key != study.key:
        raise BadInput("It is a study of other questions: only judgments of the same questions can be merged")
    else:
        rows, read, skipped, others = standing(given.judgments), "sides and raters are the study's", "", 0
    known, last = ({(each.rater, each.seed, each.order): each for each in listed} for listed in (here, rows))
    found: dict[str, list[Judgment]] = defaultdict(list)
    for place, each in last.items():
        old = known.get(place)
        if old and old.choice == each.choice and not old.undone:
            found["same"].append(each)
        elif old and 0 < _moment(each.time) < _moment(old.time):
            found["older"].append(each)
        else:
            found["changed" if old else "added"].append(each)
    by = [*dict.fromkeys(each.rater for each in rows)]
    raters = ", ".join(by[:NAMED] or ["nobody"]) + (f" and {len(by) - NAMED} more" if len(by) > NAMED else "")
    added, changed = found["added"], found["changed"]
    against = sum(each.choice != last[each.rater, each.seed, each.order].choice for each in rows)
    more = (
        f"{against} contradict the last of their rater, which counts",
        f"{len(found['same'])} were here already",
        f"{len(found['older'])} are older than the answers here",
        f"{others} are of questions that the study has not",
        skipped,
    )
    sentence = (
        f"{len(added)} judgments added by {raters}, {len(changed)} changed; {read}, "
        f"{len(rows) - len(last)} repeat a question of their rater"
    )
    return [*added, *changed], "; ".join([sentence, *(each for each in more if each[:2] not in ("", "0 "))])
