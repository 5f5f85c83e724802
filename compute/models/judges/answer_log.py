"""Judges' answers, stored on disk with their prompts, so that no question is asked twice.

`<root>/<model, / as __>/<digest of its settings>/` holds `settings.json` and one JSONL file per process; each answer is
a line, flushed immediately. Errors are not answers and are not stored. The root is LIKENESS_ANSWERS, else
`results/answers`. To ask a model again, delete its folder; `likeness answers --drop-invalid` removes answers that
cannot be parsed.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from compute import paths
from compute.content.items import content_key
from compute.content.messages import STOP, Question, Reply, is_answer
from compute.io.files import write_text
from compute.types import BadInput, Model, NotHere

VARIABLE = "LIKENESS_ANSWERS"
IN_A_ROW = 20  # consecutive questions that fail before the run stops
RECORDED = ("finish", "input_tokens", "output_tokens", "seconds", "cost")  # fields of a reply; older logs have fewer

Ask = Callable[[Sequence[Question]], Iterable[tuple[int, Reply]]]  # yields the position of a question, and its reply


def usual_root() -> Path:
    """Returns the folder with the answers of all judges."""
    return Path(os.environ.get(VARIABLE) or paths.RESULTS / "answers")


def lines(file: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yields each line of a log with its answer, or None for a damaged or incomplete line."""
    for text in file.read_bytes().decode(errors="replace").split("\n"):
        if text.strip():
            try:
                line = json.loads(text)
                yield text, line if isinstance(line["key"], str) and isinstance(line["text"], str) else None
            except (ValueError, LookupError, TypeError):
                yield text, None


class AnswerLog:
    """Answers of one model with one set of settings. `settings` holds everything that affects the wording."""

    def __init__(self, row: Model, *, settings: Mapping[str, Any], root: Path | None = None) -> None:
        self._settings = json.dumps(dict(settings), sort_keys=True, default=str)
        self._name = row.key
        self._is_of_endpoint = settings.get("adapter") == "endpoint"
        self.folder = (root or usual_root()) / row.key.replace("/", "__") / content_key(self._settings).decode()
        self._stored: dict[str, Reply] | None = None
        self._file: TextIO | None = None

    def key(self, question: Question) -> str:
        """Returns the digest of everything that is sent: texts, content keys of images, settings, and the answer's
        limit.
        """
        parts = [part if isinstance(part, str) else [part.key.decode()] for part in question.parts]
        limit = [] if question.longest is None else [question.longest]
        return content_key(json.dumps([parts, self._settings, *limit])).decode()

    def answered(self, questions: Sequence[Question], ask: Ask) -> list[Reply]:
        """Returns one reply per question, in order. `ask` gets every question without a stored answer once; answers are
        stored as they arrive. Raises what `ask` raises, and NotHere after IN_A_ROW consecutive errors.
        """
        keys, stored = [self.key(question) for question in questions], self._read()
        waiting = {key: question for key, question in zip(keys, questions, strict=True) if key not in stored}
        left, errors, in_a_row = list(waiting), {}, 0
        for position, reply in ask(list(waiting.values())):
            key = left[position]
            if not reply.error:
                in_a_row = 0
                self._add(key, question=waiting[key], reply=reply)
                continue
            in_a_row += 1
            errors[key] = Reply(item="", error=reply.error)
            if in_a_row == IN_A_ROW:
                raise NotHere(
                    f"{self._name} failed {in_a_row} questions in a row; the last: {reply.error}. Fix it and run "
                    "again: stored answers are not asked for twice"
                )
        replies = {**stored, **errors}
        return [replace(replies[key], item=question.item) for key, question in zip(keys, questions, strict=True)]

    def _read(self) -> dict[str, Reply]:
        """Returns every answer in the folder; incomplete lines of a killed process are skipped."""
        if self._stored is None:
            self._stored = {}
            for file in sorted(self.folder.glob("*.jsonl")):
                for _, line in lines(file):
                    # Earlier versions stored a provider's failure as an empty answer. A function's answer may be empty.
                    finish = line.get("finish", "") if line else ""
                    is_own = finish == STOP and not self._is_of_endpoint
                    if line and (is_own or is_answer(line["text"], finish)):
                        more = {name: line[name] for name in RECORDED if name in line}
                        self._stored[line["key"]] = Reply(item="", text=line["text"], **more)
        return self._stored

    def _add(self, key: str, *, question: Question, reply: Reply) -> None:
        line = {
            "key": key,
            "prompt": question.prompt(),
            "text": reply.text,
            **{name: getattr(reply, name) for name in RECORDED},
            "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        try:
            stream = self._stream()
            stream.write(json.dumps(line) + "\n")
            stream.flush()
        except OSError as error:
            self._file = None  # the last line may be incomplete, so the next goes to a new file
            raise BadInput(
                f"Answers cannot be stored in {self.folder}: {error.strerror}. Make room there, or name "
                f"another folder in {VARIABLE}, and run again: stored answers are not asked for twice"
            ) from error
        self._read()[key] = reply

    def _stream(self) -> TextIO:
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            settings = self.folder / "settings.json"
            if not settings.exists():
                write_text(settings, self._settings + "\n")
            name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}-{secrets.token_hex(3)}.jsonl"
            self._file = (self.folder / name).open("x", encoding="utf-8")
        return self._file


class Forgetful(AnswerLog):
    """A log that stores no answer beyond the call that asked for it, and nothing on disk: for questions about visitors'
    data.
    """

    def __init__(self, row: Model) -> None:
        super().__init__(row, settings={})

    def answered(self, questions: Sequence[Question], ask: Ask) -> list[Reply]:
        """Returns one reply per question, in order. Raises what `ask` raises."""
        replies = dict(ask(questions))
        return [replies[position] for position in range(len(questions))]
