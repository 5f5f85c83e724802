"""likeness publish results and import eval-results, with a stand-in for the hub."""

from unittest.mock import Mock

import httpx2
import pytest
import yaml
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from compute.catalog.own.suite_records import extended
from compute.sharing import model_card
from compute.types import BadInput, LikenessError, NotHere, UnknownKey
from tests.compute.commands import assert_refused, command, done
from tests.compute.sharing import results
from tests.compute.tasks.files import put
from tests.compute.tasks.pairbench.images import folder_of, manifest_of, suite_of

REPO = "openai/clip-vit-base-patch32"
TOKEN = "hf_0123456789abcdefghijklmnopqrstuvwx"
COMMIT = "c" * 40


def answer(status):
    return httpx2.Response(status, request=httpx2.Request("POST", "https://huggingface.co/api"))


CARD = "---\nlicense: mit\n---\n# The model\n"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Stands in for HfApi: a model's repository with a card, and its one method that sends."""
    (tmp_path / "card.md").write_text(CARD)
    api = Mock()
    api.model_info.return_value.sha = COMMIT
    api.hf_hub_download.return_value = str(tmp_path / "card.md")
    api.create_commit.return_value.pr_url = f"https://huggingface.co/{REPO}/discussions/1"
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: api)
    api.get_token.return_value = TOKEN
    monkeypatch.setattr("huggingface_hub.get_token", api.get_token)
    return api


@pytest.fixture
def runs(tmp_path):
    """A results folder with runs of two benchmarks."""
    for key in ("unisim/nights", "mieb/cifar10"):
        results.store(tmp_path / "results", key)
    return tmp_path / "results"


@pytest.fixture
def publish(runs, database):
    return command(f"publish results --results {runs} --database {database}")


def test_a_folder_gets_the_hubs_files_the_card_and_mtebs(publish, tmp_path):
    target = put(tmp_path / "clone", {"README.md": "# Mine\n", "weights.bin": "1"})
    for _ in range(2):  # the second time nothing changes
        made = done(publish(f"--model {REPO} --to {target}"))
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


def test_a_pull_request_holds_the_card_and_the_files_in_one_commit(publish, hub):
    made = done(publish(f"--repo {REPO}"))
    hub.hf_hub_download.assert_called_once_with(REPO, "README.md", revision=COMMIT)
    [(_, sent)] = hub.create_commit.call_args_list
    files = {one.path_in_repo: one.path_or_fileobj for one in sent.pop("operations")}
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
    assert files["README.md"].decode().startswith(CARD) and model_card.BEGIN.encode() in files["README.md"]
    lines = made.output.splitlines()
    assert lines[-1] == f"https://huggingface.co/{REPO}/discussions/1"
    assert any(line.startswith("README.md  ") for line in lines[:-1])  # shown before it is sent
    assert "write them with --to FOLDER" in made.output and TOKEN not in made.output


def test_a_dry_run_writes_and_sends_nothing(publish, hub, tmp_path):
    for line in (f"--repo {REPO}", f"--model {REPO} --to {tmp_path}/new"):
        made = done(publish(f"{line} --dry-run"))
        assert "likeness-mteb--cifar10.yaml" in made.output
        assert made.output.splitlines()[-1] == "Nothing was written or sent: --dry-run"
    assert not hub.create_commit.called and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "method, raised, error, words",
    [
        ("create_commit", HfHubHTTPError("403 Forbidden", response=answer(403)), LikenessError, ("403", "--to")),
        ("model_info", RepositoryNotFoundError("404", response=answer(404)), BadInput, ("shows no model",)),
        ("model_info", httpx2.ConnectError("Name or service not known"), NotHere, ("not known", "--to")),
        ("get_token", None, NotHere, ("HF_TOKEN", "--to")),
    ],
)
def test_what_the_hub_refuses_is_one_line_without_the_token(publish, hub, monkeypatch, method, raised, error, words):
    setattr(hub, method, Mock(side_effect=raised, return_value=None))
    monkeypatch.setattr("huggingface_hub.get_token", hub.get_token)
    refused = publish(f"--repo {REPO}")
    assert_refused(refused, error, *words)
    assert TOKEN not in refused.output


@pytest.mark.parametrize(
    "line, error, said",
    [
        ("", BadInput, "--to FOLDER, or --repo"),
        ("--to x", BadInput, "--model"),
        ("--repo no-name", BadInput, "ORG/NAME"),
        ("--to x --model openai/clip-b32", UnknownKey, "Did you mean"),
        (f"--to x --model {REPO} --suite mieb --format every-eval-ever", BadInput, "--evaluator"),
        (f"--to x --model {REPO} --format elsewhere", BadInput, "every-eval-ever"),
        ("--to x --model openai/clip-vit-base-patch16", BadInput, "no complete computed run"),
    ],
)
def test_what_makes_no_sense_is_refused(publish, line, error, said):
    assert_refused(publish(line), error, said)


def test_own_data_stays_private_unless_it_is_to_be_published(publish, runs, tmp_path):
    own = suite_of(manifest_of(folder_of(tmp_path / "images", 3), tmp_path / "mine.parquet", "cj"), runs)
    suite, [task] = own.suite, own.tasks
    results.store(runs, task.key, catalog=extended(results.shipped(), [own])[0])
    target = tmp_path / "x"
    made = done(publish(f"--model {REPO} --to {target}"))
    assert "--own" in made.output
    written = b"".join(path.read_bytes() for path in target.rglob("*") if path.is_file())
    private = (task.title, task.key, task.revision, suite.title, suite.key)
    assert not [text for text in private if text.encode() in written or model_card.cell(text).encode() in written]
    refused = publish(f"--model {REPO} --to {tmp_path}/y --suite {suite.key}")
    assert_refused(refused, BadInput, "own data", "--own")
