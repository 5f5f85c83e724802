"""What a page that is filled when it is opened shows, and what it says where that fails."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from compute.types import BadInput
from leaderboard.page import fill
from leaderboard.web.errors import FAILED


def opened(make: Any, *, outputs: int) -> list[str]:
    """What the outputs hold after the page was opened."""
    with gr.Blocks() as blocks:
        site = SimpleNamespace(blocks=blocks, db=SimpleNamespace(snapshot=nullcontext))
        fill(site, title="Answers", outputs=[gr.HTML() for _ in range(outputs)], make=make)
    values = blocks.fns[0].fn()
    return [values] if outputs == 1 else values


@pytest.mark.parametrize("outputs", [1, 3])
def test_what_is_made_stands_in_the_outputs(outputs: int) -> None:
    assert opened(lambda: list("abc")[:outputs], outputs=outputs) == list("abc")[:outputs]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("error", "sentence"), [(BadInput("No suite <b>."), "No suite &lt;b&gt;."), (OSError("secret"), FAILED)], ids=str
)
def test_a_failure_is_said_once_with_a_link_that_tries_again(error: Exception, sentence: str, outputs: int) -> None:
    def make() -> list[str]:
        raise error

    message, *others = opened(make, outputs=outputs)
    assert "The page Answers could not be loaded." in message and 'role="status"' in message
    assert sentence.replace("'", "&#39;") in message and "secret" not in message
    assert message.count('<a href="">Try again</a>') == 1 and "\n" not in message
    assert others == [""] * (outputs - 1)
