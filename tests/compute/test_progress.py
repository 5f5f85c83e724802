"""A bar at a terminal, nothing elsewhere."""

import io
import queue

import pytest

from compute.progress import Progress, duration, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_rate_and_time_left():
    stream = Terminal()
    with Progress(stream=stream).bar("clip, image", total=1000, done=400, unit="image") as advance:
        advance(100)
    shown = stream.getvalue()
    assert "clip, image" in shown and "500/1000" in shown and "image/s" in shown and "<" in shown


def test_elsewhere_it_is_quiet(capsys):
    stream = io.StringIO()
    for progress in (Progress(stream=stream), Progress()):
        with progress.bar("clip", total=10) as advance:
            advance(10)
    assert stream.getvalue() == "" and capsys.readouterr() == ("", "")


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is():
    """Each line is waited for: how long that takes is the machine's."""
    lines = queue.Queue()

    class Log(io.StringIO):
        def write(self, text):
            if text.strip():
                lines.put(text)
            return len(text)

    progress = Progress(stream=io.StringIO())
    with working("likeness run", stream=Log(), first=0.0, every=0.001):
        assert lines.get(timeout=60).endswith("likeness run")
        with progress.bar("clip, image", total=1000, unit="image") as advance:
            advance(400)
            shown = (lines.get(timeout=60) for _ in range(100_000))
            assert any("clip, image: 400 of 1,000 images, " in line and line.endswith(" left") for line in shown)
    with working("likeness run", stream=(terminal := Terminal()), first=60):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    "seconds, said",
    [(0.04, "0.0 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7620, "2 h 07 min")],
)
def test_durations(seconds, said):
    assert duration(seconds) == said
