"""Small inputs that once failed, from a folder of cases: `python -m tests.slow.cases FOLDER`, a line each.

Each line says whether the right value came out and what did. The exit code is the number of wrong ones.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import compute
from compute.catalog.catalog import shipped
from compute.models import loading
from compute.models.adapter import Hardware
from leaderboard.live.live import Live

JUDGE = "gpt-4o-2024-11-20"
CASES: list[Callable[[Path, Path], tuple[bool, str]]] = []
CHANGES = {
    "v": lambda v: v,
    "v * 1e25": lambda v: v * 1e25,
    "v * 1e-22": lambda v: v * 1e-22,
}
THINKING = ("<thinking>", "◁think▷", "[THINK]", "<seed:think>", "<reasoning>", "")


def case(function: Callable[[Path, Path], tuple[bool, str]]) -> Callable[[Path, Path], tuple[bool, str]]:
    CASES.append(function)
    return function


def likeness(home: Path, *words: object, **environment: str) -> tuple[int, str]:
    """The exit code and everything printed, of a command in a home of its own."""
    known = {
        **os.environ,
        "LIKENESS_HOME": str(home),
        "LIKENESS_DATABASE": str(home / "likeness.duckdb"),
        "LIKENESS_ANSWERS": str(home / "answers"),
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-m", "compute", *map(str, words)], cwd=home, env=known, capture_output=True, check=False
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def first(text: str, pattern: str) -> str:
    """The first line that has the pattern, or the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["nothing printed"]
    return next((line for line in lines if re.search(pattern, line)), lines[-1])[:150]


@contextmanager
def judge(cases: Path, mode: str, text: str = "x") -> Iterator[dict[str, str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, cases / "fake_judge.py", str(port), mode, text])
    while server.poll() is None:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    try:
        yield {"LIKENESS_ENDPOINT": f"http://127.0.0.1:{port}/v1", "LIKENESS_ENDPOINT_ATTEMPTS": "2"}
    finally:
        server.kill()
        server.wait()


def judged(cases: Path, home: Path, mode: str, text: str = "x") -> tuple[int, str]:
    data = home / "data"
    shutil.copytree(cases / "provider-error-in-choices", data, dirs_exist_ok=True)
    with judge(cases, mode, text) as environment:
        return likeness(
            home, "run", "--suite", "pairbench", "--data", data / "pairs.parquet", "--models", JUDGE, **environment
        )


@case
def bom_in_result_json(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = likeness(home, "import", "mteb-results", cases / "bom-in-result-json")
    return code == 0 and "0 files skipped" in said, first(said, "skip")


@case
def mteb_no_main_score(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = likeness(home, "import", "mteb-results", cases / "mteb-no-main-score")
    return code == 0 and "0 files skipped" in said, first(said, "skip")


@case
def c_locale(cases: Path, home: Path) -> tuple[bool, str]:
    folder = home / "classes"
    for one in ("красный", "синий"):
        shutil.copytree(cases / "skipped-endings/cls3/red ball", folder / one)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, said = likeness(home, "task", "check", folder, **plain)
    return code == 0 and "Traceback" not in said, first(said, "Traceback|Can be run")


@case
def damaged_encodings(cases: Path, home: Path) -> tuple[bool, str]:
    words = ("run", "--suite", "mini", "--tasks", "mini/photographs,mini/image-choice", "--models", "tiny")
    results = home / "results"
    before = likeness(home, *words, "--results", results)[1]
    shards = list(home.rglob("*.safetensors"))
    for path in shards:
        raw = np.fromfile(path, np.uint8)
        raw[-len(raw) // 3 : -len(raw) // 3 + 400] ^= 0x55
        raw.tofile(path)
    shutil.rmtree(results / "tiny", ignore_errors=True)
    after = likeness(home, *words, "--results", results)[1]
    table = [re.findall(r"^\| mini/.*$", text, re.MULTILINE) for text in (before, after)]
    named = first(after, "damaged")
    return bool(shards) and bool(table[0]) and table[0] == table[
        1
    ] and "damaged" in named, f"{len(shards)} shards: {named}"


@case
def error_body_200(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = judged(cases, home, "err200")
    return code != 0 and "No endpoints found that support image input" in said, first(said, "No endpoints|KeyError")


@case
def provider_error_in_choices(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = judged(cases, home, "err200b")
    again, healthy = judged(cases, home, "real")
    good = code != 0 and "rate limited" in said and again == 0 and "MMScore" in healthy
    return good, f"{first(said, 'rate limited|MMScore')}; then {first(healthy, 'asked|answers')}"


@case
def thinking_cut(cases: Path, home: Path) -> tuple[bool, str]:
    wrong = []
    for number, tag in enumerate(THINKING):
        within = home / str(number)
        within.mkdir()
        code, said = judged(cases, within, "len", f"{tag}A first guess would be Score: 3, but the colours")
        if code == 0 or not re.search("truncated|cut", said):
            wrong.append(tag or "untagged")
    return not wrong, f"believed: {', '.join(wrong)}" if wrong else first(said, "truncated|cut")


@case
def fenced_json(cases: Path, home: Path) -> tuple[bool, str]:
    with judge(cases, "text", '```json\n{"answer": "B"}\n```') as environment:
        words = ("run", "--suite", "mini", "--tasks", "mini/image-choice", "--models", JUDGE)
        code, said = likeness(home, *words, **environment)
    return code == 0 and "unreadable" not in said, first(said, JUDGE)


@case
def unreadable(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = judged(cases, home, "text", "I would rather talk about the weather.")
    return "weather" in said and not re.search(r"MMScore\D*0\.00", said), first(said, "weather")


class Scaled:
    """A ready model's vectors, changed but not their cosines."""

    def __init__(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        model = loading.load(shipped().model("tiny"), hardware=Hardware(device="cpu", dtype="float32"))

        def encoded(modality: str, inputs: list[Any]) -> np.ndarray:
            prepared = [model.prepare(modality, one) for one in inputs]
            return change(np.asarray(model.embed(modality, prepared), float)).astype(np.float32)

        self.encode_image, self.encode_text = partial(encoded, "image"), partial(encoded, "text")


@case
def float32_retrieval(cases: Path, home: Path) -> tuple[bool, str]:
    found = {}
    for name, change in CHANGES.items():
        made = compute.evaluate(
            Scaled(change), tasks=["mini/images-by-text"], name="scaled", version=name, results=home, progress=False
        )
        found[name] = float(made.frame()["value"].iloc[0])
    return np.ptp(list(found.values())) < 0.001, ", ".join(f"{name} {value:.3f}" for name, value in found.items())


@case
def list_separator_prompts(cases: Path, home: Path) -> tuple[bool, str]:
    images, said = cases / "skipped-endings/ref", []
    for name in ("prompts_ls.txt", "prompts_bom_semi.csv"):
        words = ("frechet", "--reference", images, "--generated", f"a={images}", "--backbones", "tiny")
        prompts = cases / "list-separator-prompts" / name
        said.append(likeness(home, *words, "--prompts", prompts, "--metrics", "cfred"))
    return all(code == 0 for code, _ in said), " | ".join(first(text, "cFreD ↓|Error") for _, text in said)


def ranked(home: Path, table: Path, *more: str) -> tuple[int, str]:
    return likeness(home, "rank", table, *more)


@case
def lower_is_better_name(cases: Path, home: Path) -> tuple[bool, str]:
    said = [
        ranked(home, cases / "lower-is-better-name" / name, "--aggregate", "borda") for name in ("fid.csv", "arrow.csv")
    ]
    return all(code == 0 and "ower is better" in text for code, text in said), " | ".join(
        first(t, "ower is better") for _, t in said
    )


@case
def mixed_units(cases: Path, home: Path) -> tuple[bool, str]:
    code, said = ranked(home, cases / "mixed-units/mixedunit.csv")
    return code != 0 and "Traceback" not in said, first(said, "unit|percent|0.936|91")


@case
def rank_tables(cases: Path, home: Path) -> tuple[bool, str]:
    wrong = {}
    for table in sorted((cases / "rank-tables").iterdir()):
        code, said = ranked(home, table, *(("--aggregate", "borda") if table.stem == "gen" else ()))
        if "Traceback" in said or (code != 0) != (table.stem == "transposed"):
            wrong[table.name] = first(said, "error|Error")
    return not wrong, str(wrong) if wrong else "six read, the transposed one says what to pass"


@case
def skipped_endings(cases: Path, home: Path) -> tuple[bool, str]:
    images = cases / "skipped-endings"
    found = []
    for name, said_of in (("cls_jfif", "12"), ("cls3", "HEIC"), ("cls_heic", "HEIC")):
        _, said = likeness(home, "task", "check", images / name)
        found.append((said_of in said, first(said, said_of)))
    words = (
        "--reference",
        images / "ref",
        "--generated",
        f"a={images / 'a_jfif'}",
        "--backbones",
        "tiny",
        "--metrics",
        "fd",
    )
    _, said = likeness(home, "frechet", *words)
    found.append(("0.073" in said, first(said, r"\bFD ↓")))
    return all(good for good, _ in found), " | ".join(text for _, text in found)


@case
def transparent_logos(cases: Path, home: Path) -> tuple[bool, str]:
    images = sorted((cases / "transparent-logos").glob("*.png"))
    if len(images) < 2:
        return False, "the case has no images"
    (record,) = Live().score([("image", path.read_bytes()) for path in images], ["ssim"])
    return "on white" in record["note"] and record["score"] < 0.999, str(record)[:150]


def main() -> int:
    cases = Path(sys.argv[1]).resolve()
    chosen = sys.argv[2:]
    wrong = 0
    for one in CASES:
        if chosen and one.__name__ not in chosen:
            continue
        with tempfile.TemporaryDirectory() as home:
            try:
                good, said = one(cases, Path(home))
            except Exception as error:  # a case that cannot be run is wrong, and the others are still to be run
                good, said = False, f"{type(error).__name__}: {error}"
        wrong += not good
        print(f"{'right' if good else 'WRONG'}  {one.__name__.replace('_', '-'):28}{said}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
