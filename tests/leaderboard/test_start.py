"""How the app starts: what the host is told of the models that it named."""

from types import SimpleNamespace

import pytest

from compute.types import BadInput
from leaderboard import start
from leaderboard.host import accelerator, options, own_models


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """Nothing of the machine and its environment."""
    for name in ("LIKENESS_DATA", "LIKENESS_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(accelerator, "claim", lambda: None)
    monkeypatch.setattr(start, "tune_malloc", lambda: None)


def test_what_was_said_of_the_models_stands_before_the_error_that_ends_it(monkeypatch, capsys):
    def record(texts, *, offline, report):
        report("Warning: a record is left out")
        raise BadInput("./mine is not a checkpoint")

    monkeypatch.setattr(own_models, "record", record)
    with pytest.raises(SystemExit) as ended:
        start.start(options.read(["--models", "./mine"], program="python app.py"))
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (1, "Warning: a record is left out\n")
    assert told.err == "Error: ./mine is not a checkpoint\n"


@pytest.mark.parametrize("host, keyed", [("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_study_on_a_reachable_address_has_a_key_that_the_host_is_told(host, keyed, tmp_path, monkeypatch, capsys):
    from leaderboard import server

    monkeypatch.setattr(start, "bring_up_to_date", lambda path, report: False)
    monkeypatch.setattr(start.StudyFolder, "opened", lambda path: SimpleNamespace(study="questions"))
    built = {}
    monkeypatch.setattr(server, "build", lambda path, **given: (built.update(given), {}))
    monkeypatch.setattr(server, "serve", lambda blocks, launch: None)
    start.start(options.read(["--host", host, "--eyes", str(tmp_path)], program="python app.py"))
    told, key = capsys.readouterr().out, built["study_key"]
    assert (bool(key), built["opens_on"]) == (keyed, "" if keyed else "eyes")
    assert (f"/eyes?key={key} " in told) == keyed
