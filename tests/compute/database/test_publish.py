"""What is published: files that read back as the database holds them, and a card that says what they are."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pandas as pd
import pytest
from huggingface_hub import DatasetCard
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

from compute.catalog import published
from compute.database import publish, store
from compute.types import BadInput, DatabaseError, LikenessError
from tests.compute.commands import assert_refused, command, done

send = command("publish")


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


@pytest.fixture(scope="module")
def written(database, tmp_path_factory):
    """The folder that the command writes, and what it prints."""
    folder = tmp_path_factory.mktemp("published") / "new"
    return folder, done(send(f"--to {folder} --database {database}")).output


def test_the_files_hold_what_the_database_holds(database, written):
    """Reference: pandas' own reader of Parquet, and counts asked of the database."""
    folder, printed = written
    with store.connect(database) as connection:
        for file, name in publish.TABLES.items():
            [(count,)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
            assert len(pd.read_parquet(folder / f"{file}.parquet")) == count > 0
            assert f"{file}.parquet: {count:,} rows" in printed
        value = connection.execute("SELECT sum(value) FROM leaderboard_scores").fetchall()[0][0]
    assert pd.read_parquet(folder / "scores.parquet")["value"].sum() == pytest.approx(value)
    with store.connect(folder / "likeness.duckdb") as copy:
        assert copy.execute("SELECT count(*) FROM runs").fetchall()[0][0] > 0


def test_the_card_is_one_the_hub_reads_and_counts_origins(written):
    card = DatasetCard.load(written[0] / "README.md")
    assert [entry["config_name"] for entry in card.data.to_dict()["configs"]] == list(publish.TABLES)
    scores = pd.read_parquet(written[0] / "scores.parquet")
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


@pytest.mark.parametrize(
    "line, error, word",
    [
        ("", BadInput, "--repo USER/NAME"),
        ("--repo a/b --to x", BadInput, "--repo USER/NAME"),
        ("--to x --database no.duckdb", DatabaseError, "no.duckdb"),
    ],
)
def test_what_cannot_be_published_is_refused(line, error, word):
    assert_refused(send(line), error, word)


@pytest.fixture
def sent(database, monkeypatch):
    """Publishes the database to a hub of these tags."""

    def sending(hub, *words):
        monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
        return send("--repo someone/likeness --database", database, *words)

    return sending


NUMBER, DATE, *_ = published.history()[0].values()


def test_the_first_snapshot_of_a_version_is_tagged_and_its_card_cites_the_tag(sent):
    made = done(sent(hub := Hub()))
    assert hub.tags == {f"v{NUMBER}": "c" * 40}
    address = f"https://huggingface.co/datasets/someone/likeness/tree/v{NUMBER}"
    assert made.output.splitlines()[-1] == address
    assert f"url = {{{address}}}" in hub.card and f"version = {{{NUMBER}}}" in hub.card
    assert f"Published scores {NUMBER} of {DATE}, tagged `v{NUMBER}`" in hub.card


def test_a_tag_is_never_moved_and_a_later_snapshot_may_have_its_own(sent):
    hub = Hub(tags=(f"v{NUMBER}",))
    assert "--tag NAME" in done(sent(hub)).output and hub.tags == {f"v{NUMBER}": "earlier"}
    day = datetime.now(UTC).date().isoformat()
    assert f"note = {{Built on {day}}}" in hub.card and "/tree/" not in hub.card
    done(sent(hub, "--tag", "with-my-runs"))
    assert hub.tags["with-my-runs"] == "c" * 40
    assert_refused(sent(hub, "--tag", "with-my-runs"), BadInput, "with-my-runs", "--tag")
    assert_refused(sent(hub, "--tag", "a b/../c"), BadInput, "cannot name a snapshot")
