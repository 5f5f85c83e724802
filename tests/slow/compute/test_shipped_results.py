"""The shipped results against the snapshot that they are of."""

import json
import random

from compute.catalog import shipped
from compute.database import store
from compute.importing.mteb import MTEB


def test_scores_drawn_at_random_are_those_of_the_files(result_files, database):
    """Of old files whose main score is another metric than the task's, that main score is noted with the run."""
    tasks = {task.title: task for task in shipped().tasks if task.benchmark in MTEB}
    files = sorted(path for path in (result_files / "results").glob("*/*/*.json") if path.stem in tasks)
    drawn = random.Random(0).sample(files, 3000)
    with store.connect(database) as connection:
        rows = connection.execute(
            """SELECT settings->>'file', settings->>'split', subset, value, (settings->>'main_score')::DOUBLE
               FROM scores JOIN runs ON runs.id = run WHERE id LIKE 'mteb/%'"""
        ).fetchall()
    stored = {(file, split, subset): (value, noted) for file, split, subset, value, noted in rows}
    wrong, noted_apart = [], 0
    for path in drawn:
        task = tasks[path.stem]
        content = json.loads(path.read_text())["scores"]
        split = [part for part in task.split.split("|") if part in content][-1:] or ["test"]
        row = random.Random(path.name).choice(content[split[0]])
        subset = "average" if row["hf_subset"] == "default" and len(task.subsets) > 1 else row["hf_subset"]
        value, noted = stored[path.relative_to(result_files / "results").as_posix(), split[0], subset]
        noted_apart += noted is not None
        if value != row["main_score"] and (noted is None or noted != row["main_score"]):
            wrong.append((str(path), subset, value, row["main_score"]))
    assert wrong == [] and noted_apart < 100
