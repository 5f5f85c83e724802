"""The steps of Dockerfile, in a bare environment and as a user without rights: the health check passes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = shutil.ignore_patterns(*(ROOT / ".dockerignore").read_text().replace("**/", "").split())
NOBODY = 65534
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # that other users can run


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_the_steps_of_the_dockerfile_end_in_a_healthy_app(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert len(text.splitlines()) < 25
    steps = [line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    source, home = tmp_path / "source", tmp_path / "home"
    shutil.copytree(ROOT, source, ignore=SKIPPED)
    home.mkdir()
    subprocess.run([PYTHON, "-m", "venv", tmp_path / "venv"], check=True)
    for folder in (*tmp_path.parents[:3], tmp_path):
        folder.chmod(0o755)
    os.chown(home, NOBODY, NOBODY)
    env = {"PATH": f"{tmp_path}/venv/bin:{os.environ['PATH']}"}
    how: dict = {"env": env, "cwd": tmp_path}

    def here(command: str) -> str:
        command = re.sub(r"^--mount=\S+ ", "", command).replace("/source", str(source))
        return command.replace("7860", "7869")

    for word, rest in steps:
        if word == "ENV":
            env |= dict(pair.split("=", 1) for pair in shlex.split(rest.replace("/home/likeness", str(home))))
        elif word == "USER":
            how |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        elif word == "RUN" and not rest.startswith("useradd"):
            subprocess.run(here(rest), shell=True, check=True, **how)
    told = dict(steps)
    app = subprocess.Popen(
        here(" ".join(re.findall(r"\"([^\"]*)\"", told["CMD"]))), shell=True, start_new_session=True, **how
    )
    try:
        check = here(told["HEALTHCHECK"].partition("CMD ")[2])
        deadline = time.monotonic() + 60
        while subprocess.run(check, shell=True, capture_output=True, **how).returncode:
            assert app.poll() is None and time.monotonic() < deadline
            time.sleep(0.5)
    finally:
        os.killpg(app.pid, 9)
