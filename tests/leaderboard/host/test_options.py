"""What the command line of the app asks for."""

import pytest

from leaderboard.host import options
from tests.serving import ended

VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that what a test sets is taken back


def test_without_options_gradio_decides():
    found = options.read([])
    assert found.launch == {"server_name": None, "server_port": None, "root_path": None}


def test_offline_holds_for_what_is_imported_later():
    """In a program of its own, for the hub's library reads its switch once; a request is refused before it is sent."""
    code = """if True:
        from leaderboard.host import options
        import sys
        assert "huggingface_hub" not in sys.modules
        options.read(["--offline"])
        from huggingface_hub import HfApi, constants
        assert constants.is_offline_mode()
        try:
            HfApi().repo_info("a/b")
        except Exception as error:
            print(type(error).__name__)
    """
    done = ended("-c", code)
    assert done.stdout.split() == ["OfflineModeIsEnabled"], done.stderr


def test_models_are_named_as_for_a_run(monkeypatch, capsys):
    monkeypatch.delenv("LIKENESS_DATA", raising=False)
    assert options.read([]).models == ()
    monkeypatch.setenv("LIKENESS_MODELS", " hub:org/name, ./mine,,")
    assert options.read([]).models == ("hub:org/name", "./mine")
    assert options.read(["--models", "./mine", "--models", " tiny@0123456, ./mine,"]).models == (
        "./mine",
        "tiny@0123456",
    )
    monkeypatch.setenv("LIKENESS_MODELS", " , ")
    assert options.read([]).models == ()
    for named, said in ((" , ", "no model is named"), ("./mine", "unset LIKENESS_DATA")):
        with pytest.raises(SystemExit):
            options.read(["--models", named])
        assert said in capsys.readouterr().err
        monkeypatch.setenv("LIKENESS_DATA", "user/data")


def test_who_is_admitted_follows_from_where_it_listens(monkeypatch):
    for name in ("LIKENESS_HOSTS", "LIKENESS_FRAME_HOSTS", "GRADIO_SERVER_NAME", "GRADIO_ROOT_PATH", "SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    assert "localhost" in options.read([]).access.hosts
    assert options.read(["--host", "0.0.0.0"]).access.hosts is None
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    assert options.read([]).access.hosts is None
    monkeypatch.setenv("LIKENESS_HOSTS", "board.example")
    monkeypatch.setenv("LIKENESS_FRAME_HOSTS", "https://a.example")
    admitted = options.read([]).access
    assert "board.example" in admitted.hosts and admitted.frame_hosts == ("https://a.example",)
