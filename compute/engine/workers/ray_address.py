"""Whether a Ray cluster answers at an address, and whether it demands a token: found out before Ray connects.

Ray itself goes on for minutes where nobody listens, and says on the terminal alone that a cluster turned it away. A
cluster that `ray start` made demands the token of this machine, where there is one. A client sends it to HOST:PORT only
where RAY_AUTH_MODE says so; sent to a cluster that demands none, it costs the client its actors. See
https://docs.ray.io/en/latest/ray-security/token-auth.html.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress

from compute.types import BadInput

MODE = "RAY_AUTH_MODE"
LISTENING = 5.0  # seconds in which a port takes a connection
ANSWERING = 60.0  # seconds in which a cluster answers on a busy machine
REFUSED = "authentication"  # what `ray status` speaks of where the token is missing or not the cluster's


def settle(address: str) -> None:
    """Sets RAY_AUTH_MODE, unless it is set: this process sends a token where the cluster at an address demands one.

    Raises BadInput where no cluster answers, or none that takes the token.
    """
    if "://" in address:  # a proxy in front of a cluster, which `ray status` knows nothing of
        return
    _check_port(address)
    chosen = os.environ.get(MODE)
    for mode in (chosen,) if chosen is not None else ("disabled", "token"):
        problem = _problem(address, mode)
        if not problem:
            set_mode(mode)
            return
        if REFUSED not in problem.lower():
            raise no_cluster(address, problem)
    raise BadInput(
        f"The Ray cluster at {address!r} was not joined: this process has no token, or another one. Copy "
        "~/.ray/auth_token from the cluster's head to this machine, or set RAY_AUTH_TOKEN"
        + (f". {MODE}={chosen} is set: unset it, or set it to token" if chosen not in (None, "token") else "")
    )


def set_mode(mode: str | None) -> None:
    """Sets RAY_AUTH_MODE, or removes it. Ray, which has read it and the token, is told to read both anew."""
    if mode is None:
        os.environ.pop(MODE, None)
    else:
        os.environ[MODE] = mode
    with suppress(ImportError, AttributeError):  # Ray offers no public function for this
        from ray._raylet import AuthenticationTokenLoader, Config

        Config.initialize("")
        AuthenticationTokenLoader.instance().reset_cache()


def no_cluster(address: str, problem: str = "") -> BadInput:
    """The error where no cluster answers, with the last line of Ray's own."""
    reason = problem.strip().rpartition("\n")[2][:200]
    return BadInput(
        f"No Ray cluster answers at {address!r}: start one with `ray start --head`"
        + (f". Ray: {reason}" if reason else "")
    )


def _check_port(address: str) -> None:
    """Raises BadInput where nobody listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=LISTENING).close()
    except (OSError, OverflowError) as error:
        raise no_cluster(address) from error


def _problem(address: str, mode: str) -> str:
    """What `ray status` prints where it fails, in a process of its own as Ray prints there too; else nothing."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address],
            env={**os.environ, MODE: mode},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ANSWERING,
        )
    except subprocess.TimeoutExpired:
        return "no answer"
    return (done.stderr or done.stdout or "no answer") if done.returncode else ""
