"""MMScore's interval beside a loop of scikit-learn's NMI: python -m tests.bench.bench_judge_metrics [--draws 2000]

A made-up judge (synthetic) of 500 source items, three pairs each, both orders. The loop is the plain way of saying the
same: draw 500 sources, take their rows, call scikit-learn, again and again. Both take the same draws; the loop fewer of
them, as it is slow, and its time is scaled up. Exits with 1 where the two disagree, the loop is less than 20 times
slower, or ours takes a second of processor time or more.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from compute.metrics import judge
from tests.compute.metrics import judges

SOURCES, LOOPED = 500, 50


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and seconds of processor time."""
    began = time.process_time()
    return call(), time.process_time() - began


def by_loop(truth: np.ndarray, answers: np.ndarray, *, draws: int, blocks: int) -> list[float]:
    """NMI of the first draws by scikit-learn. `truth`, `answers`: (sources, 6); `resampling.totals` draws alike."""
    from sklearn.metrics import normalized_mutual_info_score

    rows = np.random.default_rng(0).integers(0, len(truth), (blocks, len(truth)))[:draws]
    return [normalized_mutual_info_score(truth[row].ravel(), answers[row].ravel()) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=2000)
    draws = parser.parse_args().draws
    evidence = judges.noisy(np.random.default_rng(0), sources=SOURCES)
    pairs = evidence["sensitive"].sort_values("source", kind="stable")
    ratings = [judge.Ratings.of_frame(pairs)]
    answers = np.nan_to_num(pairs[["forward", "reverse"]].to_numpy(), nan=-1).reshape(SOURCES, 6)
    truth = pairs["expected_score"].to_numpy().repeat(2).reshape(SOURCES, 6)
    judge.resampled(judge.MMSCORE, ratings, draws=2)  # loads libraries
    by_loop(truth, answers, draws=1, blocks=1)

    found, seconds = timed(lambda: judge.resampled(judge.MMSCORE, ratings, draws=draws))
    wanted, looped = timed(lambda: by_loop(truth, answers, draws=LOOPED, blocks=draws))
    looped *= draws / LOOPED
    apart = float(np.abs(found.drawn[:LOOPED, 0] - wanted).max())
    good = apart < 1e-12 and looped > 20 * seconds and seconds < 1
    print(
        f"{draws} draws of {SOURCES} sources, MMScore   ours {seconds:6.3f} s   scikit-learn in a loop {looped:6.2f} s"
        f"   {looped / seconds:.0f} x   largest difference {apart:.1e}"
    )
    for name, call in (
        ("controllability of a split", lambda: judge.controllability(evidence)),
        ("table_1 of 24 splits", lambda: judge.table_1({f"split {index}": evidence for index in range(24)})),
    ):
        print(f"{name:40} {timed(call)[1]:6.3f} s")
    print("ok" if good else "OVER")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
