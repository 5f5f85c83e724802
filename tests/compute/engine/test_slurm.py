"""The job file for Slurm: it is valid shell, makes the same run, and quotes what a user names."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from compute.engine import slurm
from compute.types import BadInput

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = ["$(touch hacked)", "a b", "it's", '"; rm -rf ~ #', "`id`", "back\\slash", "{0}", "%n"]


def checked(text: str) -> list[str]:
    """The lines of a file that bash can read."""
    parsed = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    assert parsed.returncode == 0, parsed.stderr
    return text.splitlines()


def test_defaults_and_the_run() -> None:
    lines = checked(slurm.job_file(["run", "--suite", "mini", "--models", "tiny", "--print-slurm"]))
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[1 : 1 + len(slurm.DIRECTIVES)] == [
        "#SBATCH --job-name=likeness",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH --gpus-per-node=1",
        "#SBATCH --mem=64G",
        "#SBATCH --time=24:00:00",
        "#SBATCH --output=likeness-%j.log",
        "#SBATCH --requeue",
    ]
    assert lines[-1] == '"$python" -m compute run --suite mini --models tiny --engine ray --address "$ip:$port"'
    assert sum("ray start --head" in line for line in lines) == 1


def test_its_own_options_are_not_taken_over() -> None:
    given = [
        "run",
        "--print-slurm",
        "--slurm",
        "nodes=2",
        "--slurm=mem=8G",
        "--engine",
        "local",
        "--address=x",
        "--again",
    ]
    assert checked(slurm.job_file(given))[-1].split(" -m compute ")[1].startswith("run --again --engine ray")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_user_names_stays_one_word(text: str, tmp_path: Path) -> None:
    """Reference: bash itself splits the line, with a stand-in for Python that prints its arguments."""
    last = checked(slurm.job_file(["run", "--models", text, f"--results={text}"]))[-1]
    script = f'cd {shlex.quote(str(tmp_path))}; python=show; ip=i; port=p; show() {{ printf "%s\\0" "$@"; }}; '
    shown = subprocess.run(["bash", "-c", script + last.replace('"$python"', "show")], capture_output=True, text=True)
    words = shown.stdout.split("\0")[:-1]
    assert words == [
        "-m",
        "compute",
        "run",
        "--models",
        text,
        f"--results={text}",
        "--engine",
        "ray",
        "--address",
        "i:p",
    ]
    assert list(tmp_path.iterdir()) == []


def test_directives_are_chosen_removed_and_quoted() -> None:
    chosen = slurm.directives(["nodes=4", "partition=gpu", "requeue=", "comment=a b; $(x)", "exclusive"])
    lines = checked(slurm.job_file(["run"], directives=chosen))
    assert "#SBATCH --nodes=4" in lines and "#SBATCH --partition=gpu" in lines and "#SBATCH --exclusive" in lines
    assert "#SBATCH --comment='a b; $(x)'" in lines and not any("requeue" in line for line in lines)


@pytest.mark.parametrize("text", ["", "Nodes=2", "comment=a\nrm -rf ~", "a b=1", "--nodes=2", "array=1-3", "ntasks=9"])
def test_what_is_no_directive_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--slurm"):
        slurm.directives([text])


def test_the_command_prints_the_file_alone_and_writes_nothing(tmp_path: Path) -> None:
    results = tmp_path / "the results"
    words = [
        "run",
        "--suite",
        "mini",
        "--models",
        "tiny",
        "--results",
        str(results),
        "--print-slurm",
        "--slurm",
        "nodes=3",
    ]
    printed = subprocess.run([sys.executable, "-m", "compute", *words], cwd=ROOT, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    lines = checked(printed.stdout)
    assert lines[0].startswith("#!") and "#SBATCH --nodes=3" in lines
    assert f"--results '{results}' --engine ray" in lines[-1]
    assert not results.exists()
    words[4] = "tinny"
    refused = subprocess.run([sys.executable, "-m", "compute", *words], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stdout == "" and "No model 'tinny'" in refused.stderr
