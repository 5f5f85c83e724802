"""Static files: which folders are served, under which address, and that the address follows their content."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard.web import static


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(routes=static.routes())) as found:
        yield found


@pytest.mark.parametrize(
    "component, name", [("js", "dom.js"), ("pages/try_it/tray", "tray.js"), ("pages/try_it", "try.css")]
)
def test_a_component_s_file_is_served_for_ever(client, component, name):
    answer = client.get(f"/{static.address()}{component}/{name}", headers={"accept-encoding": "br"})
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "br" and "immutable" in answer.headers["cache-control"]
    assert answer.content == (static.COMPONENTS[component] / name).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "face/fonts/LICENSE.txt",
        "pages/try_it/page.py",
        "js/nothing.js",
        f"js/{'a' * 300}.js",
        "js/..%2fpages%2fboard%2fboard.js",
    ],
)
def test_nothing_else_is_served(client, path):
    assert client.get(f"/static/{static.version()}/{path}").status_code == 404


def test_a_changed_file_of_any_component_gives_all_a_new_address(tmp_path, monkeypatch):
    for name in ("board", "compare"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.js").write_text("1")
    monkeypatch.setattr(static, "COMPONENTS", {name: tmp_path / name for name in ("board", "compare")})
    before = static.address()
    (tmp_path / "compare" / "page.py").write_text("not served")
    assert static.address() == before
    (tmp_path / "compare" / "a.js").write_text("2")
    assert static.address() != before


def test_plotly_runs_after_what_came_with_the_figure_is_painted(client):
    (path,) = static.GRADIO.glob(static.FIGURES)
    first = client.get(f"/assets/{path.name}")
    assert len(first.content) < 1000 and f"import('./{path.name}?{static.WHOLE}')" in first.text
    assert "no-cache" in first.headers["cache-control"] and first.headers["etag"], "it can be corrected"
    for query in (static.WHOLE, f"{static.WHOLE}=", f"{static.WHOLE}&via=proxy"):
        assert client.get(f"/assets/{path.name}?{query}").content == path.read_bytes()
