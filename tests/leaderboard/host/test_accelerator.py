"""The GPU that a ZeroGPU Space lends is asked for where the package `spaces` is, and nowhere else."""

import pickle
import subprocess
import sys
from functools import partial
from types import ModuleType

import gradio as gr
import pytest

from compute.catalog import shipped
from compute.live import examples
from compute.live.pool import borrows_gpu
from compute.live.roster import DEFAULT
from compute.types import BadItem, CannotDo, LikenessError, NotHere, UnknownKey
from leaderboard.host import accelerator
from leaderboard.live.live import Live, _seconds
from tests.serving import ROOT


class Spaces(ModuleType):
    """Stands in for the package, with the signature of its version 0.51; `lent` lists what was run with which time.

    As there, all that goes in and out is pickled, and an error is named by its class only.
    """

    def __init__(self):
        super().__init__("spaces")
        self.lent = []

    def GPU(self, task=None, *, duration=None, size=None):  # noqa: N802
        if task is None:
            return partial(self.GPU, duration=duration)

        def run(*given, **named):
            self.lent.append((task.__name__, duration(*given, **named) if callable(duration) else duration))
            given, named = pickle.loads(pickle.dumps((given, named)))
            try:
                return pickle.loads(pickle.dumps(task(*given, **named)))
            except Exception as error:
                raise RuntimeError(type(error).__name__) from error

        return run


@pytest.fixture
def spaces(monkeypatch):
    found = Spaces()
    monkeypatch.setitem(sys.modules, "spaces", found)
    return found


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.setitem(sys.modules, "spaces", None)  # Python's own way to say that it cannot be imported
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)


def judge(images, *, models=1):
    return len(images) * models


def test_a_gpu_is_borrowed_for_the_time_that_was_asked_for(spaces):
    assert accelerator.claim() is spaces
    longer = accelerator.on_gpu(judge, seconds=lambda images, *, models=1: 5 * len(images) * models)
    assert longer(["a", "b"], models=2) == 4
    assert spaces.lent == [("judge", 20)]


@pytest.mark.parametrize(
    "error, kind",
    [
        (CannotDo("It takes no text"), CannotDo),
        (UnknownKey("model", "clp", ["clip"]), LikenessError),
        (BadItem("a.png", "blank"), LikenessError),
    ],
)
def test_what_a_visitor_can_mend_arrives_in_words(spaces, error, kind):
    def fail():
        raise error

    with pytest.raises(LikenessError) as told:
        accelerator.on_gpu(fail, seconds=lambda: 1)()
    assert type(told.value) is kind and str(told.value) == str(error)


def test_an_error_of_the_program_stays_one(spaces):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        accelerator.on_gpu(lambda: 1 / 0, seconds=lambda: 1)()


@pytest.mark.parametrize(
    "title, message, said",
    [
        ("ZeroGPU quota exceeded", "60s requested vs. 5s left. Try again in 3:12:05. ", "Try again in 3:12:05. Models"),
        ("ZeroGPU quota exceeded", "Space app has reached its GPU limit.", "limit. Try again later. Models"),
        ("ZeroGPU worker error", "GPU task aborted", "aborted"),
        ("ZeroGPU worker error", "ZeroDivisionError", ""),
    ],
)
def test_a_refusal_says_why_and_when_to_try_again(spaces, monkeypatch, title, message, said):
    def refuse(*_, **__):
        raise gr.Error(message, title=title)

    monkeypatch.setattr(spaces, "GPU", lambda **_: lambda task: refuse)
    with pytest.raises(NotHere if said else gr.Error) as told:
        accelerator.on_gpu(judge, seconds=lambda *_: 1)(["a"])
    assert said in str(told.value)


@pytest.mark.parametrize(
    "key, borrows", [("ssim", False), ("tiny", False), (DEFAULT, False), ("openai/clip-vit-large-patch14", True)]
)
def test_only_large_models_borrow_a_gpu(spaces, monkeypatch, key, borrows):
    live, row = Live(), shipped().model(key)
    assert not borrows_gpu(row)
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    pair = [examples.load(name) for name in ("cat", "cat-face")]
    monkeypatch.setattr(live, "_borrowed", lambda *given: ("borrowed", _seconds(*given)))
    monkeypatch.setattr(live.pool, "run", lambda *given: ("here", 0))
    assert live.run(row, pair, {}, None) == (("borrowed", 16) if borrows else ("here", 0))


def test_without_the_package_it_is_the_function_itself(nowhere):
    assert accelerator.claim() is None
    assert accelerator.on_gpu(judge, seconds=len) is judge


def test_a_space_that_lends_gpus_does_not_run_without(nowhere, monkeypatch):
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    with pytest.raises(ImportError):
        accelerator.on_gpu(judge, seconds=len)


def test_the_app_imports_it_before_torch_and_gradio(tmp_path):
    """The package replaces parts of torch and refuses a Gradio that is half imported; here it says what came before."""
    (tmp_path / "spaces.py").write_text(
        "import sys\nprint(*(name for name in ('torch', 'gradio', 'transformers') if name in sys.modules), 'first')\n"
        "sys.exit()\n"
    )
    ended = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "", "PYTHONPATH": str(tmp_path)},
    )
    assert (ended.returncode, ended.stdout.splitlines()[1:]) == (0, ["first"]), ended.stderr
