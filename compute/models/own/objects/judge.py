"""A function `ask(messages) -> text` as a judge: it gets questions one by one; answers go to a log as those of others.

`messages` are a list in the form of OpenAI's chat API, with one message of the user; images are data URLs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compute.content import decoding
from compute.content.messages import STOP, Question, Reply
from compute.models.judges.answer_log import AnswerLog
from compute.models.judges.images import grouped, image_part
from compute.models.own.objects.wrapped import Arguments, Wrapped, inputs_of, worded
from compute.types import BadInput, LikenessError

KIND, TAKES = "a function of one input, which is taken for a judge", ()
SETTINGS = {
    "messages": "OpenAI's chat form, one message of the user",
    "images": f"data URLs; PNG where they are not upright RGB in PNG, JPEG or WebP; decoding {decoding.VERSION}",
}


def matches(model: Any) -> bool:
    """Whether the object can be called."""
    return callable(model) and not isinstance(model, type)


def wrap(arguments: Arguments) -> Wrapped:
    """A judge, where the function has one input. Raises BadInput for what takes another number of inputs."""
    count = inputs_of(arguments.model)
    if count not in (1, None):
        raise BadInput(
            f"{arguments.of} takes {count} inputs. A judge takes one, ask(messages) -> text; a metric two, "
            "distance(a, b) with higher_is_better="
        )
    return Wrapped(
        abilities=("choose",),
        modalities=("image", "text"),
        make=lambda row, digest: WrappedJudge(
            ask=arguments.model,
            settings=dict(SETTINGS),
            answers=AnswerLog(row, settings={"digest": digest, **SETTINGS}),
        ),
        settings=SETTINGS,
        code={"model": arguments.model},
        packages=("pillow",),
    )


@dataclass(kw_only=True)
class WrappedJudge:
    """A judge behind a function."""

    ask: Callable[[list[dict[str, Any]]], str]
    settings: dict[str, Any]
    answers: AnswerLog  # the digest among its settings tells them from those of another function of the same name

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order; what has been answered before is not asked.

        A question whose answer is not a text, or that makes the function raise an error, comes back with an `error`.
        Raises NotHere after many of these in a row, and BadItem for an image that cannot be read.
        """
        return self.answers.answered(questions, self._ask)

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[int, Reply]]:
        for position in grouped(questions):
            yield position, self._reply(questions[position])

    def _reply(self, question: Question) -> Reply:
        messages = question.chat(image_part)
        began = time.perf_counter()
        try:
            text = self.ask(messages)
        except LikenessError:
            raise
        except Exception as error:
            return Reply(item=question.item, error=f"the judge raised {worded(error)}")
        if not isinstance(text, str):
            return Reply(item=question.item, error=f"the judge gave a {type(text).__name__}, not a text")
        return Reply(item=question.item, text=text, finish=STOP, seconds=round(time.perf_counter() - began, 4))
