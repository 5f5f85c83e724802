"""What the app makes before anybody visits: its pages' frames, not what they show."""

from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard import server
from leaderboard.data import board_table
from leaderboard.data.database import Database
from leaderboard.pages.about import page as about


def test_pages_read_what_they_show_when_they_are_opened_and_lists_are_made_ahead_after_a_swap(database, monkeypatch):
    made = []

    def counted(module, name):
        whole = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **options: made.append(name) or whole(*args, **options))

    monkeypatch.setattr(server, "Thread", lambda **options: type("Never", (), {"start": lambda self: None})())
    counted(board_table, "load")
    counted(board_table, "language_rankings")
    counted(about, "body")
    db = Database(database)
    try:
        _, launch = server.build(db)
        assert made == []
        for name in ("board", "languages"):
            monkeypatch.setattr(server.SuiteCache, name, lambda *args: None)
        monkeypatch.setattr(server.static, "warm", lambda: None)
        db.prepare()
        monkeypatch.delattr(db._now, "_connection")
        monkeypatch.setattr(db._now, "ask", None)
        client = TestClient(Starlette(routes=launch["app_kwargs"]["routes"][1:]), raise_server_exceptions=False)
        assert {client.get(f"/data/{name}").status_code for name in ("tasks", "models", "search")} == {200}
    finally:
        monkeypatch.undo()
        db.close()
