"""The table of ratings: every pair of a judge's run, however many of its items a page can open."""

import numpy as np
import pandas as pd
import pytest

from compute.database import schema, store
from compute.engine import run_folders
from compute.metrics import judge
from compute.procedures.shared import ratings as answers
from compute.tasks.data import PAIR_TYPES
from compute.types import Run
from tests.compute.database.test_store import frames

SOURCES = 40
EXPECTED = dict(zip(PAIR_TYPES, (10, 8, 8, 1), strict=True))


def evidence(*, in_words=True, seed=0):
    """What `judging` gives, of a judge that errs: by condition, a row a pair."""
    generator = np.random.default_rng(seed)
    out = {}
    for condition in judge.CONDITIONS:
        rows = [(f"img/{source}.png", kind) for source in range(SOURCES) for kind in PAIR_TYPES]
        truth = np.array([EXPECTED[kind] for _, kind in rows], dtype=float)
        scores = np.clip(truth + generator.integers(-2, 3, (2, len(rows))), 1, 10)
        problems = np.where(generator.random((2, len(rows))) < 0.1, "refused", "")
        scores[problems != ""] = np.nan
        words = {"replies": ["Score: 8"] * 2} if in_words else {"numbers": [0.1, 0.2]}
        out[condition] = pd.DataFrame(
            {
                "item": [f"{source}/{kind}" for source, kind in rows],
                "expected": truth.astype(int).astype(str),
                "answer": "",
                "value": np.abs(scores[0] - scores[1]),
                "forward": scores[0],
                "reverse": scores[1],
                "expected_score": truth,
                "source": [source for source, _ in rows],
                "type": [kind for _, kind in rows],
                "template": np.arange(len(rows)) % 5,
                "detail": [
                    {**words, **({"problems": [str(one), str(other)]} if in_words else {})} for one, other in problems.T
                ],
            }
        )
    return out


def written(folder, *, ratings, most_items=5):
    """A database of these tables of evidence, run by run, and what was left out of it."""
    files = []
    for run, table in ratings.items():
        files.append((run, folder / f"{run}.parquet"))
        store.write_parquet(files[-1][1], frame=table)
    path = folder / "own.duckdb"
    runs = store.frame([Run(id=run, model="m", task="b/t") for run in ratings])
    return path, store.write(
        path, frames=frames(runs=runs), files={"items": files, "ratings": files}, most_items=most_items
    )


def read(path, sql):
    with store.connect(path) as connection:
        return connection.execute(sql).df()


def test_every_metric_is_that_of_the_evidence(tmp_path):
    """Of all pairs, though a page can open five."""
    known = evidence()
    path, left_out = written(tmp_path, ratings={"r": run_folders.table(known)})
    assert not left_out
    stored = read(path, "SELECT * FROM ratings")
    assert len(stored) == 2 * SOURCES * len(PAIR_TYPES)
    assert read(path, "SELECT count(*) AS n FROM items")["n"].item() == 5
    parts = {
        condition: part.rename(columns={"expected": "expected_score"}) for condition, part in stored.groupby("subset")
    }
    for condition, frame in known.items():
        part = parts[condition]
        order = judge.mmscore(frame["expected_score"], frame["forward"], frame["reverse"], frame["source"])
        assert judge.mmscore(part["expected_score"], part["forward"], part["reverse"], part["source"]) == order
        for problem, column in (("forward", 0), ("reverse", 1)):
            expected = [detail["problems"][column] for detail in frame["detail"]]
            assert part[f"{problem}_problem"].astype(object).fillna("").tolist() == expected
        assert part["type"].tolist() == frame["type"].tolist()
        assert part["template"].tolist() == frame["template"].tolist()
    assert judge.controllability(parts) == judge.controllability(known)


def test_codes_are_those_of_the_procedures():
    assert schema.PAIR_TYPES == PAIR_TYPES
    assert schema.RATING_PROBLEMS == answers.PROBLEMS


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"forward": 7.5}, "whole"),
        ({"reverse": 11.0}, "whole"),
        ({"expected_score": np.nan}, "expected"),
        ({"type": "odd"}, "odd"),
        ({"source": "x" * 2000}, "too long"),
        ({"template": 10_000}, "10000"),
        ({"detail": '{"problems": ["tired", ""], "replies": ["", ""]}'}, "tired"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_no_judge_says_is_left_out_and_named(tmp_path, changes, reason):
    sound = run_folders.table(evidence())
    path, left_out = written(tmp_path, ratings={"r": sound.assign(**changes), "sound": sound})
    assert list(left_out) == [tmp_path / "r.parquet"] and reason in left_out[tmp_path / "r.parquet"]
    assert read(path, "SELECT DISTINCT run FROM ratings")["run"].tolist() == ["sound"]


def test_evidence_of_an_earlier_form_still_builds(tmp_path):
    """Without the columns its ratings are not known; its items are shown."""
    sound = run_folders.table(evidence())
    path, left_out = written(tmp_path, ratings={"r": sound.drop(columns=["forward", "source"]), "sound": sound})
    assert list(left_out) == [tmp_path / "r.parquet"] and "source" in left_out[tmp_path / "r.parquet"]
    assert set(read(path, "SELECT DISTINCT run FROM items")["run"]) == {"r", "sound"}
    assert read(path, "SELECT DISTINCT run FROM ratings")["run"].tolist() == ["sound"]
