"""A bar at a terminal, nothing elsewhere."""

from __future__ import annotations

import io

import pytest

from compute.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_rate_and_time_left() -> None:
    stream = Terminal()
    with Progress(stream=stream).bar("clip, image", total=1000, done=400, unit="image") as advance:
        advance(100)
    shown = stream.getvalue()
    assert "clip, image" in shown and "500/1000" in shown and "image/s" in shown and "<" in shown


def test_elsewhere_it_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    progress = Progress(stream=stream)
    with progress.bar("clip", total=10) as advance:
        advance(10)
    progress.say("done")
    assert stream.getvalue() == ""
    with Progress().bar("clip", total=3) as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


def test_lines_go_where_they_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    progress = Progress(say=lines.append)
    progress.say("10 images")
    progress.tell("waiting")
    assert lines == ["10 images", "waiting"]
    Progress().tell("waiting for another process")
    assert capsys.readouterr().err == "waiting for another process\n"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0.0 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7620, "2 h 07 min")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
