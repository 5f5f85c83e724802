"""Asking a generative judge and parsing its replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.content.messages import LENGTH, REFUSAL, Question, Reply, is_answer
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence
from compute.procedures.shared import conditions, parsing, prompts, ratings
from compute.tasks.data import Choices, OddOneOut
from compute.types import LETTERS, Undefined, shortened

READING = 3  # part of the fingerprint of runs in words: increase it with the rules of `parsing` and `ratings`
QUOTED = 3  # replies quoted in the message about an unreadable judge
LONGEST = 80  # characters of each quotation


def ask(
    subject: Subject, data: Choices | OddOneOut, *, right: NDArray[np.integer], details: Sequence[dict[str, Any]]
) -> Evidence:
    """Asks the judge about every item. An answer that cannot be read counts as neither right nor wrong.

    `settings` counts questions, unread replies, errors and, if reported, tokens. `value` is 1 for a right answer and -1
    for a wrong one. Raises Undefined with the first replies if none could be read.
    """
    questions = prompts.questions(data)
    answers, read = choices(subject, questions)
    picked = np.array([-1 if option is None else option for option in read], dtype=np.int64)
    worth = np.where(picked < 0, np.nan, picked == right)
    texts = [reply.text or reply.error for reply in answers]
    errors = sum(bool(reply.error) for reply in answers)
    if answers and (picked < 0).all():
        wanted = f"names one of the options; those of the first question are {', '.join(questions[0].choices)}"
        raise Undefined(unreadable(subject.row.key, answers, wanted, remedy="Answer with the letter of one option"))
    settings = {"asked": len(answers), "unread": int((picked < 0).sum()) - errors, "errors": errors}
    return Evidence.of(
        settings=settings | totals(answers),
        names=data.names,
        expected=[LETTERS[at] for at in right.tolist()],
        answer=[text if option is None else LETTERS[option] for option, text in zip(read, texts, strict=True)],
        worth=worth,
        value=worth * 2 - 1,
        figures={"accuracy": worth},
        detail=[detail | {"reply": text} for detail, text in zip(details, texts, strict=True)],
    )


def problem_of(line: Mapping[str, Any]) -> str:
    """Returns why no reader can read a stored answer (a line of an answer log); empty if one can."""
    prompt, text, finish = line.get("prompt", ""), line["text"], line.get("finish", "")
    if not is_answer(text, finish):
        return "empty"
    if conditions.FORMAT in prompt:
        return ratings.read(text, finish=finish, lenient=True).problem
    choices = prompts.OPTION.findall(prompt)
    if not choices or parsing.read(text, choices, finish=finish) is not None:
        return ""
    return {LENGTH: "truncated", REFUSAL: "refused"}.get(finish, "unread")


def choices(subject: Subject, questions: Sequence[Question]) -> tuple[list[Reply], list[int | None]]:
    """Returns the judge's reply to each question, and the option that it names. Raises Undefined if no reply
    arrived.
    """
    answers = received(subject, questions)
    return answers, [
        None if reply.error else parsing.read(reply.text, question.choices, finish=reply.finish)
        for question, reply in zip(questions, answers, strict=True)
    ]


def received(subject: Subject, questions: Sequence[Question]) -> list[Reply]:
    """Returns the judge's reply to each question. Raises Undefined if no reply arrived."""
    answers = subject.choose(questions)
    if answers and all(reply.error for reply in answers):
        raise Undefined(unreadable(subject.row.key, answers))
    return answers


def totals(answers: Sequence[Reply]) -> dict[str, Any]:
    """Returns the totals over all replies that arrived, if reported: tokens, seconds of requests, cost in US dollars.

    A quantity that only some replies report has no total. `in_part` gives its lower bound and the number of replies
    that report it, so that a run's cost is never silently too low.
    """
    answered = [reply for reply in answers if not reply.error]
    whole = {}
    in_part = {}
    for name in ("input_tokens", "output_tokens", "seconds", "cost"):
        counted = [count for reply in answered if (count := getattr(reply, name)) is not None]
        if counted and len(counted) == len(answered):
            whole[name] = sum(counted)
        elif counted:
            in_part[name] = {"at_least": sum(counted), "replies": len(counted), "of": len(answered)}
    return whole | ({"in_part": in_part} if in_part else {})


def unreadable(judge: str, replies: Sequence[Reply], wanted: str = "", *, remedy: str = "") -> str:
    """Describes why no reply of a judge counts, with its first distinct replies or errors."""
    texts = list(dict.fromkeys(" ".join(reply.text.split()) for reply in replies if not reply.error))
    errors = list(dict.fromkeys(reply.error for reply in replies if reply.error))
    none = f"none of {judge}'s {len(replies):,} replies"
    if not texts:
        said = "; ".join(shortened(text, LONGEST) for text in errors[:QUOTED])
        return f"{none} came: {said}. Repair the endpoint and run again"
    quoted = ", ".join(f"{shortened(text, LONGEST)!r}" for text in texts[:QUOTED])
    return (
        f"{none} {wanted}. It said: {quoted}. {remedy}. See that the model follows instructions and takes images, and "
        "allow a judge behind an endpoint longer answers (option max_tokens)"
    )
