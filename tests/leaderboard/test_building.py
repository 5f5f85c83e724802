"""What the app makes before anybody visits: its pages' frames, not what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaderboard import server
from leaderboard.data import board_table
from leaderboard.data.database import Database
from leaderboard.pages.about import page as about


def test_pages_read_what_they_show_only_when_they_are_opened(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(module: Any, name: str) -> None:
        whole = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **options: made.append(name) or whole(*args, **options))

    monkeypatch.setattr(server, "Thread", lambda **options: type("Never", (), {"start": lambda self: None})())
    counted(board_table, "load")
    counted(board_table, "language_rankings")
    counted(about, "body")
    db = Database(database)
    try:
        server.build(db)
    finally:
        db.close()
    assert made == []
