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
VALUED = {name for name, value in DIRECTIVES.items() if value} | {"account", "gres", "partition", "qos"}  # of the usual
PATIENCE = 300  # seconds
NAME = re.compile(r"[a-z]+(-[a-z]+)*")
COUNT = re.compile(r"[1-9][0-9]*([-,:][1-9][0-9]*)*")  # 4, 2-4, and what newer versions of sbatch take
OWN = {"--print-slurm": False, "--slurm": True, "--engine": True, "--address": True}  # option -> whether it has a value

FILE = r"""#!/usr/bin/env bash
{directives}
#
# Submit it from the folder in which it was printed: sbatch FILE. Results must lie where all nodes see them: a shared
# folder, or an address (--results s3://...).
# A job that was stopped resumes: what is encoded and scored is not made again.
set -euo pipefail
cd -- "${{SLURM_SUBMIT_DIR:-.}}"
python={python}
ray=("$python" -m ray.scripts.scripts)  # the command ray of this Python, not whichever stands on PATH
export SLURM_EXPORT_ENV=ALL  # to the nodes, also where sbatch was told to export nothing

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${{nodes[0]}}
port=$((20000 + SLURM_JOB_ID % 20000))
cpus=${{SLURM_CPUS_PER_TASK:-1}}
ip=$(srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | awk '{{ print $1; exit }}')
# One mode and one new token for all nodes: none looks for a token in its user's home.
export RAY_AUTH_MODE=${{RAY_AUTH_MODE:-token}}
RAY_AUTH_TOKEN=$("$python" -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN

patience={patience}  # seconds for the head to answer, and then for the other nodes to join
answers() {{
    if ! (: <> "/dev/tcp/$ip/$port") 2> /dev/null; then
        echo "nobody listens there"
        return 1
    fi
    timeout 60 "${{ray[@]}}" status --address="$ip:$port" && return
    echo "(exit code $?; 124: no answer within 60 s)"
    return 1
}}
joined() {{
    timeout 60 "$python" -c 'import ray, sys
ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
print(sum(node["Alive"] for node in ray.nodes()))' "$ip:$port"
}}

srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
    "${{ray[@]}}" start --head --node-ip-address="$ip" --port="$port" --num-cpus="$cpus" --block &
started=$!
end=$((SECONDS + patience))
until said=$(answers 2>&1); do
    if ! kill -0 "$started" 2> /dev/null || ((SECONDS >= end)); then
        echo "Error: no Ray cluster answers on $head at $ip:$port. ray status: $said" >&2
        exit 1
    fi
    sleep 2
done
if ((${{#nodes[@]}} > 1)); then
    others=$((${{#nodes[@]}} - 1))
    srun --overlap --nodes="$others" --ntasks="$others" --exclude="$head" \
        "${{ray[@]}}" start --address="$ip:$port" --num-cpus="$cpus" --block &
    started=$!
    end=$((SECONDS + patience))
    until count=$(joined 2> /dev/null) && ((count >= ${{#nodes[@]}})); do
        if ! kill -0 "$started" 2> /dev/null || ((SECONDS >= end)); then
            echo "Warning: ${{count:-0}} of ${{#nodes[@]}} nodes have joined. The run goes on with them" >&2
            break
        fi
        sleep 2
    done
fi

"$python" -m compute {command} --engine ray --address "$ip:$port"
"""


def job_file(arguments: Sequence[str], *, directives: Mapping[str, str] = DIRECTIVES) -> str:
    """The job file of `python -m compute` with these arguments, which it takes over but for those of its own."""
    lines = [
        f"#SBATCH --{name}={shlex.quote(value)}" if value else f"#SBATCH --{name}" for name, value in directives.items()
    ]
    return FILE.format(
        directives="\n".join(lines),
        python=shlex.quote(sys.executable),
        patience=PATIENCE,
        command=shlex.join(_remaining(arguments)),
    )


def directives(named: Sequence[str]) -> dict[str, str]:
    """The default directives with those of `name=value` texts; an empty value removes a default. Raises BadInput."""
    chosen = dict(DIRECTIVES)
    for text in named:
        name, equals, value = text.partition("=")
        if not NAME.fullmatch(name) or not value.isprintable():
            raise BadInput(
                f"--slurm {text!r} is no option of sbatch, whose names are lower-case letters and dashes: write "
                "name=value, such as partition=gpu"
            )
        if name in FIXED:
            raise BadInput(f"--slurm {name} is set by the file itself. Choose nodes=N, gpus-per-node=N instead")
        if not equals and name in VALUED:
            raise BadInput(f"--slurm {name} has no value: write {name}={DIRECTIVES.get(name) or 'NAME'}, for example")
        if name == "nodes" and value and not COUNT.fullmatch(value):
            raise BadInput(f"--slurm {text}: nodes is a positive whole number, or a range such as 2-4")
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
