"""Judges' answers kept on disk with their prompts, so that nothing is asked twice.

`<root>/<model, / as __>/<digest of its settings>/` holds `settings.json` and one JSONL file a process that wrote there;
an answer is a line, flushed as soon as it is there. Errors are no answers and are not kept. The root is
LIKENESS_ANSWERS, else `results/answers`. To ask a model anew, delete its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from compute import paths
from compute.content.messages import Question, Reply
from compute.types import BadInput, Model

VARIABLE = "LIKENESS_ANSWERS"
ROOT = paths.ROOT / "results" / "answers"

Ask = Callable[[Sequence[Question]], Iterable[tuple[int, Reply]]]  # yields the place of a question, and its reply


class AnswerLog:
    """What one model with one set of settings has answered. `settings` hold all that decides its words."""

    def __init__(self, row: Model, *, settings: Mapping[str, Any], root: Path | None = None) -> None:
        self._settings = json.dumps(dict(settings), sort_keys=True, default=str)
        root = root or Path(os.environ.get(VARIABLE) or ROOT)
        self.folder = root / row.key.replace("/", "__") / _digest(self._settings)
        self._kept: dict[str, dict[str, Any]] | None = None
        self._file: TextIO | None = None

    def key(self, question: Question) -> str:
        """Digest of everything that is sent: texts, images' content keys, settings."""
        parts = [part if isinstance(part, str) else [part.key.decode()] for part in question.parts]
        return _digest(json.dumps([parts, self._settings]))

    def answered(
        self, questions: Sequence[Question], ask: Ask, *, progress: Callable[[int], None] | None = None
    ) -> list[Reply]:
        """One reply a question, in order. `ask` gets what has no answer yet, every request once; answers are kept as
        they come. `progress` is told how many replies more are there. Raises what `ask` raises.
        """
        tell = progress or (lambda more: None)
        keys = [self.key(question) for question in questions]
        kept = self._read()
        waiting = {key: question for key, question in zip(keys, questions, strict=True) if key not in kept}
        askers = Counter(key for key in keys if key in waiting)
        tell(len(keys) - askers.total())
        left, errors = list(waiting), {}
        for place, reply in ask(list(waiting.values())):
            key = left[place]
            if reply.error:
                errors[key] = reply.error
            else:
                self._add(key, question=waiting[key], reply=reply)
            tell(askers[key])
        return [self._reply(key, question, errors) for key, question in zip(keys, questions, strict=True)]

    def __len__(self) -> int:
        return len(self._read())

    def _reply(self, key: str, question: Question, errors: Mapping[str, str]) -> Reply:
        if key in errors:
            return Reply(item=question.item, error=errors[key])
        line = self._read()[key]
        return Reply(
            item=question.item,
            text=line["text"],
            input_tokens=line.get("input_tokens"),
            output_tokens=line.get("output_tokens"),
        )

    def _read(self) -> dict[str, dict[str, Any]]:
        """Every whole line of the folder; what a killed process left half-written is passed over."""
        if self._kept is None:
            self._kept = {}
            for file in sorted(self.folder.glob("*.jsonl")):
                for text in file.read_bytes().split(b"\n"):
                    line = _line(text)
                    if line is not None:
                        self._kept[line["key"]] = line
        return self._kept

    def _add(self, key: str, *, question: Question, reply: Reply) -> None:
        line = {
            "key": key,
            "prompt": question.prompt(),
            "text": reply.text,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        try:
            stream = self._stream()
            stream.write(json.dumps(line) + "\n")
            stream.flush()
        except OSError as error:
            self._file = None  # a line may be half-written: what follows goes to a new file
            raise BadInput(
                f"Answers cannot be kept in {self.folder}: {error.strerror}. Make room there, or name "
                f"another folder in {VARIABLE}, and run again: what is kept is not asked twice"
            ) from error
        self._read()[key] = line

    def _stream(self) -> TextIO:
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            settings = self.folder / "settings.json"
            if not settings.exists():
                draft = settings.with_suffix(f".{secrets.token_hex(4)}.draft")
                draft.write_text(self._settings + "\n", encoding="utf-8")
                os.replace(draft, settings)
            name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}-{secrets.token_hex(3)}.jsonl"
            self._file = (self.folder / name).open("x", encoding="utf-8")
        return self._file


class Forgetful(AnswerLog):
    """Keeps no answer beyond the call that asked for it, and nothing on disk: for questions about a visitor's own."""

    def __init__(self, row: Model) -> None:
        super().__init__(row, settings={})

    def answered(
        self, questions: Sequence[Question], ask: Ask, *, progress: Callable[[int], None] | None = None
    ) -> list[Reply]:
        """One reply a question, in order. Raises what `ask` raises."""
        replies = [Reply(item=question.item, error="not answered") for question in questions]
        for place, reply in ask(list(questions)):
            replies[place] = reply
            if progress:
                progress(1)
        return replies


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    whole = isinstance(line, dict) and isinstance(line.get("key"), str) and isinstance(line.get("text"), str)
    return line if whole else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
