"""The app on a suite's own file: recorded before the build, refused without runs, and opened on its board."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from compute.catalog.own import suite_records
from compute.types import BadInput
from leaderboard.host import options, suite_file
from leaderboard.web.sending.pages import OpensOn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text("text,label\na cat,cat\na dog,dog\n")
    path = tmp_path / "suite.toml"
    path.write_text('title = "Mine"\n[[tasks]]\nfile = "labels.csv"\n')
    return path


def test_the_suite_is_recorded_where_a_build_finds_it(path: Path, tmp_path: Path) -> None:
    assert suite_file.record(path, results=tmp_path / "results", offline=True) == "own-mine"
    (suite,), problems = suite_records.recorded(tmp_path / "results")
    assert suite.suite.key == "own-mine" and not problems
    before = suite_records.files(tmp_path / "results")[0].read_bytes()
    suite_file.record(path, results=tmp_path / "results", offline=True)
    assert suite_records.files(tmp_path / "results")[0].read_bytes() == before, "so that no build follows"


def test_a_suite_without_runs_is_refused_with_the_command(path: Path, database: Path) -> None:
    assert suite_file.address(database, "mini", path=path) == "board?suite=mini"
    with pytest.raises(BadInput, match=r"No model has run on suite.toml yet.* run --suite .*suite.toml --models tiny"):
        suite_file.address(database, "own-mine", path=path)


def test_the_option(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.delenv("LIKENESS_DATA", raising=False)
    assert options.read([]).suite is None
    assert options.read(["--suite", str(path)]).suite == path
    monkeypatch.setenv("LIKENESS_DATA", "user/data")
    with pytest.raises(SystemExit):
        options.read(["--suite", str(path)])
    assert "unset LIKENESS_DATA" in capsys.readouterr().err


@pytest.mark.parametrize("root", ["", "/likeness"])
def test_who_opens_the_app_comes_to_the_board_and_its_links_lead_where_they_say(root: str) -> None:
    app = Starlette(
        routes=[Route("/{path:path}", lambda request: PlainTextResponse("the page"))],
        middleware=[Middleware(OpensOn, address="board?suite=own-mine")],
    )
    client = TestClient(app, root_path=root)
    typed = {"sec-fetch-site": "none"}
    answer = client.get(f"{root}/", headers=typed, follow_redirects=False)
    assert answer.status_code == 307 and answer.headers["location"] == f"{root}/board?suite=own-mine"
    assert answer.headers["cache-control"] == "no-store"
    for address, headers in (
        (f"{root}/", {"sec-fetch-site": "same-origin"}),
        (f"{root}/", {}),
        (f"{root}/?q=1", typed),
        (f"{root}/board", typed),
    ):
        assert client.get(address, headers=headers, follow_redirects=False).text == "the page", address
