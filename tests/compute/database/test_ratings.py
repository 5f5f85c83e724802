"""The table of ratings: every pair of a judge's run, however many of its items a page can open."""

import numpy as np
import pandas as pd

from compute.database import schema, store
from compute.engine import run_folders
from compute.procedures.shared import ratings as answers
from compute.tasks.data import PAIR_TYPES
from compute.types import Run
from tests.compute.database.test_store import frames

PAIRS = {
    "item": ["a/identical", "b/irrelevant", "c/identical"],
    "expected": ["10", "1", "10"],
    "answer": "",
    "value": [1.0, 2.0, np.nan],
    "forward": [9.0, 3.0, np.nan],
    "reverse": [10.0, 1.0, 8.0],
    "expected_score": [10.0, 1.0, 10.0],
    "source": ["a", "b", "c"],
    "type": ["identical", "irrelevant", "identical"],
    "template": [0, 1, 2],
    "detail": [{"replies": ["Score: 8"] * 2, "problems": [problem, ""]} for problem in ("", "", "refused")],
}
SOUND = run_folders.table({"sensitive": pd.DataFrame(PAIRS)})


def written(folder, *, ratings, most_items=5):
    """A database of these tables of evidence, run by run, and what was left out of it."""
    files = []
    for run, table in ratings.items():
        files.append((run, folder / f"{run}.parquet"))
        store.write_parquet(files[-1][1], frame=table)
    path = folder / "own.duckdb"
    runs = store.frame([Run(id=run, model="m", task="b/t") for run in ratings])
    damaged, _ = store.write(
        path, frames=frames(runs=runs), files={"items": files, "ratings": files}, most_items=most_items
    )
    return path, damaged


def read(path, sql):
    with store.connect(path) as connection:
        return connection.execute(sql).df()


def test_every_pair_is_there_though_a_page_opens_two(tmp_path):
    path, left_out = written(tmp_path, ratings={"r": SOUND}, most_items=2)
    assert not left_out and read(path, "SELECT count(*) AS n FROM items")["n"].item() == 2
    stored = read(path, "SELECT * FROM ratings ORDER BY source").astype(object)
    rows = stored.where(stored.notna(), None).drop(columns=["run", "subset", "reverse_problem"]).to_numpy().tolist()
    assert rows == [
        ["a", "identical", 0, 10, 9, 10, None],
        ["b", "irrelevant", 1, 1, 3, 1, None],
        ["c", "identical", 2, 10, None, 8, "refused"],
    ]


def test_codes_are_those_of_the_procedures():
    assert schema.PAIR_TYPES == PAIR_TYPES
    assert schema.RATING_PROBLEMS == answers.PROBLEMS


WRONG = (
    ({"forward": 7.5}, "whole"),
    ({"reverse": 11.0}, "whole"),
    ({"expected_score": np.nan}, "expected"),
    ({"type": "odd"}, "odd"),
    ({"source": "x" * 2000}, "too long"),
    ({"template": 10_000}, "10000"),
    ({"detail": '{"problems": ["tired", ""], "replies": ["", ""]}'}, "tired"),
)


def test_what_no_judge_says_is_left_out_and_named_and_evidence_of_an_earlier_form_still_builds(tmp_path):
    """Without the columns its ratings are not known; its items are shown."""
    runs = {f"{at}": SOUND.assign(**changes) for at, (changes, _) in enumerate(WRONG)}
    runs |= {"earlier": SOUND.drop(columns=["forward", "source"]), "r": SOUND}
    path, left_out = written(tmp_path, ratings=runs)
    assert [file.stem for file in left_out] == [*runs][:-1]
    for said, word in zip(left_out.values(), [*(word for _, word in WRONG), "source"], strict=True):
        assert word in said
    assert read(path, "SELECT DISTINCT run FROM ratings")["run"].tolist() == ["r"]
    assert {"earlier", "r"} <= set(read(path, "SELECT DISTINCT run FROM items")["run"])
