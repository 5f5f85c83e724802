"""What is published: files that read back as the database holds them, and a card that says what they are."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pandas as pd
import pytest
from huggingface_hub import DatasetCard
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
from typer.testing import CliRunner

from compute.__main__ import app
from compute.catalog import published
from compute.database import publish, store
from compute.types import BadInput, DatabaseError, LikenessError
from tests.compute.commands import assert_refused


class Hub:
    """Stands in for the hub: keeps what it is given, fails where told to."""

    def __init__(self, *, error=None, tags=()):
        self.error, self.made, self.files, self.tags = error, {}, {}, dict.fromkeys(tags, "earlier")

    def list_repo_refs(self, repo, *, repo_type):
        if self.error:
            raise self.error
        if not self.tags:
            raise RepositoryNotFoundError(
                "404", response=httpx2.Response(404, request=httpx2.Request("GET", "http://h"))
            )
        return SimpleNamespace(tags=[SimpleNamespace(name=name) for name in self.tags])

    def create_tag(self, repo, *, repo_type, tag, revision, tag_message):
        assert repo_type == "dataset" and tag not in self.tags
        self.tags[tag] = revision

    def create_repo(self, repo, **given):
        if self.error:
            raise self.error
        self.made[repo] = given

    def upload_folder(self, *, repo_id, folder_path, **given):
        self.files[repo_id] = sorted(path.name for path in Path(folder_path).iterdir())
        self.card = (Path(folder_path) / "README.md").read_text(encoding="utf-8")
        return SimpleNamespace(oid="c" * 40)


def test_the_files_hold_what_the_database_holds(database, tmp_path):
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


def test_the_card_is_one_the_hub_reads_and_counts_origins(database, tmp_path):
    publish.write(tmp_path / "new", database=database)
    card = DatasetCard.load(tmp_path / "new" / "README.md")
    assert [entry["config_name"] for entry in card.data.to_dict()["configs"]] == list(publish.TABLES)
    scores = pd.read_parquet(tmp_path / "new" / "scores.parquet")
    for origin, count in scores["origin"].value_counts().items():
        assert f"| {origin} | {count:,} |" in card.text
    drawn = (scores["benchmark"] == "mini").sum()
    assert f"{drawn:,} scores are of the benchmark `mini` or of own data that is marked so" in card.text


@pytest.mark.parametrize(
    "error, kind, words",
    [
        (OSError("no route to the hub"), LikenessError, "no route to the hub.*HF_TOKEN"),
        (httpx2.ConnectError("no name is known"), LikenessError, "no name is known.*HF_TOKEN"),
        (HFValidationError("bad"), BadInput, "USER/NAME"),
    ],
)
def test_what_the_hub_refuses_is_one_line(tmp_path, monkeypatch, error, kind, words):
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: Hub(error=error))
    with pytest.raises(kind, match=words):
        publish.upload(tmp_path, repo="someone/likeness", private=False)


def test_the_command_writes_to_a_folder_or_uploads_and_not_both(database, tmp_path):
    folder = tmp_path / "out"
    made = CliRunner().invoke(app, ["publish", "--to", str(folder), "--database", str(database)])
    assert made.exit_code == 0 and "scores.parquet: " in made.output and (folder / "README.md").is_file()
    for words in ([], ["--repo", "a/b", "--to", str(folder)]):
        wrong = CliRunner().invoke(app, ["publish", *words])
        assert_refused(wrong, BadInput, "--repo USER/NAME")
    gone = CliRunner().invoke(app, ["publish", "--to", str(tmp_path / "b"), "--database", str(tmp_path / "no.duckdb")])
    assert_refused(gone, DatabaseError, "no.duckdb")


def test_the_first_snapshot_of_a_version_is_tagged_and_its_card_cites_the_tag(database, monkeypatch):
    hub = Hub()
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
    number, date, *_ = published.history()[0].values()
    made = CliRunner().invoke(app, ["publish", "--repo", "someone/likeness", "--database", str(database)])
    assert made.exit_code == 0, made.output
    assert hub.tags == {f"v{number}": "c" * 40}
    address = f"https://huggingface.co/datasets/someone/likeness/tree/v{number}"
    assert made.output.splitlines()[-1] == address
    assert f"url = {{{address}}}" in hub.card and f"version = {{{number}}}" in hub.card
    assert f"Published scores {number} of {date}, tagged `v{number}`" in hub.card


def test_a_tag_is_never_moved_and_a_later_snapshot_may_have_its_own(database, monkeypatch):
    number, date, *_ = published.history()[0].values()
    hub = Hub(tags=(f"v{number}",))
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
    words = ["publish", "--repo", "someone/likeness", "--database", str(database)]
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0 and "--tag NAME" in made.output and hub.tags == {f"v{number}": "earlier"}
    day = datetime.now(UTC).date().isoformat()
    assert f"note = {{Built on {day}}}" in hub.card and "/tree/" not in hub.card
    named = CliRunner().invoke(app, [*words, "--tag", "with-my-runs"])
    assert named.exit_code == 0 and hub.tags["with-my-runs"] == "c" * 40
    again = CliRunner().invoke(app, [*words, "--tag", "with-my-runs"])
    assert_refused(again, BadInput, "with-my-runs", "--tag")
    assert_refused(CliRunner().invoke(app, [*words, "--tag", "a b/../c"]), BadInput, "cannot name a snapshot")
