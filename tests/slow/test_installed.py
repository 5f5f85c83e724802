"""The package as pip installs it: a wheel, in an environment of its own, started in an empty folder.

Two environments: `whole` sees all that the tests' own has; `slim` sees only what the wheel requires without an extra,
and what these packages require in turn, as after a bare `pip install`.
"""

import json
import os
import subprocess
import sys
from base64 import b64encode
from contextlib import contextmanager
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from compute import remote
from compute.versions import EXTRAS
from tests import test_wheel
from tests.compute.live.pictures import png
from tests.serving import serving

TASK = "mini/image-choice"
OWN = """
import numpy as np
from likeness import compute

def distance(a, b):
    "Between the mean colours of two images."
    return float(np.linalg.norm(np.asarray(a, float).mean((0, 1)) - np.asarray(b, float).mean((0, 1))))

scores = compute.evaluate(
    distance, suite="mini", name="mean-colour", version="1", higher_is_better=False, offline=True
)
print(scores.model.key)
"""
TYPED = """
import likeness
import torch
from likeness import compute


def mean_of(model: str) -> float | None:
    scores = compute.evaluate(model, tasks=["mini/image-choice"], progress=False)
    place = scores.rank("computed")
    print(place.rank, place.rank_low, place.rank_high, scores.frame())
    return scores.mean.mean


def better(first: str, second: str, table: str) -> str:
    found = compute.compare(first, second, scores=table)
    return found.better if found.p < 0.01 else ""


def order(table: str) -> list[int]:
    ranking = likeness.rank(table, aggregate="task-mean")
    return [int(place) for place in ranking.rank]


def loss(images: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    metric = likeness.metric("ms-ssim").to(images.device)
    values = metric(images, target)
    return 1 - values.mean() if metric.higher_is_better else values.mean()
"""


class Installed:
    """A fresh environment with the wheel, which finds the other packages in the folder `sees`.

    `work`: an empty folder to work in; `data`: the user's data folder for the program.
    """

    def __init__(self, folder, wheel, *, sees):
        self.python = test_wheel.environment(folder, wheel, sees=sees)
        self.command = self.python.with_name("likeness")
        self.work, self.data = folder / "work", folder / "home" / ".local" / "share" / "likeness"
        self.work.mkdir()
        # Without what would lead back to the checkout, or to the files of whoever runs the tests.
        named = ("PYTHON", "LIKENESS_", "XDG_", "GRADIO_")
        bare = {name: value for name, value in os.environ.items() if not name.startswith(named)}
        self.place = bare | {"HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}

    def run(self, *words, **own):
        """What a program prints that ends well."""
        return test_wheel.run(*words, cwd=self.work, env=self.place | own)

    def app(self):
        """`likeness`, on the first free port."""
        return serving("--offline", command=[self.command], place=self.place, cwd=self.work)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return test_wheel.built(tmp_path_factory.mktemp("wheel"))


def required(wheel, *, extra=""):
    """What the wheel's metadata requires with this Python, by an extra or none."""
    (distribution,) = metadata.distributions(path=[str(wheel)])

    def taken(one, extra):
        return one.marker is None or one.marker.evaluate({"extra": extra})

    every = map(Requirement, distribution.requires)
    return [one for one in every if taken(one, extra) and not (extra and taken(one, ""))]


def closure(requirements):
    """The installed distributions that the requirements come to, those of these distributions included."""
    waiting, seen, found = list(requirements), set(), {}
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, extras := frozenset(requirement.extras)) in seen:
            continue
        seen.add((name, extras))
        found[name] = metadata.distribution(name)
        for one in map(Requirement, found[name].requires or ()):
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append(one)
    return found


@contextmanager
def leaves_its_packages_alone(installed):
    (packages,) = installed.python.parents[1].glob("lib/python*/site-packages")

    def contents():
        files = {path: path.stat() for path in packages.rglob("*") if path.is_file()}
        return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in files.items()}

    before = contents()
    yield installed
    assert contents() == before and not any(installed.work.iterdir())


@pytest.fixture(scope="module")
def whole(wheel, tmp_path_factory):
    made = Installed(tmp_path_factory.mktemp("whole"), wheel, sees=test_wheel.own_packages())
    with leaves_its_packages_alone(made):
        yield made


@pytest.fixture(scope="module")
def slim(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slim")
    (others := folder / "others").mkdir()
    for distribution in closure(required(wheel)).values():
        for name in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            if not (others / name).exists():
                (others / name).symlink_to(distribution.locate_file(name))
    made = Installed(folder, wheel, sees=others)
    with leaves_its_packages_alone(made):
        yield made


# ---- the wheel


def test_the_wheel_requires_what_requirements_txt_lists(wheel):
    """Without an extra the first part, with `compute` all of it: nothing twice, nothing lost."""
    lines = [line.partition("#")[0].strip() for line in (test_wheel.ROOT / "requirements.txt").read_text().splitlines()]
    needed = [one for one in map(Requirement, filter(None, lines)) if not one.marker or one.marker.evaluate()]
    listed = {f"{one.name}{one.specifier}" for one in needed}
    base, extra = required(wheel), required(wheel, extra="compute")
    plain = [f"{one.name}{one.specifier}" for one in (*base, *extra)]
    assert sorted(plain) == sorted(listed)
    assert not {"torch", "transformers", "timm", "scikit-learn", "umap-learn", "pyarrow"} & {*closure(base)}
    for package, extra in EXTRAS.items():
        assert package in {one.name for one in required(wheel, extra=extra)}, "without an extra where it is empty"


# ---- the command, all packages installed


def test_runs_are_stored_in_the_users_data_folder_and_shown(whole):
    """Of the bundled model, whose files are assets, and of a model of one's own by a script of a few lines."""
    words = ("run", "--suite", "mini", "--models", "tiny,ssim", "--tasks", TASK, "--offline")
    assert f"tiny, {TASK}: accuracy 0.8500" in whole.run(whole.command, *words)
    assert len(list(whole.data.glob("results/tiny/*/*/run.json"))) == 1
    assert whole.run(whole.python, "-c", OWN).split() == ["own/mean-colour"]
    with whole.app() as server:
        assert b"own/mean-colour" in server.get("data/board/mini?o=computed")


def test_a_script_that_uses_the_python_interface_passes_mypy(whole, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", whole.python, "script.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_variables_move_what_is_written(whole):
    where = "from likeness.compute import paths; print(paths.DATABASE, paths.RESULTS)"
    home = str(whole.data)
    for variables, expected in (
        ({}, f"{home}/likeness.duckdb {home}/results"),
        ({"LIKENESS_HOME": "/a"}, "/a/likeness.duckdb /a/results"),
        ({"LIKENESS_HOME": "/a", "LIKENESS_RESULTS": "/b"}, "/a/likeness.duckdb /b"),
        ({"XDG_DATA_HOME": "/c"}, "/c/likeness/likeness.duckdb /c/likeness/results"),
        ({"XDG_DATA_HOME": "c"}, f"{home}/likeness.duckdb {home}/results"),  # relative: invalid, says the specification
    ):
        assert whole.run(whole.python, "-c", where, **variables).split() == expected.split()


# ---- the command without the extra


def test_without_the_extra_the_board_is_built_and_every_page_shown(slim):
    """From nothing: the first start builds the database and begins anew."""
    code = "from likeness.leaderboard.pages import VIEWS; print(*(view.key for view in VIEWS))"
    pages = slim.run(slim.python, "-c", code)
    with slim.app() as server:
        assert (slim.data / "likeness.duckdb").is_file()
        assert len(json.loads(server.get("data/board/unisim-core"))["rows"]) > 10
        for key in pages.split()[1:]:
            assert len(server.get(key)) > 10_000, key
        images = ["data:image/png;base64," + b64encode(png(colour, (64, 64))).decode() for colour in ("orange", "teal")]
        pair = dict(zip(("first", "second"), images, strict=True))
        ssim, tiny = remote(server.address).score_pair(**pair, models="ssim,tiny").itertuples()
        assert -1 <= ssim.score < 1 and not ssim.problem
        assert not tiny.score <= 1 and "torch" in tiny.problem
