"""How the app starts: what the host is told of the models that it named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compute.types import BadInput
from leaderboard import start
from leaderboard.host import accelerator, options, own_models


def test_what_was_said_of_the_models_stands_before_the_error_that_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def record(texts: tuple[str, ...], *, offline: bool, report: Callable[[str], None]) -> None:
        report("Warning: a record is left out")
        raise BadInput("./mine is not a checkpoint")

    monkeypatch.delenv("LIKENESS_DATA", raising=False)
    monkeypatch.setattr(accelerator, "claim", lambda: None)
    monkeypatch.setattr(start, "tune_malloc", lambda: None)
    monkeypatch.setattr(own_models, "record", record)
    with pytest.raises(SystemExit) as ended:
        start.start(options.read(["--models", "./mine"], program="python app.py"))
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (1, "Warning: a record is left out\n")
    assert told.err == "Error: ./mine is not a checkpoint\n"
