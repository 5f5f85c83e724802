"""Judgments in and out: the log, the votes of own data, other raters' files, Label Studio's export and plain tables.

Label Studio's JSON has a task's fields in `data` and its answers in `annotations`: of the tag Pairwise as
`{"type": "pairwise", "value": {"selected": "left"}}`, of Choices as `{"value": {"choices": ["left"]}}`. JSON-MIN has
the fields of task and annotation side by side. Which fields are the two images and which the reference follows from
their values and names, as in a table.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

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
from compute.io.files import parse_json
from compute.io.images import is_image_name
from compute.io.tables import is_table, read_lines, read_table
from compute.training.examples import QUALITY_PROMPT
from compute.types import BadInput, CannotWrite, shortened

VOTES = ("name", "prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
REFERENCES = ("reference", "ref", "prompt", "caption", "text", "query", "anchor")  # names of fields
CHOICES = ("choice", "choices", "answer", "preferred", "preference", "winner", "selected", "pairwise")
RATERS, TIMES = ("rater", "annotator", "worker", "user"), ("time", "created_at", "timestamp")
FIRST, SECOND = ("1", "left", "first", "a"), ("2", "right", "second", "b")
NEITHER = ("", "tie", "equal", "both", "neither", "same", "none", "cannot tell", "can't tell", "unsure")
UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # what Label Studio writes before a file's name
LARGEST = 64 << 20  # bytes of a JSON
ELSEWHERE = 2**53 - 1  # the seed of answers that were given elsewhere; no order is drawn by it
NAMED = 5  # faults that are printed

Question = tuple[str, str, str]  # reference, text or "", and two images


def append(path: Path, judgments: Sequence[Judgment]) -> None:
    """Adds rows to a log, on disk when it returns; a row that a killed process left unfinished stays apart."""
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


def judgments_of(data: bytes) -> tuple[list[Judgment], int]:
    """The rows of a log, and how many were skipped as they are not whole."""
    rows, skipped = [], 0
    for line in filter(None, data.split(b"\n")):
        try:
            rows.append(Judgment.model_validate_json(line))
        except ValidationError:
            skipped += 1
    return rows, skipped


def images_of(study: Study) -> set[int]:
    """The numbers of the contents that are images."""
    first = 1 if study.kind == "text" else 0
    return {at for question in study.questions for at in question[first:] if at >= 0}


def votes(study: Study, judgments: Sequence[Judgment], *, folder: str = "") -> str:
    """The answers as own data of the shape `votes`, a CSV: a row for each question that somebody chose in.

    Paths of images begin with `folder`. Repeated questions count once.
    """
    counts: dict[int, list[int]] = {}
    for each in standing(judgments):
        if each.choice is not None and each.draw != asking.REPEAT:
            counts.setdefault(each.question, [0, 0])[each.choice] += 1
    images = images_of(study)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(VOTES)
    for question, chosen in sorted(counts.items()):
        shown = [
            QUALITY_PROMPT if at < 0 else f"{folder}{study.contents[at]}" if at in images else study.contents[at]
            for at in study.questions[question]
        ]
        table.writerow([f"question {question + 1}", *shown, *chosen])
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class GivenJudgment:
    """One answer that was given elsewhere."""

    question: Question
    choice: int | None
    rater: str = ""
    time: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class JudgmentFile:
    """Questions and answers of one file. `skipped`: a sentence on what cannot be used, or nothing."""

    kind: Kind
    judgments: tuple[GivenJudgment, ...]
    skipped: str = ""

    @property
    def questions(self) -> list[Question]:
        """Each question once, whichever alternative was first."""
        return list({(each[0], *sorted(each[1:])): each for each in (one.question for one in self.judgments)}.values())


class ImageNames:
    """The images of a folder, found by what other programs call them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = set(names)
        self._by_base: dict[str, list[str]] = defaultdict(list)
        for name in names:
            self._by_base[_plain(name)].append(name)

    def find(self, text: str) -> str:
        """The image of a path or address. Raises BadInput where there is none, or several have that name."""
        if text in self._names:
            return text
        path = _path(text)
        base = _plain(path)
        found = self._by_base[base] if base in self._by_base else self._by_base.get(UPLOADED.sub("", base, 1), [])
        longest = [name for name in found if f"/{path}".endswith(f"/{name}")]
        if len(longest or found) == 1:
            return (longest or found)[0]
        if found:
            raise BadInput(f"{shortened(text)} may be any of {', '.join(found[:3])}: rename them apart")
        raise BadInput(f"{shortened(text)} is not among the images")


def _path(text: str) -> str:
    """The path in an address; a text that is not one as it is."""
    if text.startswith("/data/") and "?d=" in text:  # Label Studio's local files
        return unquote(text.partition("?d=")[2])
    return unquote(urlsplit(text).path) if "://" in text or text.startswith("/data/") else text


def _plain(path: str) -> str:
    """A file's name as Label Studio stores it: without blanks and signs."""
    return re.sub(r"[^-\w.]", "", PurePosixPath(path).name.strip().replace(" ", "_"))


def read(path: Path, names: ImageNames) -> JudgmentFile | StudyFile:
    """A saved study, Label Studio's JSON or JSON-MIN, or a table of judgments: reference or prompt, two alternatives,
    `choice`, and perhaps rater and time. Raises BadInput where nothing in it can be used."""
    if path.suffix.lower() != ".json":
        table = read_table(path)
        table.column(CHOICES, what="choices")
        return _imported(path.name, names, [(f"row {at}", _of_row(row)) for at, row in enumerate(table.rows(), 1)])
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path.name} has more than {LARGEST >> 20} MB. Export fewer tasks at once")
        content = parse_json(path.read_text(encoding="utf-8-sig"), name=path.name)
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BadInput(
            f"{path.name} is not JSON ({error}). Save the study, or export from Label Studio as JSON"
        ) from error
    if isinstance(content, list):
        return _imported(path.name, names, list(_of_label_studio(content)))
    return parsed(content, name=path.name)


def questions(path: Path, names: ImageNames) -> JudgmentFile:
    """The questions of a table: reference or prompt, and two alternatives. Raises BadInput naming rows."""
    rows = read_table(path).rows()
    given = [(f"row {at}", {"fields": row, "choice": ""}) for at, row in enumerate(rows, 1)]
    found = _imported(path.name, names, given)
    if found.skipped:
        raise BadInput(f"{path.name}: {found.skipped}")
    return found


def prompts(path: Path) -> list[str]:
    """Texts, one a line, or a table's column `prompt`. Raises BadInput."""
    if is_table(path):
        table = read_table(path)
        texts = [str(text or "") for text in table.frame[table.column(("prompt", "text", "caption"), what="prompts")]]
    else:
        texts = read_lines(path)
    kept = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if long := next((text for text in kept if len(text) > LONGEST_TEXT), ""):
        raise BadInput(f"{path.name}: {shortened(long)!r} has more than {LONGEST_TEXT:,} characters. Shorten it")
    if not kept:
        raise BadInput(f"{path.name} has no prompts. Write one a line, or in a column prompt")
    return kept


# ---- other programs' files, as fields, choice, rater, time and seconds


def _of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    def of(names: Sequence[str]) -> str:
        key = next((key for key in row if str(key).lower() in names), None)
        return "" if key is None or row[key] is None else str(row[key])

    own = (*CHOICES, *RATERS, *TIMES, "name", "id")
    fields = {key: value for key, value in row.items() if str(key).lower() not in own}
    return {"fields": fields, "choice": of(CHOICES), "rater": of(RATERS), "time": of(TIMES)}


def _of_label_studio(tasks: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Each annotation, or why it is skipped."""
    for at, task in enumerate(tasks, start=1):
        where = f"task {task.get('id', at) if isinstance(task, dict) else at}"
        data, annotations = _parts(task)
        if not annotations:
            yield where, "it has no annotation"
        for each in annotations:
            if not isinstance(each, dict) or not isinstance(results := each.get("result"), list):
                yield where, "its annotation is not an object with a list `result`"
            elif each.get("was_cancelled"):
                yield where, "its annotation was cancelled"
            else:
                rater, seconds = each.get("completed_by") or "", each.get("lead_time")
                if isinstance(rater, dict):
                    rater = rater.get("email", rater.get("id", ""))
                yield (
                    where,
                    {
                        "fields": data,
                        "choice": _chosen(results),
                        "shown": _shown(results),
                        "rater": str(rater),
                        "time": str(each.get("created_at") or ""),
                        "seconds": float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e6 else 0.0,
                    },
                )


def _parts(task: Any) -> tuple[dict[str, Any], list[Any]]:
    """A task's fields and annotations, of JSON-MIN too."""
    if not isinstance(task, dict):
        return {}, []
    if isinstance(task.get("data"), dict):
        annotations = task.get("annotations", task.get("completions"))
        return task["data"], annotations if isinstance(annotations, list) else []
    values = [value for key, value in task.items() if isinstance(value, list) or key.lower() in CHOICES]
    parts = [part for value in values for part in (value if isinstance(value, list) else [{"choices": [value]}])]
    fields = {key: value for key, value in task.items() if key.lower() not in CHOICES}
    return fields, [{**task, "completed_by": task.get("annotator"), "result": [{"value": part} for part in parts]}]


def _chosen(results: Sequence[Any]) -> str | None:
    """What was selected, None where nothing was."""
    for value in (each.get("value") for each in results if isinstance(each, dict)):
        match value:
            case {"selected": str(chosen)} | {"choices": [chosen]}:
                return str(chosen)
    return None


def _shown(results: Sequence[Any]) -> list[str]:
    """The names of the tags that were compared, the left one first."""
    named = [each.get("to_name") for each in results if isinstance(each, dict)]
    return next((name.split(",") for name in named if isinstance(name, str) and "," in name), [])


# ---- fields to judgments


def _imported(title: str, names: ImageNames, given: Sequence[tuple[str, dict[str, Any] | str]]) -> JudgmentFile:
    """The judgments of one kind that can be used. Raises BadInput without any."""
    judgments: list[GivenJudgment] = []
    kinds: list[Kind] = []
    faults: list[str] = []
    for where, each in given:
        try:
            if isinstance(each, str):
                raise BadInput(each)
            kind, question, keys = _question(each["fields"], names, shown=each.get("shown", []))
            if kinds and kind != kinds[0]:
                raise BadInput(f"it asks another kind of question ({kind}) than the first ({kinds[0]})")
            judgments.append(
                GivenJudgment(
                    question=question,
                    choice=_choice(each["choice"], question, keys, names),
                    rater=each.get("rater", "")[:LONGEST_NAME],
                    time=each.get("time", "")[:40],
                    seconds=each.get("seconds", 0.0),
                )
            )
            kinds.append(kind)
        except BadInput as error:
            faults.append(f"{where}: {error}")
    skipped = f"{len(faults):,} skipped: {'; '.join(faults[:NAMED])}" if faults else ""
    skipped += f"; and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    if not judgments:
        raise BadInput(f"{title} has no judgment that can be used. {skipped or 'It is empty'}")
    return JudgmentFile(kind=kinds[0], judgments=tuple(judgments), skipped=skipped)


def _question(
    fields: Mapping[str, Any], names: ImageNames, *, shown: Sequence[str]
) -> tuple[Kind, Question, tuple[str, str]]:
    """Kind and question of a task or row, and the names of the fields of its alternatives, the left one first."""
    texts = {str(key): value for key, value in fields.items() if isinstance(value, str) and value.strip()}
    reference = next((key for key in texts if key.lower() in REFERENCES), "")
    pair = [key for key in texts if key != reference and is_image_name(_path(texts[key]))]
    pair.sort(key=lambda key: (shown.index(key) if key in shown else 0, "right" in key.lower(), key))
    if len(pair) != 2:
        raise BadInput(f"it has {len(pair)} fields of images besides a reference or prompt, and 2 are needed")
    first, second = (names.find(texts[key]) for key in pair)
    if first == second:
        raise BadInput(f"both alternatives are {shortened(first)}")
    given = texts.get(reference, QUALITY_PROMPT).strip()
    if given == QUALITY_PROMPT:
        return "quality", ("", first, second), (pair[0], pair[1])
    if is_image_name(_path(given)):
        return "image", (names.find(given), first, second), (pair[0], pair[1])
    if len(given) > LONGEST_TEXT:
        raise BadInput(f"its text has more than {LONGEST_TEXT:,} characters")
    return "text", (given, first, second), (pair[0], pair[1])


def _choice(value: str | None, question: Question, keys: tuple[str, str], names: ImageNames) -> int | None:
    """Which alternative a value names; None: neither."""
    if value is None:
        raise BadInput("nothing was chosen")
    text = value.strip().lower()
    for at, known in enumerate((FIRST, SECOND)):
        if text in known or text == keys[at].lower():
            return at
    if text in NEITHER:
        return None
    if is_image_name(_path(value)) and (name := names.find(value)) in question[1:]:
        return question[1:].index(name)
    raise BadInput(f"its choice {shortened(value)!r} is not 1, 2, left, right, tie, or an alternative's name")


# ---- into a study


def placed(study: Study, given: JudgmentFile, *, rater: str) -> list[Judgment]:
    """Judgments from elsewhere as rows of this study, without those of other questions.

    A rater's answer has the number of its question as its order: of two to one question the last counts.
    """
    place: dict[Question, tuple[int, bool]] = {}
    for number, (reference, first, second) in enumerate(study.questions):
        shown = study.contents[reference] if reference >= 0 else ""
        one, other = study.contents[first], study.contents[second]
        place |= {(shown, one, other): (number, False), (shown, other, one): (number, True)}
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
            seconds=each.seconds,
        )
        for each in given.judgments
        if each.question in place
        for number, is_swapped in [place[each.question]]
    ]
