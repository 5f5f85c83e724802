"""A judge's run that is killed in the middle pays for no answer twice."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from tests.compute.models.chat_server import running
from tests.serving import begun, wait

RUN = """
from compute.models.judges.endpoint import load
from compute.procedures.shared import conditions
from tests.compute.models.judges.asked import CPU, ROW, rated

replies = load(ROW, CPU, None).reply(conditions.questions(rated(100)))
print(len(replies), sum(bool(reply.error) for reply in replies))
"""


def test_a_run_killed_with_32_requests_under_way_pays_nothing_twice(tmp_path):
    """SIGKILL; the server's own counts say what was asked. 100 pairs are 200 questions."""
    with running(delay=0.3) as server:
        place = {"LIKENESS_ENDPOINT": server.url, "LIKENESS_ENDPOINT_CONCURRENCY": "32"}
        place["LIKENESS_ANSWERS"] = str(tmp_path)
        killed = begun("-c", RUN, **place)
        wait(lambda: len(stored(tmp_path)) >= 50, running=killed)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        time.sleep(0.5)  # the server ends what was under way
        answered, before = len(stored(tmp_path)), server.state()
        assert 50 <= answered < 200 and before["most_together"] == 32
        assert answered <= before["counts"]["requests"] <= answered + 32
        assert {file.suffix for file in tmp_path.rglob("*") if file.is_file()} == {".json", ".jsonl"}

        assert begun("-c", RUN, **place).communicate()[0].split() == ["200", "0"]
        after = server.state()
        assert after["counts"]["requests"] - before["counts"]["requests"] == 200 - answered
        # Twice were only those under way, whose answers nobody had.
        assert after["repeated"] == before["counts"]["requests"] - answered
        assert len(stored(tmp_path)) == len(set(stored(tmp_path))) == 200


def stored(root: Path) -> list[str]:
    """The keys of all whole lines."""
    whole = [text for file in root.rglob("*.jsonl") for text in file.read_text().split("\n")[:-1]]
    return [json.loads(text)["key"] for text in whole]
