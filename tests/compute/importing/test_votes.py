"""Answers of judges of pairs from tables that other programs write."""

import json

import pytest

from compute.importing import votes
from compute.types import BadInput


def read(tmp_path, name, text, **how):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return votes.read(path, task="t", **how)


def cells(found):
    return list(found.rows[["judge", "human", "answer"]].itertuples(index=False, name=None))


def test_answers_beside_peoples_votes(tmp_path):
    text = "task,judge,idx,model_vote,human_vote\ne,x,0,A,tie_bad\ne,x,0,B,tie_bad\ne,x,1,no idea,B\ne,x,2,A,\n"
    found = read(tmp_path, "own.csv", text)
    assert cells(found) == [("x", "both bad", "first"), ("x", "second", None)] and set(found.rows["task"]) == {"e"}
    for said in ("human_vote", "model_vote", "B is the second", "1 of them unreadable", "1 row skipped", "1 repeated"):
        assert said in found.sentence


def test_multimodal_rewardbench(tmp_path):
    outputs = ("A is nice, but: [[B]]", "[[A]] or [[B]]")
    lines = [json.dumps({"ID": str(at), "Label": "B", "output": each}) for at, each in enumerate(outputs)]
    with pytest.raises(BadInput, match="--judge"):
        read(tmp_path, "gpt4o.jsonl", "\n".join(lines))
    found = read(tmp_path, "gpt4o.jsonl", "\n".join(lines), judge="gpt4o")
    assert cells(found) == [("gpt4o", "second", "second"), ("gpt4o", "second", None)]


def test_a_row_a_vote_is_joined_in_the_order_that_the_judge_had(tmp_path):
    rows = ("1,m,n,model_a,expert_1", "1,n,m,n,llm", "2,m,n,tie,expert_1", "2,m,n,model_b,llm")
    more = ("3,m,n,model_a,expert_1", "3,m,n,model_b,expert_2", "3,m,n,model_a,llm")  # people differ
    text = "\n".join(("question_id,model_a,model_b,winner,judge", *rows, *more))
    found = read(tmp_path, "arena.csv", text, people=("expert_*",))
    assert cells(found) == [("llm", "second", "first"), ("llm", "tie", "second")] and "1 row skipped" in found.sentence
    with pytest.raises(BadInput, match="--people"):
        read(tmp_path, "arena.csv", text)


def test_votes_are_kept_and_damaged_ones_skipped(tmp_path):
    found = read(tmp_path, "own.csv", "judge,item,answer,human\nx,0,A,B\n")
    votes.save(found, folder=tmp_path, name="mine", replace=False)
    with pytest.raises(BadInput, match="--replace"):
        votes.save(found, folder=tmp_path, name="mine", replace=False)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "votes.parquet").write_text("nothing")
    rows, problems = votes.every(tmp_path)
    assert list(rows["origin"]) == ["mine"] and len(problems) == 1
