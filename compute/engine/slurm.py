"""A job file for Slurm that makes the same run on a Ray cluster of its nodes. It is printed, not submitted.

Directives: https://slurm.schedmd.com/sbatch.html; a Ray cluster within a job:
https://docs.ray.io/en/latest/cluster/vms/user-guides/community/slurm.html.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence

from compute.types import BadInput

# A day on one node with one GPU; a job that was stopped is started again, and resumes.
DIRECTIVES = {
    "job-name": "likeness",
    "nodes": "1",
    "ntasks-per-node": "1",
    "cpus-per-task": "8",
    "gpus-per-node": "1",
    "mem": "64G",
    "time": "24:00:00",
    "output": "likeness-%j.log",
    "requeue": "",
}
FIXED = ("array", "ntasks", "ntasks-per-node", "wrap")  # decided by the file: one task a node starts its part of Ray
NAME = re.compile(r"[a-z][a-z0-9-]*")
OWN = {"--print-slurm": False, "--slurm": True, "--engine": True, "--address": True}  # option -> whether it has a value

FILE = """\
#!/usr/bin/env bash
{directives}
#
# Submit it: sbatch FILE. Results must lie where all nodes see them: a shared folder, or an address (--results s3://...).
# A job that was stopped resumes: what is encoded and scored is not made again.
set -euo pipefail
cd -- "${{SLURM_SUBMIT_DIR:-.}}"
python={python}
ray() {{ "$python" -c 'import sys; from ray.scripts.scripts import main; sys.exit(main())' "$@"; }}
export python
export -f ray

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${{nodes[0]}}
port=$((20000 + SLURM_JOB_ID % 20000))
cpus=${{SLURM_CPUS_PER_TASK:-1}}
ip=$(srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | awk '{{ print $1; exit }}')
export ip port cpus

srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \\
    bash -c 'ray start --head --node-ip-address="$ip" --port="$port" --num-cpus="$cpus" --block' &
until ray status --address="$ip:$port" > /dev/null 2>&1; do sleep 2; done
if [ "${{#nodes[@]}}" -gt 1 ]; then
    workers=$((${{#nodes[@]}} - 1))
    srun --overlap --nodes="$workers" --ntasks="$workers" --exclude="$head" \\
        bash -c 'ray start --address="$ip:$port" --num-cpus="$cpus" --block' &
fi

"$python" -m compute {command} --engine ray --address "$ip:$port"
"""


def job_file(arguments: Sequence[str], *, directives: Mapping[str, str] = DIRECTIVES) -> str:
    """The job file of `python -m compute` with these arguments, which it takes over but for those of its own."""
    lines = [
        f"#SBATCH --{name}={shlex.quote(value)}" if value else f"#SBATCH --{name}" for name, value in directives.items()
    ]
    return FILE.format(
        directives="\n".join(lines), python=shlex.quote(sys.executable), command=shlex.join(_remaining(arguments))
    )


def directives(named: Sequence[str]) -> dict[str, str]:
    """The default directives with those of `name=value` texts; an empty value removes a default. Raises BadInput."""
    chosen = dict(DIRECTIVES)
    for text in named:
        name, equals, value = text.partition("=")
        if not NAME.fullmatch(name) or not value.isprintable():
            raise BadInput(f"--slurm {text!r} is no directive of sbatch: write name=value, such as partition=gpu")
        if name in FIXED:
            raise BadInput(f"--slurm {name} is set by the file itself. Choose nodes=N, gpus-per-node=N instead")
        if equals and not value:
            chosen.pop(name, None)
        else:
            chosen[name] = value
    return chosen


def _remaining(arguments: Sequence[str]) -> list[str]:
    """The arguments without those that only make the file, or that it sets itself."""
    remaining, skip = [], False
    for argument in arguments:
        name = argument.partition("=")[0]
        if skip:
            skip = False
        elif name in OWN:
            skip = OWN[name] and name == argument
        else:
            remaining.append(argument)
    return remaining
