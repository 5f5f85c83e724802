"""likeness publish results and import eval-results, with a stand-in for the hub."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from typer.testing import Result

from compute import paths
from compute.catalog import Catalog
from compute.catalog.own import suite_making, suite_records
from compute.catalog.own.suite import BENCHMARKS, extended
from compute.database import store
from compute.sharing import model_card
from compute.tasks.pairbench import making, sources
from compute.tasks.pairbench.splits import named
from compute.types import BadInput, LikenessError, NotHere, UnknownKey
from tests.compute.commands import assert_refused, likeness
from tests.compute.sharing import results
from tests.compute.tasks.pairbench.images import folder_of

REPO = "openai/clip-vit-base-patch32"
TOKEN = "hf_0123456789abcdefghijklmnopqrstuvwx"
COMMIT = "c" * 40


def answer(status: int) -> httpx2.Response:
    return httpx2.Response(status, request=httpx2.Request("POST", "https://huggingface.co/api"))


@dataclass
class Hub:
    """Stands in for HfApi: a model's repository with a card, and what was sent to it."""

    folder: Path
    card: str = "---\nlicense: mit\n---\n# The model\n"
    refuses: dict[str, Exception] = field(default_factory=dict)  # by method
    sent: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self) -> Hub:
        return self

    def model_info(self, repo: str) -> Any:
        if error := self.refuses.get("model_info"):
            raise error
        return type("Info", (), {"sha": COMMIT})

    def hf_hub_download(self, repo: str, name: str, *, revision: str) -> str:
        assert (repo, name, revision) == (REPO, "README.md", COMMIT)
        (self.folder / "card.md").write_bytes(self.card.encode())
        return str(self.folder / "card.md")

    def create_commit(self, **given: Any) -> Any:
        if error := self.refuses.get("create_commit"):
            raise error
        files = {one.path_in_repo: one.path_or_fileobj for one in given.pop("operations")}
        self.sent.append({**given, "files": files})
        return type("Info", (), {"pr_url": f"https://huggingface.co/{REPO}/discussions/1"})


@pytest.fixture
def runs(tmp_path):
    """A results folder with runs of two benchmarks."""
    for key in ("unisim/nights", "mieb/cifar10"):
        results.store(tmp_path / "results", key)
    return tmp_path / "results"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    stand_in = Hub(folder=tmp_path)
    monkeypatch.setattr("huggingface_hub.HfApi", stand_in)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: stand_in.refuses.get("get_token", TOKEN))
    return stand_in


def publish(runs: Path, database: Path, *words: object) -> Result:
    return likeness("publish", "results", "--results", runs, "--database", database, *words)


def test_a_folder_gets_the_hubs_files_the_card_and_mtebs(runs, database, tmp_path):
    target = tmp_path / "clone"
    target.mkdir()
    (target / "README.md").write_text("# Mine\n")
    (target / "weights.bin").write_bytes(b"1")
    for _ in range(2):  # the second time nothing changes
        made = publish(runs, database, "--model", REPO, "--to", target)
        assert made.exit_code == 0, made.output
    listed = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert listed == [
        ".eval_results/likeness-mteb--cifar10.yaml",
        ".eval_results/likeness-saraghznfri--unisim_data.yaml",
        "README.md",
        f"mteb/results/openai__clip-vit-base-patch32/{results.COMMIT}/CIFAR10.json",
        f"mteb/results/openai__clip-vit-base-patch32/{results.COMMIT}/model_meta.json",
        "weights.bin",
    ]
    card = (target / "README.md").read_text()
    assert card.startswith("# Mine\n") and card.count(model_card.BEGIN) == 1
    [entry] = yaml.safe_load((target / listed[0]).read_text())
    assert entry["source"] == {"url": f"https://huggingface.co/{REPO}#evaluation-with-likeness", "name": "Likeness"}
    assert "2 scores in .eval_results, 2 files for mteb" in made.output


def test_what_was_published_comes_back_in_by_the_command(runs, database, tmp_path, monkeypatch):
    target = tmp_path / "clone"
    assert publish(runs, database, "--model", REPO, "--to", target).exit_code == 0
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "others")
    monkeypatch.setattr(paths, "DATABASE", tmp_path / "others.duckdb")
    monkeypatch.setattr(paths, "IMPORTED", tmp_path / "shipped")
    made = likeness("import", "eval-results", target, "--model", REPO)
    assert made.exit_code == 0 and "2 scores of 1 model imported" in made.output, made.output
    with store.connect(tmp_path / "others.duckdb") as connection:
        rows = connection.execute(
            "SELECT task, value FROM leaderboard_scores WHERE origin = 'imported' AND model = ?", [REPO]
        ).fetchall()
    expected = {key: results.figures(results.shipped().task(key))[0].value for key in ("unisim/nights", "mieb/cifar10")}
    assert dict(rows) == expected


def test_a_pull_request_holds_the_card_and_the_files_in_one_commit(runs, database, hub):
    made = publish(runs, database, "--repo", REPO)
    assert made.exit_code == 0, made.output
    [sent] = hub.sent
    files = sent.pop("files")
    assert sent.pop("commit_description").startswith("Made by `likeness publish results`.")
    assert sent == {
        "repo_id": REPO,
        "repo_type": "model",
        "commit_message": "Add evaluation results computed with Likeness",
        "create_pr": True,
        "parent_commit": COMMIT,
    }
    assert sorted(files) == [
        ".eval_results/likeness-mteb--cifar10.yaml",
        ".eval_results/likeness-saraghznfri--unisim_data.yaml",
        "README.md",
    ]
    assert files["README.md"].decode().startswith(hub.card) and model_card.BEGIN.encode() in files["README.md"]
    lines = made.output.splitlines()
    assert lines[-1] == f"https://huggingface.co/{REPO}/discussions/1"
    assert any(line.startswith("README.md  ") for line in lines[:-1])  # shown before it is sent
    assert "write them with --to FOLDER" in made.output and TOKEN not in made.output


def test_a_dry_run_writes_and_sends_nothing(runs, database, hub, tmp_path):
    for words in (("--repo", REPO), ("--model", REPO, "--to", tmp_path / "new")):
        made = publish(runs, database, *words, "--dry-run")
        assert made.exit_code == 0 and "likeness-mteb--cifar10.yaml" in made.output
        assert made.output.splitlines()[-1] == "Nothing was written or sent: --dry-run"
    assert hub.sent == [] and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("method", "raised", "error", "words"),
    [
        ("create_commit", HfHubHTTPError("403 Forbidden", response=answer(403)), LikenessError, ("403", "--to")),
        ("model_info", RepositoryNotFoundError("404", response=answer(404)), BadInput, ("shows no model",)),
        ("model_info", httpx2.ConnectError("Name or service not known"), NotHere, ("not known", "--to")),
        ("get_token", None, NotHere, ("HF_TOKEN", "--to")),
    ],
    ids=["forbidden", "missing", "unreachable", "no token"],
)
def test_what_the_hub_refuses_is_one_line_without_the_token(runs, database, hub, method, raised, error, words):
    hub.refuses[method] = raised
    refused = publish(runs, database, "--repo", REPO)
    assert_refused(refused, error, *words)
    assert TOKEN not in refused.output and hub.sent == []


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ((), BadInput, "--to FOLDER, or --repo"),
        (("--to", "x"), BadInput, "--model"),
        (("--repo", "no-name"), BadInput, "ORG/NAME"),
        (("--to", "x", "--model", "openai/clip-b32"), UnknownKey, "Did you mean"),
        (("--to", "x", "--model", "openai/clip-vit-base-patch16"), BadInput, "no complete computed run"),
    ],
)
def test_what_makes_no_sense_is_refused(runs, database, words, error, said):
    assert_refused(publish(runs, database, *words), error, said)


def own_suite(tmp_path: Path, *, own_results: Path) -> Catalog:
    """The catalogue with a suite of own images, recorded in a results folder."""
    images = folder_of(tmp_path / "images", 3)
    manifest = tmp_path / "mine.parquet"
    making.make(sources.from_folder(images), out=manifest, splits=named(("cj",)))
    suite = suite_records.record(suite_making.from_file(manifest, suite="pairbench"), results=own_results)
    return extended(results.shipped(), [suite])[0]


def test_own_data_stays_private_unless_it_is_to_be_published(runs, database, tmp_path):
    catalog = own_suite(tmp_path, own_results=runs)
    [suite] = [one for one in catalog.suites if one.benchmark in BENCHMARKS]
    [task] = [one for one in catalog.tasks if one.suites == (suite.key,)]
    results.store(runs, task.key, catalog=catalog)
    target = tmp_path / "x"
    made = publish(runs, database, "--model", REPO, "--to", target)
    assert made.exit_code == 0, made.output
    assert "--own" in made.output
    written = b"".join(path.read_bytes() for path in target.rglob("*") if path.is_file())
    private = (task.title, task.key, task.revision, suite.title, suite.key)
    assert not [text for text in private if text.encode() in written or model_card.cell(text).encode() in written]
    refused = publish(runs, database, "--model", REPO, "--to", tmp_path / "y", "--suite", suite.key)
    assert_refused(refused, BadInput, "own data", "--own")
