"""The job file for Slurm: it is valid shell, makes the same run, and quotes what a user names."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from compute.engine import slurm
from compute.types import BadInput

ROOT = Path(__file__).resolve().parents[3]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'ray[data]'"
)
COUNTS = "nodes is a positive whole number, or a range such as 2-4"
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
    assert sum("start --head" in line for line in lines) == 1


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names are lower-case letters and dashes: write name=value"),
        ("Nodes=2", "names are lower-case letters"),
        ("comment=a\nrm -rf ~", "no option of sbatch"),
        ("a b=1", "names are lower-case letters"),
        ("--nodes=2", "names are lower-case letters"),
        ("nodes2=1", "names are lower-case letters"),
        ("nodes-=1", "names are lower-case letters"),
        ("array=1-3", "set by the file itself"),
        ("ntasks=9", "set by the file itself"),
        ("nodes", "nodes has no value: write nodes=1"),
        ("mem", "mem has no value: write mem=64G"),
        ("partition", "partition has no value: write partition=NAME"),
        *((f"nodes={value}", f"nodes={value}: {COUNTS}") for value in ("-3", "0", "two", "1.5", "2-", "2-0")),
    ],
)
def test_what_is_no_directive_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=re.escape(problem)):
        slurm.directives([text])


def test_a_range_of_nodes_is_taken() -> None:
    assert slurm.directives(["nodes=2-4"])["nodes"] == "2-4" and "nodes" not in slurm.directives(["nodes="])


# ---- the file is run, with stand-ins for Slurm's commands that run everything on this machine


def free_number() -> int:
    """A number of a job whose port nobody has: the file makes 20000 + number % 20000 of it."""
    for number in random.sample(range(12_000), 50):  # below the ports that systems hand out
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("", 20_000 + number))
            return number
    raise AssertionError("no port is free")


STUBS = {
    "ray": 'echo "the ray of another environment" >&2; exit 1\n',  # the job's is that of its own Python
    "scontrol": 'tr , "\\n" <<< "$3"\n',
    "srun": """\
tasks=1 part=$HEAD
while [[ $1 == --* ]]; do
    case $1 in --ntasks=*) tasks=${1#*=} ;; --exclude=*) part=$OTHERS ;; esac
    shift
done
if [[ " $* " == *" start "* && -n $part ]]; then exec $part; fi
for ((task = 0; task < tasks; task++)); do "$@" & done
wait
""",
}
COUNTED = """\
"$python" -c 'import sys
from compute.engine.workers.ray_cluster import RayCluster
cluster = RayCluster(address=sys.argv[1])
print("workers:", cluster._workers)
cluster.close()' "$ip:$port"
"""


@pytest.fixture
def run_job(tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess]]:
    """Runs a job file on so many nodes; a command in `head` or `others` takes the part of their `ray start`."""
    short = tempfile.mkdtemp(prefix="ray-")  # paths of sockets are short
    jobs = []

    def run(text: str, *, nodes: int, head: str = "", others: str = "", **variables: str) -> Any:
        for name, script in STUBS.items():
            (tmp_path / name).write_text("#!/usr/bin/env bash\n" + script)
            (tmp_path / name).chmod(0o755)
        (tmp_path / "job.sh").write_text(text)
        known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        environment = {
            **known,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HEAD": head,
            "OTHERS": others,
            "RAY_TMPDIR": short,
            "RAY_USAGE_STATS_ENABLED": "0",
            "SLURM_CPUS_PER_TASK": "1",
            "SLURM_JOB_ID": str(free_number()),
            "SLURM_JOB_NODELIST": ",".join(f"node-{at}" for at in range(nodes)),
            "SLURM_SUBMIT_DIR": str(ROOT),
            **variables,
        }
        # What it starts goes on after it, and holds its output: Slurm ends both.
        with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
            job = subprocess.Popen(
                ["bash", str(tmp_path / "job.sh")], env=environment, stdout=out, stderr=err, start_new_session=True
            )
            jobs.append(job)
            code = job.wait(240)
        return subprocess.CompletedProcess([], code, (tmp_path / "out").read_text(), (tmp_path / "err").read_text())

    yield run
    for job in jobs:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    shutil.rmtree(short, ignore_errors=True)


@needs_ray
@pytest.mark.parametrize("mode", ["", "disabled"], ids=["a-token-of-its-own", "without-token"])
def test_a_job_uses_the_workers_of_all_nodes(run_job: Callable[..., Any], tmp_path: Path, mode: str) -> None:
    """And its user has a token, which the cluster of the job does not demand."""
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("f" * 64)
    command = ["run", "--suite", "mini", "--models", "tiny", "--tasks", "mini/quality", "--offline"]
    text = slurm.job_file([*command, "--results", str(tmp_path / "results")])
    last = text.splitlines()[-1]
    text = text.replace(last, COUNTED + last)
    variables = {"RAY_AUTH_MODE": mode} if mode else {}
    done = run_job(text, nodes=2, HOME=str(tmp_path), **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "workers: 2" in done.stdout.splitlines(), done.stdout + done.stderr
    assert "Warning" not in done.stderr and list(tmp_path.glob("results/tiny/mini__quality/*/scores.parquet"))


@needs_ray
def test_a_job_goes_on_with_the_nodes_that_joined(run_job: Callable[..., Any]) -> None:
    text = slurm.job_file(["run"]).replace('"$python" -m compute run', 'echo "it runs:"')
    done = run_job(text, nodes=3, others="false")
    assert done.returncode == 0 and "it runs: --engine ray --address" in done.stdout, done.stdout + done.stderr
    assert "Warning: 1 of 3 nodes have joined. The run goes on with them" in done.stderr


@pytest.mark.parametrize("head", ["false", "sleep 60"], ids=["ends", "hangs"])
def test_a_job_whose_head_does_not_answer_ends(
    run_job: Callable[..., Any], head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if head != "false":
        monkeypatch.setattr(slurm, "PATIENCE", 3)
    began = time.monotonic()
    done = run_job(slurm.job_file(["run"]), nodes=1, head=head)
    assert done.returncode == 1 and time.monotonic() - began < 60
    [line] = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert "no Ray cluster answers on node-0 at" in line and "ray status: nobody listens there" in line


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
