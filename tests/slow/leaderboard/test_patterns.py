"""Patterns that visitors' texts meet take time in proportion to the text, whatever it is."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from compute.analysis import domain
from compute.live import answers, batch
from leaderboard.api import pairs
from leaderboard.live import uploads
from leaderboard.pages.task import routes
from leaderboard.web import gradio_app, limits
from leaderboard.web.redact import redact_paths

LENGTH = 100_000
UNITS = (*"a1 ,.;:/-_=<\né\u0301", "a.", "a;a=", "/a", "a/", "1-", "a ", "://", ";base64,", "10/", "gradio_api/")
BEGINNINGS = ("", "a", "data:image/png;", "example:", "http://", "/gradio_api/")
USES: dict[str, Callable[[str], object]] = {
    "an endpoint's address": pairs.ADDRESS.fullmatch,
    "an endpoint's file": pairs.FILE_NAME.fullmatch,
    "an endpoint's image": pairs.IMAGE.match,
    "a table's example": batch.EXAMPLE.fullmatch,
    "a table's image": batch.IMAGE.fullmatch,
    "a table's address": batch.ADDRESS.fullmatch,
    "a session": uploads.SESSION.fullmatch,
    "a thumbnail": routes.IMAGE.fullmatch,
    "closed routes": limits.CLOSED.search,
    "events": limits.EVENT.search,
    "turns": lambda text: limits.kind_of("GET", text),
    "Gradio's routes": gradio_app.ROUTE.search,
    "Gradio's answers": gradio_app.ANSWER.fullmatch,
    "paths in a sentence": redact_paths,
    "the words of a text": domain.words,
    "a rating": lambda text: list(answers.NUMBER.finditer(text)),
}


@pytest.mark.parametrize("use", USES)
def test_time_is_in_proportion_to_the_text(use: str) -> None:
    for unit in UNITS:
        for beginning in BEGINNINGS:
            text = beginning + unit * (LENGTH // len(unit)) + "\x00"
            assert any(_seconds(use, text) < 0.5 for _ in range(3)), (beginning, unit)


def _seconds(use: str, text: str) -> float:
    started = time.thread_time()  # other tests' threads may still be at work in this process
    USES[use](text)
    return time.thread_time() - started
