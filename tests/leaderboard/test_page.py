"""What a page that is filled when it is opened shows, and what it says where that fails."""

from contextlib import nullcontext
from types import SimpleNamespace

import gradio as gr
import pytest

from compute.types import BadInput
from leaderboard.page import fill
from leaderboard.web.errors import FAILED


def opened(error, *, outputs, rendered=()):
    """The outputs of a page whose filling fails, what they hold after it was opened, and its other events."""

    def make():
        raise error

    with gr.Blocks() as blocks:
        site = SimpleNamespace(blocks=blocks, db=SimpleNamespace(snapshot=nullcontext))
        made = [gr.HTML() for _ in range(outputs)]
        fill(site, section="The answers", outputs=made, make=make, rendered=[made[at] for at in rendered])
    opening, *others = blocks.fns.values()
    values = opening.fn()
    return made, [values] if outputs == 1 else values, others


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "error, sentence", [(BadInput("No suite <b>."), "No suite &lt;b&gt;."), (OSError("secret"), FAILED)], ids=str
)
def test_a_failure_is_said_once_with_a_link_that_tries_again(error, sentence, outputs):
    _, (message, *others), _ = opened(error, outputs=outputs)
    assert "The answers could not be loaded." in message and 'role="status"' in message
    assert sentence.replace("'", "&#39;") in message and "secret" not in message
    assert message.count('<a href="">Try again</a>') == 1 and "\n" not in message
    assert others == [""] * (outputs - 1)


@pytest.mark.parametrize("waiting", [1, 2])
def test_a_failure_leaves_what_was_rendered_with_the_page(waiting):
    """Once the message replaced the first output, which had its text already, and the others were emptied."""
    outputs, values, others = opened(BadInput("No suite."), outputs=3, rendered={0, 1, 2} - {waiting})
    assert [at for at, value in enumerate(values) if value != gr.skip()] == [waiting]
    assert "The answers could not be loaded. No suite." in values[waiting]
    [refused] = [one for one in others if one.outputs]
    assert refused.outputs == [outputs[waiting]] and "The answers could not be loaded." in refused.js
