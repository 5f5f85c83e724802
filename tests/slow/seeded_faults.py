"""Do the tests find faults? One line is changed at a time, and the tests that execute it are run.

    python -m tests.slow.seeded_faults OLD NEW [--count 30] [--seed 0]

OLD and NEW are two checkouts. The lines stand in both, unchanged, in the same file; each has one comparison, arithmetic
or logical sign that is changed. Prints for each fault whether OLD's tests found it in OLD and NEW's in NEW. Needs the
package coverage; takes about half an hour.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

FOLDERS = ("compute/analysis", "compute/metrics", "compute/procedures", "compute/features", "leaderboard/data")
TESTS = [f"tests/{folder}" for folder in FOLDERS] + ["tests/golden", "tests/compute/interface"]
CHANGES = (
    (" < ", " >= "),
    (" < ", " <= "),
    (" > ", " <= "),
    (" > ", " >= "),
    (" <= ", " < "),
    (" >= ", " > "),
    (" == ", " != "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" / ", " * "),
    (" and ", " or "),
    (" or ", " and "),
    ("axis=1", "axis=0"),
    ("axis=0", "axis=1"),
    (" not ", " "),
    ("True", "False"),
)
STATEMENT = re.compile(r"^\s+(return |if |[a-z_][\w.\[\], ]* [-+*/]?= )")


def lines(tree: Path) -> dict[str, list[str]]:
    return {
        path.relative_to(tree).as_posix(): path.read_text(encoding="utf-8").splitlines(keepends=True)
        for folder in FOLDERS
        for path in sorted((tree / folder).rglob("*.py"))
    }


def faults(old: Path, new: Path, *, count: int, seed: int) -> list[tuple[str, str, str]]:
    """(file, line, changed line), drawn from the lines that both trees have once in the same file."""
    before, after = lines(old), lines(new)
    found = []
    for name in sorted(before.keys() & after.keys()):
        once = [{line for line, n in Counter(text).items() if n == 1} for text in (before[name], after[name])]
        for line in sorted(once[0] & once[1]):
            changes = [(a, b) for a, b in CHANGES if line.count(a) == 1]
            if STATEMENT.match(line) and changes and '"' not in line:
                a, b = random.Random(f"{seed}{line}").choice(changes)
                found.append((name, line, line.replace(a, b)))
    return random.Random(seed).sample(found, count)


def pytest(tree: Path, *words: str, timeout: float = 3600, **variables: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    ended = subprocess.run(command, cwd=tree, env=os.environ | variables, timeout=timeout, check=False, **quiet)
    return ended.returncode


def executing(tree: Path) -> dict[tuple[str, int], list[str]]:
    """The tests that execute a line, by file and line number."""
    import coverage

    data = tree / ".coverage-faults"
    config = tree / ".coverage-faults.ini"
    config.write_text(f"[run]\ndata_file = {data}\ndynamic_context = test_function\nsource = compute,leaderboard\n")
    if not data.exists():
        words = ["-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q", "-n", "0", *existing(tree)]
        subprocess.run([sys.executable, *words], cwd=tree, check=False)
    found: dict[tuple[str, int], list[str]] = {}
    measured = coverage.CoverageData(str(data))
    measured.read()
    for path in measured.measured_files():
        name = Path(path).relative_to(tree.resolve()).as_posix()
        if name.startswith(FOLDERS):
            for number, contexts in measured.contexts_by_lineno(path).items():
                found[name, number] = sorted(filter(None, contexts))
    return found


def existing(tree: Path) -> list[str]:
    return [name for name in TESTS if (tree / name).exists()]


def is_found(tree: Path, executed: dict[tuple[str, int], list[str]], fault: tuple[str, str, str]) -> str:
    """ "found", "missed", or "not executed"."""
    name, line, changed = fault
    path = tree / name
    text = path.read_text(encoding="utf-8")
    number = text.splitlines(keepends=True).index(line) + 1
    tests = executed.get((name, number), [])
    if not tests:
        return "not executed"
    # A context is the dotted name of a test function; its file is the longest prefix that exists.
    files = {test_file(tree, test) for test in tests} - {""}
    names = {test.rpartition(".")[2] for test in tests}
    try:
        path.write_text(text.replace(line, changed), encoding="utf-8")
        ended = pytest(tree, "-x", *sorted(files), "-k", " or ".join(sorted(names)), timeout=900)
    except subprocess.TimeoutExpired:
        ended = 1  # a loop without end is found
    finally:
        path.write_text(text, encoding="utf-8")
    return "missed" if ended == 0 else "found"


def test_file(tree: Path, context: str) -> str:
    parts = context.split(".")
    for end in range(len(parts), 0, -1):
        path = Path(*parts[:end]).with_suffix(".py")
        if (tree / path).is_file():
            return path.as_posix()
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    drawn = faults(chosen.old, chosen.new, count=chosen.count, seed=chosen.seed)
    executed = {tree: executing(tree) for tree in (chosen.old, chosen.new)}
    total: Counter[tuple[str, str]] = Counter()
    for fault in drawn:
        results = tuple(is_found(tree, executed[tree], fault) for tree in (chosen.old, chosen.new))
        total[results] += 1
        print(f"{results[0]:>12} {results[1]:>12}  {fault[0]}: {fault[1].strip()}  ->  {fault[2].strip()}", flush=True)
    print("\n".join(f"old {before}, new {after}: {number}" for (before, after), number in sorted(total.items())))


if __name__ == "__main__":
    main()
