"""Parti-Prompts' generations and votes, in small files of their layouts, become one table."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

from compute.__main__ import app
from compute.engine.generators import people
from tests.compute.tasks.files import put

PROMPTS = ("a dog", "a cat on a mat", "a teapot")


def encoded(seed):
    stream = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def published(root, name, *, prompts=PROMPTS, first=0):
    """One generator's data set as the hub has it."""
    rows = [
        {
            "Prompt": text,
            "Category": "Animals",
            "Challenge": "Basic",
            "Note": "",
            "images": {"bytes": encoded(first + at), "path": f"{at}.png"},
            "model_name": name,
            "seed": 0,
        }
        for at, text in enumerate(prompts)
    ]
    table = pa.Table.from_pylist(rows)
    put(root / "diffusers-parti-prompts" / name, {"data/train-00000-of-00001-abc.parquet": table})


def run(root, *arguments):
    options = ("import", "parti-prompts", "--data", root, "--offline", "--generators", "one,two")
    return CliRunner().invoke(app, [*map(str, (*options, *arguments))])


@pytest.fixture
def root(tmp_path):
    published(tmp_path, "one")
    published(tmp_path, "two", first=10)
    return tmp_path


def test_one_table_of_prompts_generators_images_and_votes(root):
    votes, out = root / "votes.csv", root / "parti.parquet"
    votes.write_text("question,result\n0,one\n0,two\n0,one\n2,two\n2,three\n9,one\n")
    ended = run(root, "--out", out, "--votes", votes)
    assert ended.exit_code == 0, ended.output
    assert "6 images of 3 prompts by 2 generators, 4 votes" in ended.stdout
    assert "1 votes for 1 generator (three) that are not read" in ended.stderr
    assert "1 votes for prompts that their generator does not have" in ended.stderr
    rows = pq.read_table(out).to_pylist()
    assert list(rows[0]) == ["prompt", "generator", "image", "votes", "category", "challenge", "note", "seed"]
    assert {(row["generator"], row["prompt"]): row["votes"] for row in rows if row["votes"]} == {
        ("one", "a dog"): 2,
        ("two", "a dog"): 1,
        ("two", "a teapot"): 1,
    }
    assert rows[4]["image"]["bytes"] == encoded(11) and rows[4]["category"] == "Animals"
    # The command that compares metrics with people reads it as it is.
    assert people.read(out, generated=("one", "two")).ratings == (0, 0)  # two wins each


def test_votes_by_prompt_with_counts_are_the_same(root):
    votes, out = root / "votes.jsonl", root / "parti.parquet"
    votes.write_text('{"Prompt": "a dog", "model_name": "one", "votes": 2}\n')
    assert run(root, "--out", out, "--votes", votes).exit_code == 0
    assert [row["votes"] for row in pq.read_table(out).to_pylist()] == [2, 0, 0, 0, 0, 0]


def test_without_votes_the_column_is_empty_and_it_is_said(root):
    ended = run(root, "--out", root / "parti.parquet")
    assert "without --votes the column of votes is empty" in ended.stderr
    assert {row["votes"] for row in pq.read_table(root / "parti.parquet").to_pylist()} == {None}


def test_other_layouts_are_refused_with_what_there_is(root, tmp_path):
    votes, out = root / "votes.csv", root / "parti.parquet"
    for text, words in (
        ("who,what\na,b\n", "generator, model_name)"),
        ("result\none\n", "no column 'prompt'"),
        ("question,result\n0,sd\n", "No vote is for one of one, two; the votes name 1 generator (sd)"),
        ("question,result\nx,one\n", "row 1: question 'x' is not a number"),
    ):
        votes.write_text(text)
        ended = run(root, "--out", out, "--votes", votes)
        assert ended.exit_code == 1 and words in ended.stderr, ended.output
        assert not out.exists()
    missing = CliRunner().invoke(app, ["import", "parti-prompts", "--data", str(root), "--offline", "--out", str(out)])
    assert missing.exit_code == 1 and "hf download diffusers-parti-prompts/sd-v1-5" in missing.stderr


def test_missing_images_are_named(tmp_path):
    published(tmp_path, "one")
    published(tmp_path, "two", prompts=PROMPTS[:1])
    ended = run(tmp_path, "--out", tmp_path / "parti.parquet")
    assert "two: 2 prompts (a cat on a mat, a teapot) without an image" in ended.stderr
