"""A model of the host's own on the Try page: ticked and marked, it answers, and its page leads back to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.conftest import serving
from tests.browser.test_compare import DONE, READY, SLOW
from tests.compute.models import checkpoints


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app of its own, in place of the one that other tests share; it builds its database with the model."""
    folder = tmp_path_factory.mktemp("own models")
    model = checkpoints.clip(folder / "my model")
    with serving(
        folder / "likeness.duckdb", "--models", str(model), "--offline", results=folder / "results"
    ) as address:
        yield address


def test_an_own_model_is_tried_beside_the_others(visit: Callable[..., Any]) -> None:
    page = visit("compare", ready=READY)
    pick = page.locator(".tr-models .tr-pick").first
    assert pick.inner_text().strip() == "my model (own)" and pick.locator("input").is_checked()
    assert "the host’s own model" in pick.get_attribute("title")

    page.goto(page.url.partition("compare")[0] + "compare?mode=pair&inputs=cat,cat-face&models=own/my-model,ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    row = page.locator(".cp-row[data-model='own/my-model']")
    assert "my model (own)" in row.inner_text() and "the host's own model" in row.inner_text()
    assert "of 8" in row.inner_text() and "no percentile: it is not calibrated" in row.inner_text()
    assert page.locator(".cp-row").count() == 2 and "own models" not in page.content()

    row.locator("a").first.click()
    page.get_by_text("Try it on your own images and texts").wait_for()
    assert "own models" not in page.content(), "no folder of the machine"
