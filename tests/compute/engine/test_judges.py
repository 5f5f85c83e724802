"""Judges behind a real server process on loopback, from the plan to the printed table: who is not there, who refuses,
and what is made of replies that cannot be read."""

import os
from dataclasses import replace

import pytest

from compute.database import store
from compute.engine import plan, results_table, run, run_folders
from compute.features.subject import Subject
from compute.models.judges.endpoint import Endpoint, Limits
from compute.types import Model
from tests.compute.models.chat_server import running
from tests.compute.small_bench import CATALOG, HARDWARE, changed

QUICK = Limits(attempts=2, concurrency=1, timeout=5.0)
JUDGES = tuple(
    Model(
        key=f"small/{name}",
        title=name,
        kind="mllm",
        adapter="endpoint",
        abilities=("choose",),
        modalities=("image", "text"),
    )
    for name in ("judge", "other-judge")
)


def said(text):
    """A reply of these words."""
    return {"body": {"choices": [{"message": {"role": "assistant", "content": text}}]}}


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    with running() as server:
        yield server


@pytest.fixture
def ask(world, server):
    """Runs tasks with judges and a metric after them: outcomes, lines while it runs, lines of the summary."""
    bench = world.bench()

    def subject(row):
        if row.adapter != "endpoint":
            return bench.subject(row)
        return Subject(
            row,
            store=bench.store,
            hardware=HARDWARE,
            load=lambda row, *, hardware: Endpoint(
                row=row, url=server.url, key=os.environ.get("LIKENESS_ENDPOINT_KEY", ""), limits=QUICK
            ),
            identity=lambda row, *, hardware: {"adapter": row.adapter},
        )

    def asked(*tasks):
        catalog = replace(CATALOG, models=(*CATALOG.models, *JUDGES))
        made = changed(bench, subject=subject)
        planned = plan.make(
            catalog,
            suite="small",
            models=[*(row.key for row in JUDGES), "small/gauge"],
            tasks=tasks,
            bench=made,
        )
        lines = []
        outcomes = run.execute(planned, bench=made, report=lines.append)
        return outcomes, lines, results_table.lines(planned, outcomes, catalog=catalog)

    return asked


def test_a_refused_key_stops_the_whole_run_at_the_first_question(server, ask):
    server.control(key="another")
    outcomes, lines, summary = ask("unisim/near", "unisim/odd")
    assert server.requests() == 1
    assert [one.state for one in outcomes] == ["failed"] + ["stopped"] * 5
    [told] = [line for line in (*lines, *summary) if "LIKENESS_ENDPOINT_KEY" in line]
    assert "status 401" in told and summary[-1].startswith("5 runs left")


def test_a_key_is_in_no_run_folder_line_or_error(
    server,
    ask,
    world,
    tmp_path,
    monkeypatch,
    caplog,
):
    """A key that is accepted, then another that the server repeats as it refuses it."""
    caplog.set_level("DEBUG")
    keys = ("sk-accepted-0123456789", "sk-refused-9876543210")
    server.control(key=keys[0])
    monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", keys[0])
    outcomes, *told = ask("unisim/near")
    assert [one.state for one in outcomes] == ["made"] * 3
    monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", keys[1])
    outcomes, *refused = ask("unisim/odd")
    assert outcomes[0].state == "failed" and "the key in LIKENESS_ENDPOINT_KEY is not accepted" in outcomes[0].reason
    files = [file for folder in (world.folder, tmp_path) for file in folder.rglob("*") if file.is_file()]
    assert any(file.name == "run.json" for file in files) and any(file.suffix == ".jsonl" for file in files)
    for key in keys:
        assert not [file for file in files if key.encode() in file.read_bytes()]
        assert key not in f"{told}{refused}{outcomes}{caplog.text}"


def test_a_judge_that_cannot_be_read_is_quoted(server, ask):
    server.control(
        faults=[said(text) for text in ("Both look alike.", "I cannot tell.", "I cannot tell.", "x " * 99)] * 3
    )
    outcomes, _, summary = ask("unisim/near")
    assert [one.state for one in outcomes] == ["failed", "made", "made"], "the others go on"
    for words in ("12 replies", "(A) Image 2, (B) Image 3", "'Both look alike.'", "'I cannot tell.'", "x x…'"):
        assert words in outcomes[0].reason
    assert any(line.startswith("Failed: small/judge on unisim/near: none of") for line in summary)


def test_a_score_rests_on_what_was_answered_with_coverage_and_a_lower_bound(server, ask):
    """Right answers are the server's own, of 12 less the 5 that cannot be read; a metric answers all 12."""
    server.control(faults=[said("Both look alike.")] * 5)
    outcomes, lines, summary = ask("unisim/near")
    items = store.read_parquet(outcomes[0].stored.folder / run_folders.ITEMS)
    assert items["correct"].isna().tolist() == [True] * 5 + [False] * 7
    right = int(items["correct"].sum())
    [score] = outcomes[0].stored.scores
    assert (score.value, score.n) == (pytest.approx(right / 7), 7)
    assert (score.coverage, score.lower_bound) == (pytest.approx(7 / 12), pytest.approx(right / 12))
    assert run_folders.read(outcomes[0].stored.folder).scores == (score,)
    [whole] = outcomes[2].stored.scores
    assert (whole.n, whole.coverage, whole.lower_bound) == (12, 1.0, None)
    assert f"7 of 12 items answered, at least {right / 12:.4f}" in lines[0]
    [row] = [line for line in summary if line.startswith("| unisim/near")]
    assert "| 7-12 " in row and f"(58.3% of items, at least {100 * right / 12:.1f})" in row
