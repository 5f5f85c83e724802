"""Connecting to a cluster that `ray start` made: where it demands a token, where it demands none, and where none is."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.engine.workers import ray_address
from compute.engine.workers.ray_cluster import RayCluster
from compute.paths import ROOT
from compute.types import BadInput

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")

TOKEN = "0123456789abcdef" * 4
PATIENCE = 240.0  # seconds, for a machine that is busy
CALL = """
import os, sys
from compute.engine.workers.ray_cluster import RayCluster

if "local" in sys.argv:
    RayCluster(workers=1).close()
    assert "RAY_AUTH_MODE" not in os.environ
cluster = RayCluster(address=sys.argv[1])
actor = cluster._ray.remote(type("Actor", (), {"answer": lambda self: "answered"})).remote()
print(cluster._ray.get(actor.answer.remote(), timeout=120))
cluster.close()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(home: Path, **variables: str) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {**known, "HOME": str(home), "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(ROOT), **variables}


@pytest.fixture(scope="module", params=[True, False], ids=["with-token", "without-token"])
def head(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, bool, Path]]:
    """The address of a head that the command line started; whether it demands a token; the home of its user."""
    home = tmp_path_factory.mktemp("home")
    if request.param:
        (home / ".ray").mkdir()
        (home / ".ray" / "auth_token").write_text(TOKEN)
    port = free_port()
    options = f"--head --port={port} --num-cpus=1 --object-store-memory=100000000 --include-dashboard=false --block"
    short = tempfile.mkdtemp(prefix="ray-")  # paths of sockets are short; and `auto` finds no trace of this head
    log = home / "log"
    with log.open("w") as out:
        started = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", *options.split()],
            env=environment(home, RAY_TMPDIR=short),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + PATIENCE
        while "Ray runtime started" not in log.read_text():
            assert started.poll() is None and time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        yield f"127.0.0.1:{port}", request.param, home
    finally:
        os.killpg(started.pid, signal.SIGKILL)  # asked to end, it takes half a minute
        started.wait(60)
        shutil.rmtree(short, ignore_errors=True)


def call(address: str, home: Path, *options: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", CALL, address, *options],
        cwd=ROOT,
        env=environment(home, **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_head_of_the_command_line_takes_actors(head: tuple[str, bool, Path]) -> None:
    """With its token and without; nothing of Ray's own is printed."""
    address, _, home = head
    done = call(address, home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answered\n", "")


def test_a_local_cluster_before_it_makes_no_difference(head: tuple[str, bool, Path]) -> None:
    """Ray makes a token for a local cluster, and would send it to any other one from then on."""
    address, demanded, home = head
    done = call(address, home, "local")
    assert (done.returncode, done.stdout) == (0, "answered\n"), done.stderr
    assert demanded or (home / ".ray" / "auth_token").exists()


def test_a_token_that_the_cluster_does_not_demand_is_not_sent(head: tuple[str, bool, Path], tmp_path: Path) -> None:
    """Another token than the cluster's is an error that says so; without authentication it does no harm."""
    address, demanded, _ = head
    done = call(address, tmp_path, RAY_AUTH_TOKEN="f" * 64)
    if not demanded:
        assert (done.returncode, done.stdout) == (0, "answered\n"), done.stderr
        return
    assert "was not joined: this process has no token, or another one" in done.stderr.splitlines()[-1]
    assert "gcs_client" not in done.stderr


def test_the_command_names_the_missing_token(head: tuple[str, bool, Path], tmp_path: Path) -> None:
    address, demanded, _ = head
    if not demanded:
        pytest.skip("this head demands none")
    command = ["run", "--suite", "mini", "--models", "tiny", "--engine", "ray", "--address", address, "--offline"]
    done = subprocess.run(
        [sys.executable, "-m", "compute", *command, "--results", str(tmp_path / "results")],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"Error: The Ray cluster at '{address}' was not joined")
    assert "~/.ray/auth_token" in line and "RAY_AUTH_TOKEN" in line


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "no-such-host.invalid:6379"])
def test_where_nobody_listens_it_ends_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_address, "LISTENING", 0.5)
    began = time.monotonic()
    with pytest.raises(BadInput, match=f"No Ray cluster answers at '{address}': start one with `ray start --head`"):
        RayCluster(address=address)
    assert time.monotonic() - began < 30


def test_what_listens_but_is_no_cluster_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_address, "ANSWERING", 3.0)
    monkeypatch.delenv(ray_address.MODE, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BadInput, match="No Ray cluster answers"):
            RayCluster(address=address)
    assert ray_address.MODE not in os.environ
