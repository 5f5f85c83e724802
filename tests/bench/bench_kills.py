"""Twelve kills each of `run`, `build` and the app, at placed moments: python -m tests.bench.bench_kills [run build app]

A line a kill: what it left, and whether the next start made it good. Ends with 1 where one did not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests import killing


def main(commands: list[str]) -> int:
    """Prints every kill; 0 where all were made good."""
    kills = []
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        if "run" in commands:
            expected = killing.undisturbed_run(folder / "whole")
            (folder / "run").mkdir()
            for moment in killing.RUN_MOMENTS:
                kills.append(killing.kill_run(folder / "run", moment, expected=expected))
                print(kills[-1], flush=True)
        if {"build", "app"} & set(commands):
            scores = killing.undisturbed_build(folder / "build")
        for moment in killing.BUILD_MOMENTS if "build" in commands else ():
            kills.append(killing.kill_build(folder / "build", moment, expected=scores))
            print(kills[-1], flush=True)
        for moment in killing.APP_MOMENTS if "app" in commands else ():
            kills.append(killing.kill_app(folder / "build", moment, port=killing.free_port(), expected=scores))
            print(kills[-1], flush=True)
    bad = [kill for kill in kills if kill.problems]
    print(f"{len(kills)} kills, {len(kills) - len(bad)} made good, {len(bad)} not")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["run", "build", "app"]))
