"""Code that comes with a checkpoint is neither run nor asked about, but for a catalogue row that says so."""

import ast
import json

import pytest
import transformers

from compute.models.files import pretrained
from compute.paths import ROOT
from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.own.small_objects import wrapped
from tests.compute.tasks.files import put


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A CLIP whose preprocessing and tokenizer are classes of its own; a question on the terminal fails the test."""
    monkeypatch.setattr("builtins.input", lambda *text: pytest.fail("a question on the terminal"))
    folder = checkpoints.clip(tmp_path / "model")
    for name, kind in (("preprocessor_config.json", "AutoImageProcessor"), ("tokenizer_config.json", "AutoTokenizer")):
        config = json.loads((folder / name).read_text())
        for known in ("image_processor_type", "tokenizer_class", "processor_class"):
            if known in config:
                config[known] = "Unheard"
        config["auto_map"] = {kind: ["code.Unheard", None] if kind == "AutoTokenizer" else "code.Unheard"}
        put(folder, {name: config, "code.py": "raise SystemExit('remote code was run')"})
    return folder


def test_a_tokenizer_with_code_is_refused_without_a_question(folder):
    put(folder, {"config.json": {"model_type": "unheard"}})  # no class of the library
    with pytest.raises(BadInput, match="custom code"):
        pretrained.loaded(checkpoints.row(folder, "clip"), "AutoTokenizer", folder=folder)


def test_a_model_in_memory_whose_checkpoint_has_code_is_refused_without_a_question(folder):
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    with pytest.raises(BadInput, match="custom code"):
        wrapped(model)


def test_every_loader_that_may_run_code_is_told_whether_it_may():
    """The library's `Auto` classes and sentence_transformers' ask where nobody tells them."""
    silent = []
    for path in sorted((ROOT / "compute").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func)
            loads = name.endswith((".from_pretrained", ".from_config")) and "Auto" in name
            told = any(word.arg in ("trust_remote_code", None) for word in call.keywords)
            if (loads or name.endswith(("SentenceTransformer", "CrossEncoder"))) and not told:
                silent.append(f"{path.name}:{call.lineno} {name}")
    assert not silent


def test_no_file_runs_a_file_that_is_named():
    """So no command, record, route or visitor can name one."""
    runs = {"exec_module", "exec", "run_path", "run_module"}
    calls = (
        (path, node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        for package in ("compute", "leaderboard", "likeness")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    )
    assert not [str(path) for path, name in calls if name in runs]
