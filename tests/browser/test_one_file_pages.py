"""The pages that commands write as one file, opened from disk: nothing is loaded, and type is legible anywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compute.interface.pages import training as training_page
from compute.training.curves import TaskChange
from compute.training.run_folder import StepMeasurement
from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import HOSTILE


def change(key: str, title: str, *, core: bool, before: float, after: float, half: float) -> TaskChange:
    return TaskChange(
        key=key,
        title=title,
        side="core" if core else "ood",
        before=before,
        after=after,
        low=after - before - half,
        high=after - before + half,
    )


def training() -> str:
    """Made-up curves: core rises, out of distribution falls, and both end close together."""
    steps = range(0, 2001, 100)
    points = [
        StepMeasurement(step=at, core=0.55 + 0.2 * (at / 2000) ** 0.5, ood=0.84 - 0.08 * at / 2000, tasks={})
        for at in steps
    ]
    rows = [
        change("core", "Core", core=True, before=0.553, after=0.752, half=0.02),
        change("ood", "Out of distribution", core=False, before=0.841, after=0.760, half=0.03),
        change("mini/quality", f"Image quality {HOSTILE}", core=True, before=0.5, after=0.7, half=0.04),
    ]
    return training_page.page(title=f"tuned {HOSTILE}", lead=["Made up."], points=points, rows=rows, best=1500)


PAGES: dict[str, Callable[[], str]] = {"training": training}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_it_is_accessible_and_its_type_is_legible(
    browser: Any, tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    (tmp_path / "page.html").write_text(PAGES[name](), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    offences: list[str] = []
    page.on("pageerror", lambda error: offences.append(str(error)))
    page.on("console", lambda message: message.type == "error" and offences.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert grave_violations(page) == []
    sizes = page.eval_on_selector_all(
        ".plot text",
        """texts => texts.map((text) => {
            const scale = text.ownerSVGElement.getScreenCTM().a;
            return scale * parseFloat(getComputedStyle(text).fontSize);
        })""",
    )
    assert sizes and min(sizes) >= 9.5 and max(sizes) <= 16
    outside = page.eval_on_selector_all(
        ".plot text",
        """texts => texts.filter((text) => {
            const [box, plot] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
            return box.left < plot.left - 1 || box.right > plot.right + 1 || box.top < plot.top - 1
                || box.bottom > plot.bottom + 1;
        }).map((text) => text.textContent)""",
    )
    assert outside == [], "text is cut off by the drawing's edge"
    context.close()
    assert offences == []
