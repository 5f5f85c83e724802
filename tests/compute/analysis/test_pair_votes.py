"""Judges of pairs beside people: GenAI-Bench's figures from the shipped answers, and judges made to be diagnosed."""

import numpy as np
import pandas as pd
import pytest

from compute import paths
from compute.analysis.pair_votes import judged
from compute.importing import votes


@pytest.fixture(scope="module")
def shipped():
    rows, problems = votes.every(paths.IMPORTED)
    assert not problems and len(rows) == 31_920
    return {task: judged(own) for task, own in rows.groupby("task")}


def test_genai_bench_on_image_generation(shipped):
    task = shipped["image_generation"]
    rows = {one.judge: one for one in task.judges}
    figures = {"gpt4o": (74.4, 971, 55.5), "gemini-1.5-pro": (66.3, 1102, 56.1), "idefics2": (56.4, 1305, 56.4)}
    for name, wanted in figures.items():
        one = rows[name]
        assert (round(100 * one.decided.value, 1), one.decided.n, round(100 * one.all.value, 1)) == wanted
    assert rows["idefics2"].exact.value == pytest.approx(0.422478, abs=5e-7)  # as the board prints it
    assert (rows["llava"].first.value, rows["llava"].first.n, rows["llava"].readable.n) == (1, 1734, 1735)
    best, level = task.lead("all")
    assert best.judge == "idefics2" and {"gpt4o", "gemini-1.5-pro"} <= set(level)
    assert task.lead("decided")[1] == [] and "emu2" not in task.tested  # 72 of 1,735 questions


def test_made_judges_are_diagnosed():
    generator = np.random.default_rng(3)
    people = generator.choice(["first", "second"], 800)
    other = np.where(people == "first", "second", "first")
    made = {
        "always A": np.full(800, "first"),
        "longer text": np.where(generator.random(800) < 0.5, "first", "second"),  # of lengths that people ignore
        "right in 70%": np.where(generator.random(800) < 0.7, people, other),
        "refuses half": np.where(generator.random(800) < 0.5, people, None),
    }
    frames = [
        pd.DataFrame({"judge": name, "item": range(800), "human": people, "answer": own}) for name, own in made.items()
    ]
    task = judged(pd.concat(frames))
    rows = {one.judge: one for one in task.judges}
    assert {name: one.by_position for name, one in rows.items()} == dict.fromkeys(made, "") | {"always A": "first"}
    assert task.informed == {"right in 70%", "refuses half"}
    assert rows["always A"].decided.value == 0.5 and rows["always A"].kappa.value == 0
    right = rows["right in 70%"]
    for share, true in ((rows["longer text"].decided, 0.5), (right.decided, 0.7), (right.kappa, 0.4)):
        assert share.low < true < share.high
    assert rows["refuses half"].decided.value == 1 and rows["refuses half"].all.high < 0.6
    assert task.lead("decided")[0].judge == "refuses half" and task.lead("all")[0].judge == "right in 70%"


def test_a_judge_without_a_readable_answer_is_no_error():
    rows = {"judge": "mute", "item": ["a", "b"], "human": ["first", "tie"], "answer": [None, None]}
    (one,) = judged(pd.DataFrame(rows)).judges
    assert one.readable.value == 0 and np.isnan(one.decided.value) and not one.by_position
