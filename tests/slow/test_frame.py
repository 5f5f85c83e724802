"""The real iframe-resizer, with its default options, around every page: the Hub sizes the frame of a Space by it."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.pages import VIEWS
from tests.browser.conftest import CONTENT, app_database, browser, contexts, framed, serving, visit  # noqa: F401

PACKAGE = "iframe-resizer@4.3.9"


@pytest.fixture(scope="module")
def sizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("npm")
    if not shutil.which("npm"):
        pytest.skip(f"npm is not installed, and {PACKAGE} comes from its registry")
    packed = subprocess.run(["npm", "pack", PACKAGE], cwd=folder, capture_output=True, text=True, timeout=120)
    if packed.returncode:
        pytest.skip(f"{PACKAGE} could not be downloaded: {packed.stderr[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        script = archive.extractfile("package/js/iframeResizer.js").read().decode()
    return f"{script}\niFrameResize({{}}, '#f');"


@pytest.fixture(scope="module")
def site(app_database: Path) -> str:  # noqa: F811
    with serving(app_database, environment={"LIKENESS_FRAME_HOSTS": "http://127.0.0.1:*"}) as address:
        yield address


@pytest.mark.parametrize("key", [*(view.key for view in VIEWS), "docs/hosting"])
def test_the_frame_settles_at_the_height_of_the_page(visit: Callable, site: str, sizer: str, key: str) -> None:  # noqa: F811
    ready = "article" if key.startswith("docs/") else "footer"
    height, frame = framed(visit, site + key, ready=ready, sizer=sizer)
    assert frame.evaluate(CONTENT) == pytest.approx(height, rel=0.05, abs=64)
