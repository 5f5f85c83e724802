"""The app as it is hosted: on a machine without network and without a home; tests/leaderboard/host has the hub."""

import os

from tests.serving import ROOT, serving

PAGES = (
    "",
    "board?suite=mieb",
    "model",
    "task",
    "about",
    "claims",
    "data/board/unisim-core",
    "data/rank/unisim-core?w=IQA:2",
    "data/claims",
    "export/everything?format=csv",
)
NO_NETWORK = str(ROOT / "tests" / "no_network")


def test_everything_answers_without_network_and_without_a_home(tmp_path):
    """Its database is built on the way, as on a first start; Python refuses every address but this machine's.

    The environment is PATH alone, and a home that nobody can make or write: it lies below a file.
    """
    path = tmp_path / "likeness.duckdb"
    place = {"PATH": os.environ["PATH"], "HOME": "/dev/null/home", "PYTHONPATH": NO_NETWORK}
    place |= {"LIKENESS_DATABASE": str(path), "LIKENESS_RESULTS": str(tmp_path / "none")}
    with serving(place=place) as server:
        assert min(len(server.get(page)) for page in PAGES) > 500
    assert path.is_file()
