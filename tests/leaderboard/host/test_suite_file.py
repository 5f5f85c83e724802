"""The app on a suite's own file: recorded before the build, refused without runs, and opened on its board."""

import pytest

from compute.catalog.own import suite_records
from compute.types import BadInput
from leaderboard.host import options, suite_file


@pytest.fixture
def path(tmp_path):
    (tmp_path / "labels.csv").write_text("text,label\na cat,cat\na dog,dog\n")
    path = tmp_path / "suite.toml"
    path.write_text('title = "Mine"\n[[tasks]]\nfile = "labels.csv"\n')
    return path


def test_the_suite_is_recorded_where_a_build_finds_it(path, tmp_path):
    found = []
    for _ in range(2):
        assert suite_file.record(path, results=tmp_path, offline=True) == "own-mine"
        (suite,), problems = suite_records.recorded(tmp_path)
        assert suite.suite.key == "own-mine" and not problems
        found.append(suite_records.files(tmp_path)[0].read_bytes())
    assert found[0] == found[1], "so that no build follows"


def test_a_suite_without_runs_is_refused_with_the_command(path, database):
    assert suite_file.address(database, "mini", path=path) == "board?suite=mini"
    with pytest.raises(BadInput, match=r"No model has run on suite.toml yet.* run --suite .*suite.toml --models tiny"):
        suite_file.address(database, "own-mine", path=path)


def test_the_option(path, monkeypatch, capsys):
    monkeypatch.delenv("LIKENESS_DATA", raising=False)
    assert options.read([]).suite is None
    assert options.read(["--suite", str(path)]).suite == path
    monkeypatch.setenv("LIKENESS_DATA", "user/data")
    with pytest.raises(SystemExit):
        options.read(["--suite", str(path)])
    assert "unset LIKENESS_DATA" in capsys.readouterr().err
