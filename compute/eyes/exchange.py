"""Judgments in and out: the log, the votes of own data, other raters' files, Label Studio's export and plain tables.

Label Studio's JSON has a task's fields in `data` and its answers in `annotations`: of the tag Pairwise as
`{"type": "pairwise", "value": {"selected": "left"}}`, of Choices as `{"value": {"choices": ["left"]}}`. JSON-MIN has
the fields of task and annotation side by side, a tag's answer under the tag's own name. All become rows of a table
in the form JUDGED.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

import pandas as pd

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
from compute.io.images import is_image_name
from compute.io.tables import TableFile, is_table, read_lines, read_table
from compute.io.votes import side, word
from compute.training.examples import QUALITY_PROMPT
from compute.types import BadInput, CannotWrite, shortened

VOTES = ("name", "prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")
ASKED = (
    FormField("alternative_1", ("image_1", "image1", "image_a", "left_image", "left", "first", "a"), BLANK),
    FormField("alternative_2", ("image_2", "image2", "image_b", "right_image", "right", "second", "b"), BLANK),
    FormField("reference", ("ref", "anchor", "prompt", "caption", "text", "query"), BLANK, optional=True),
)
QUESTIONS = Form("questions", ASKED)
CHOICES = ("choices", "winner", "answer", "preferred", "preference", "selected", "better", "vote", "pairwise")
RATERS = ("annotator", "worker", "user", "labeler", "judge", "participant", "completed_by")
RATERS = (*RATERS, *(f"{name}_{end}" for name in RATERS for end in ("id", "name", "email")))
JUDGED = Form(
    "judgments",
    (
        *ASKED,
        FormField("choice", CHOICES, BLANK),
        FormField("rater", RATERS, BLANK, optional=True),
        FormField("time", ("timestamp", "updated_at", "created_at"), BLANK, optional=True),
    ),
)
MISSING = ("", "none", "nan", "null", "n/a", "na", "<na>", "-", "missing", "skipped")  # choices of nothing yet
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
ADDRESS = re.compile(r"^[\w+.-]+://[^/?#]*|[?#].*")  # what is not the path
UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # what Label Studio writes before a file's name
LARGEST = 64 << 20  # bytes of a JSON
ELSEWHERE = 2**53 - 1  # the seed of answers that were given elsewhere; no order is drawn by it
PROMPTS = Form("prompts", (FormField("prompt", ("text", "caption"), BLANK),))
NAMED = 5  # faults, and raters, that are printed

Question = tuple[str, str, str]  # reference, text or "", and two images
Find = Callable[[str], str]  # of `image_finder`


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


def images_of(study: Study) -> set[int]:
    """The numbers of the contents that are images."""
    first = 1 if study.kind == "text" else 0
    return {at for question in study.questions for at in question[first:] if at >= 0}


def chosen(judgments: Sequence[Judgment]) -> dict[int, list[int]]:
    """How often each alternative was chosen, by question, where any was. Repeated questions count once."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for each in standing(judgments):
        if each.choice is not None and each.draw != asking.REPEAT:
            counts[each.question][each.choice] += 1
    return counts


def votes(study: Study, judgments: Sequence[Judgment], *, folder: str = "") -> str:
    """The answers as own data of the shape `votes`, a CSV: a row for each question that somebody chose in.

    Paths of images begin with `folder`.
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
    """One answer that was given elsewhere."""

    question: Question
    choice: int | None
    rater: str
    time: str


class JudgmentFile(NamedTuple):
    """Questions and answers of one file, in the order of their times. `skipped`: what cannot be used, in words."""

    kind: Kind
    questions: list[Question]  # each once, whichever alternative was first; also those without an answer
    judgments: tuple[GivenJudgment, ...]
    read: str  # how, in words: sides, raters, and what has no choice
    skipped: str


def image_finder(names: Sequence[str]) -> Find:
    """Returns what finds an image of a folder by the path or address that another program has for it.

    That raises BadInput where there is none, or several have that name.
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
    """The path in an address; a text that is not one as it is."""
    if text.startswith("/data/") and "?d=" in text:  # Label Studio's local files
        return unquote(text.partition("?d=")[2])
    is_address = "://" in text or text.startswith("/data/")
    return unquote(ADDRESS.sub("", text)) if is_address else text


def _plain(path: str) -> str:
    """A file's name as Label Studio stores it: without blanks and signs."""
    return re.sub(r"[^-\w.]", "", PurePosixPath(path).name.strip().replace(" ", "_"))


def read(path: Path, find: Find) -> JudgmentFile | StudyFile:
    """A saved study, Label Studio's JSON or JSON-MIN, or a table of judgments (JUDGED). Raises BadInput where nothing
    in it can be used, or its numbers may be meant in two ways."""
    if path.suffix.lower() != ".json":
        return _imported(read_table(path), JUDGED, find)
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path.name} has more than {LARGEST >> 20} MB. Export fewer tasks at once")
        content = parse_json(path.read_text(encoding="utf-8-sig"), name=path.name)
    except (OSError, ValueError) as error:
        why = f"{path.name} cannot be read as JSON ({error}). Save the study, or export from Label Studio as JSON"
        raise BadInput(why) from error
    if not isinstance(content, list):
        return parsed(content, name=path.name)
    rows, faults = _of_label_studio(content)
    frame = pd.DataFrame([row for _, row in rows], index=[where for where, _ in rows]).map(_text)
    return _imported(TableFile(title=path.name, frame=frame), JUDGED, find, faults=faults)


def questions(table: TableFile, find: Find) -> JudgmentFile:
    """The questions of a table (QUESTIONS). Raises BadInput where none can be used."""
    return _imported(table, QUESTIONS, find)


def prompts(source: Path | TableFile) -> list[str]:
    """Texts, one a line, or a table's column `prompt`. Raises BadInput."""
    is_lines = isinstance(source, Path) and not is_table(source)
    texts = read_lines(source) if is_lines else forms.read(source, [PROMPTS])[1]["prompt"]
    title = source.name if isinstance(source, Path) else source.title
    kept = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if long := next((text for text in kept if len(text) > LONGEST_TEXT), ""):
        raise BadInput(f"{title}: {shortened(long)!r} has more than {LONGEST_TEXT:,} characters. Shorten it")
    if not kept:
        raise BadInput(f"{title} has no prompts. Write one a line, or in a column prompt")
    return kept


# ---- other programs' files


def _of_label_studio(tasks: Sequence[Any]) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """A row for each annotation, and for a task without one, with where it is; and why others are skipped."""
    rows, faults = [], []
    for at, task in enumerate(tasks, start=1):
        if not isinstance(task, dict):
            faults.append(f"task {at}: it is not an object")
            continue
        where = f"task {task.get('id', at)}"
        if not isinstance(data := task.get("data"), dict):  # JSON-MIN
            rows.append((where, task))
            continue
        annotations = task.get("annotations", task.get("completions"))
        for each in annotations if isinstance(annotations, list) and annotations else [{"result": []}]:
            if not isinstance(each, dict) or not isinstance(results := each.get("result"), list):
                faults.append(f"{where}: its annotation is not an object with a list `result`")
            elif each.get("was_cancelled"):
                faults.append(f"{where}: its annotation was cancelled")
            else:
                parts = [part for part in results if isinstance(part, dict) and _text(part.get("value"))]
                part = parts[0] if parts else {}
                tags = str(part.get("to_name")).split(",")
                sides = dict(zip(("alternative_1", "alternative_2"), map(data.get, tags), strict=False))
                about = {key: each.get(key) for key in ("completed_by", "created_at", "updated_at")}
                row = data | about | {"choice": part.get("value")}
                rows.append((where, row | sides if len(tags) == 2 and {*tags} <= data.keys() else row))
    return rows, faults


def _text(value: Any) -> str:
    """A cell or a part of JSON as text: what was selected, or who somebody is."""
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


# ---- rows to judgments


def _imported(table: TableFile, form: Form, find: Find, *, faults: Sequence[str] = ()) -> JudgmentFile:
    """The judgments of one kind that can be used. Raises BadInput without any."""
    frame = table.frame.rename(columns=lambda name: re.sub(r"[\W_]+", "_", str(name).strip().lower()))
    fields = form.columns([*frame])
    _, rows, _ = forms.read(replace(table, frame=frame), [form])
    rows = rows.reindex(columns=[field.name for field in JUDGED.fields], fill_value="")
    rows["choice"] = rows["choice"].where(~rows["choice"].str.lower().isin(MISSING), "")
    numbers = {float(each) for each in rows["choice"].map(word) if NUMBER.fullmatch(each)}
    if not (numbers <= {1, 2} or numbers <= {0, 1}):
        listed = ", ".join(f"{number:g}" for number in sorted(numbers)[:NAMED])
        raise BadInput(f"{table.title} has the choices {listed}. Write left, right or tie, or 1 and 2")
    places = {fields[name]: at for at, name in enumerate(("alternative_1", "alternative_2"))}
    places |= {"0": 0, "1": 1} if 0 in numbers else {}
    shown = [is_image_name(_path(text)) for text in rows["reference"] if text not in ("", QUALITY_PROMPT)]
    kind: Kind = "quality" if not shown else "image" if 2 * sum(shown) > len(shown) else "text"
    faults, judgments = [*faults], []
    asked: dict[Question, Question] = {}
    for where, row in rows.iterrows():
        try:
            first, second = find(row.alternative_1), find(row.alternative_2)
            if first == second:
                raise BadInput(f"both alternatives are {shortened(first)}")
            about = "" if kind == "quality" else row.reference
            if kind == "image":
                about = find(about)
            elif kind == "text" and (is_image_name(_path(about)) or not 0 < len(about) <= LONGEST_TEXT):
                raise BadInput(
                    f"it is about {shortened(about)!r}, not about a text of 1 to {LONGEST_TEXT:,} characters"
                )
            question, said = (about, first, second), row.choice
            choice = places.get(said.lower(), places.get(word(said)))
            if choice is None and is_image_name(_path(said)) and (name := find(said)) in question[1:]:
                choice = question.index(name, 1) - 1
            elif choice is None and said:
                choice = side(said)
        except BadInput as error:
            faults.append(f"{where if isinstance(where, str) else f'row {where + 1}'}: {error}")
            continue
        asked[question[0], *sorted(question[1:])] = question
        if said:
            judgments.append(GivenJudgment(question, choice, rater=row.rater[:LONGEST_NAME], time=row.time[:40]))
    without = int((rows["choice"] == "").sum())
    more = f"; and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    skipped = f"{len(faults):,} skipped: {'; '.join(faults[:NAMED])}{more}" if faults else ""
    if not (judgments if form is JUDGED else asked):
        raise BadInput(f"{table.title} has no judgment that can be used; {without} have no choice. {skipped}")
    named = f"raters are named by {fields['rater']}" if "rater" in fields else "no field names raters"
    left, right = (fields[name] for name in ("alternative_1", "alternative_2"))
    return JudgmentFile(
        kind=kind,
        questions=list(asked.values()),
        judgments=tuple(sorted(judgments, key=lambda each: _moment(each.time))),
        read=f"left is {left}, right is {right}, {named}, {without} rows have no choice",
        skipped=skipped,
    )


def _moment(time: str) -> float:
    """Seconds since 1970 of a time in ISO 8601; 0 of anything else."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


# ---- into a study


def placed(study: Study, given: JudgmentFile, *, rater: str) -> list[Judgment]:
    """Judgments from elsewhere as rows of this study, without those of other questions.

    A rater's answer has the number of its question as its order: of two to one question the last counts.
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
    """The rows of others that are new in a study, and a sentence on how all were read.

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
