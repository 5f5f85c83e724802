"""The steps of Dockerfile, in a bare environment and as a user without rights: the health check passes."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from tests.serving import ROOT, wait

SKIPPED = shutil.ignore_patterns(*(ROOT / ".dockerignore").read_text().replace("**/", "").split())
NOBODY = 65534
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # that other users can run


@pytest.fixture
def place():
    """A folder that other users can enter, as they can the system's for temporary files, but not pytest's."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_the_steps_of_the_dockerfile_end_in_a_healthy_app(place):
    text = (ROOT / "Dockerfile").read_text()
    assert len(text.splitlines()) < 25
    steps = [line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    source, home = place / "source", place / "home"
    shutil.copytree(ROOT, source, ignore=SKIPPED)
    home.mkdir()
    subprocess.run([PYTHON, "-m", "venv", place / "venv"], check=True)
    os.chown(home, NOBODY, NOBODY)
    env = {"PATH": f"{place}/venv/bin:{os.environ['PATH']}"}
    how = {"env": env, "cwd": place}

    def here(command):
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
        healthy = partial(subprocess.run, check, shell=True, capture_output=True, **how)
        wait(lambda: healthy().returncode == 0, running=app, seconds=60)
    finally:
        os.killpg(app.pid, 9)
