"""What a page that is filled when it is opened shows, and what it says where that fails."""

from contextlib import nullcontext
from types import SimpleNamespace

import gradio as gr
import pytest

from compute.types import BadInput
from leaderboard.page import fill
from leaderboard.web.errors import FAILED


def opened(make, *, outputs):
    """What the outputs hold after the page was opened."""
    with gr.Blocks() as blocks:
        site = SimpleNamespace(blocks=blocks, db=SimpleNamespace(snapshot=nullcontext))
        fill(site, section="The answers", outputs=[gr.HTML() for _ in range(outputs)], make=make)
    values = blocks.fns[0].fn()
    return [values] if outputs == 1 else values


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "error, sentence", [(BadInput("No suite <b>."), "No suite &lt;b&gt;."), (OSError("secret"), FAILED)], ids=str
)
def test_a_failure_is_said_once_with_a_link_that_tries_again(error, sentence, outputs):
    def make():
        raise error

    message, *others = opened(make, outputs=outputs)
    assert "The answers could not be loaded." in message and 'role="status"' in message
    assert sentence.replace("'", "&#39;") in message and "secret" not in message
    assert message.count('<a href="">Try again</a>') == 1 and "\n" not in message
    assert others == [""] * (outputs - 1)


@pytest.mark.parametrize("rendered", [{0, 1}, {0, 2}], ids=str)
def test_a_failure_leaves_what_was_rendered_with_the_page(rendered):
    """Once the message replaced the first output, which had its text already, and the others were emptied."""

    def make():
        raise BadInput("No suite.")

    with gr.Blocks() as blocks:
        site = SimpleNamespace(blocks=blocks, db=SimpleNamespace(snapshot=nullcontext))
        outputs = [gr.HTML() for _ in range(3)]
        fill(site, section="The answers", outputs=outputs, make=make, rendered=[outputs[at] for at in rendered])
    opening, *others = blocks.fns.values()
    [refused] = [one for one in others if one.outputs]
    [waiting] = {0, 1, 2} - rendered
    values = opening.fn()
    assert [at for at, value in enumerate(values) if value != gr.skip()] == [waiting]
    assert "The answers could not be loaded. No suite." in values[waiting]
    assert refused.outputs == [outputs[waiting]] and "The answers could not be loaded." in refused.js
