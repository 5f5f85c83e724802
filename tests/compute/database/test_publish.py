"""What is published: files that read back as the database holds them, and a card that says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from huggingface_hub import DatasetCard
from huggingface_hub.errors import HFValidationError
from typer.testing import CliRunner

from compute.__main__ import app
from compute.database import publish, store
from compute.types import BadInput, DatabaseError, LikenessError
from tests.compute.commands import assert_refused


class Hub:
    """Stands in for the hub: keeps what it is given, fails where told to."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.error, self.made, self.files = error, {}, {}

    def create_repo(self, repo: str, **given: Any) -> None:
        if self.error:
            raise self.error
        self.made[repo] = given

    def upload_folder(self, *, repo_id: str, folder_path: str, **given: Any) -> None:
        self.files[repo_id] = sorted(path.name for path in Path(folder_path).iterdir())


def test_the_files_hold_what_the_database_holds(database: Path, tmp_path: Path) -> None:
    """Reference: pandas' own reader of Parquet, and counts asked of the database."""
    rows = publish.write(tmp_path / "new", database=database)
    with store.connect(database) as connection:
        for file, name in publish.TABLES.items():
            [(count,)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
            assert len(pd.read_parquet(tmp_path / "new" / f"{file}.parquet")) == rows[file] == count > 0
        value = connection.execute("SELECT sum(value) FROM leaderboard_scores").fetchall()[0][0]
    assert pd.read_parquet(tmp_path / "new" / "scores.parquet")["value"].sum() == pytest.approx(value)
    with store.connect(tmp_path / "new" / "likeness.duckdb") as copy:
        assert copy.execute("SELECT count(*) FROM runs").fetchall()[0][0] > 0


def test_the_card_is_one_the_hub_reads_and_counts_origins(database: Path, tmp_path: Path) -> None:
    publish.write(tmp_path / "new", database=database)
    card = DatasetCard.load(tmp_path / "new" / "README.md")
    assert [entry["config_name"] for entry in card.data.to_dict()["configs"]] == list(publish.TABLES)
    scores = pd.read_parquet(tmp_path / "new" / "scores.parquet")
    for origin, count in scores["origin"].value_counts().items():
        assert f"| {origin} | {count:,} |" in card.text
    drawn = (scores["benchmark"] == "mini").sum()
    assert f"{drawn:,} scores are of the benchmark `mini` or of own data that is marked so" in card.text


def test_the_card_counts_own_synthetic_scores_with_the_drawn_ones() -> None:
    benchmarks = ["mini", "own-synthetic", "own-synthetic", "own", "pairbench"]
    scores = pd.DataFrame({"benchmark": benchmarks, "origin": "computed", "model": "ssim", "task": "t"})
    card = publish.card({"scores": scores})
    assert "5 scores of 1 models" in card and "\n3 scores are of the benchmark `mini`" in card


def test_a_folder_with_files_is_left_alone(database: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="is not empty"):
        publish.write(tmp_path, database=database)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_folder_goes_up_in_one_commit(database: Path, tmp_path: Path) -> None:
    publish.write(tmp_path / "new", database=database)
    hub = Hub()
    address = publish.upload(tmp_path / "new", repo="someone/likeness", private=True, api=lambda: hub)
    assert address.endswith("/datasets/someone/likeness")
    assert hub.made == {"someone/likeness": {"repo_type": "dataset", "private": True, "exist_ok": True}}
    assert hub.files["someone/likeness"] == sorted(
        ["README.md", "likeness.duckdb", *(f"{file}.parquet" for file in publish.TABLES)]
    )


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError("no route to the hub"), LikenessError, "no route to the hub.*HF_TOKEN"),
        (HFValidationError("bad"), BadInput, "USER/NAME"),
    ],
)
def test_what_the_hub_refuses_is_one_line(tmp_path: Path, error: Exception, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        publish.upload(tmp_path, repo="someone/likeness", private=False, api=lambda: Hub(error=error))


def test_the_command_writes_to_a_folder_or_uploads_and_not_both(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    made = CliRunner().invoke(app, ["publish", "--to", str(folder), "--database", str(database)])
    assert made.exit_code == 0 and "scores.parquet: " in made.output and (folder / "README.md").is_file()
    for words in ([], ["--repo", "a/b", "--to", str(folder)]):
        wrong = CliRunner().invoke(app, ["publish", *words])
        assert_refused(wrong, BadInput, "--repo USER/NAME")
    gone = CliRunner().invoke(app, ["publish", "--to", str(tmp_path / "b"), "--database", str(tmp_path / "no.duckdb")])
    assert_refused(gone, DatabaseError, "no.duckdb")
