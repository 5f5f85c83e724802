"""The pages that commands write as one file, opened from disk: nothing is loaded, and type is legible anywhere."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import compute
from compute.interface.train import page
from compute.training.evaluation import TaskChange
from compute.training.run_folder import StepMeasurement
from tests.browser.conftest import Watch, unharmed, violations
from tests.compute.interface.test_shown import trained
from tests.leaderboard.served import HOSTILE

MODELS = 30
PLOTS = """() => [...document.querySelectorAll('.plot text')].filter((text) => {
  const [box, plot] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
  const size = text.ownerSVGElement.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize);
  return size < 9.5 || size > 16 || box.left < plot.left - 1 || box.right > plot.right + 1 || box.top < plot.top - 1
    || box.bottom > plot.bottom + 1;
}).map((text) => text.textContent)"""


def ranking(path):
    """Thirty models, one of them hostile and one without a score on a task; two categories."""
    values = 0.4 + 0.01 * np.arange(MODELS)[:, None] + 0.03 * np.random.default_rng(4).normal(size=(MODELS, 14))
    tasks = [
        "a-task-with-a-name-that-has-no-place-to-break-however-narrow-it-is",
        HOSTILE,
        *(f"task {i}" for i in range(12)),
    ]
    frame = pd.DataFrame(values, columns=tasks)
    frame.insert(0, "model", [HOSTILE if at == 4 else f"model {at}" for at in range(MODELS)])
    frame.loc[7, "task 3"] = None
    ranked = compute.rank(frame, categories={"First": tasks[:6], "Second": tasks[6:]})
    ranked.save_html(path, title=f"Mine {HOSTILE}")


def training(path):
    """Made-up curves: core rises, out of distribution falls, and both end close together."""
    steps = range(0, 2001, 100)
    points = [
        StepMeasurement(step=at, core=0.55 + 0.2 * (at / 2000) ** 0.5, ood=0.84 - 0.08 * at / 2000, tasks={})
        for at in steps
    ]
    changes = {("core", "Core"): 0.2, ("ood", "Out of distribution"): -0.08, ("core", f"Quality {HOSTILE}"): 0.2}
    rows = [
        TaskChange(key=title, title=title, side=side, before=0.5, after=0.5 + by, low=by - 0.03, high=by + 0.03)
        for (side, title), by in changes.items()
    ]
    result = replace(trained(), steps=2000, best=1500, measurements=points, changes=rows)
    path.write_text(page("Base", f"tuned {HOSTILE}", result))


@pytest.fixture
def from_disk(browser, tmp_path):
    """Writes a page and opens it; fails at the end on a request for anything else, or an error."""
    contexts, watches = [], []

    def opened(write, *, expected=""):
        write(tmp_path / "page.html")
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light"))
        page = contexts[-1].new_page()
        watches.append(Watch(page, host="", expected=expected))
        page.goto((tmp_path / "page.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [offence for watch in watches for offence in watch.offences] == []


@pytest.mark.parametrize("write", [ranking, training])
def test_it_can_be_read_by_all(from_disk, write):
    page = from_disk(write)
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == [] and page.evaluate(PLOTS) == [], (width, scheme)
    assert HOSTILE in page.get_by_role("heading", level=1).inner_text()
    assert unharmed(page, "img")


def column(page, heading):
    """The texts of a column from top to bottom."""
    return page.evaluate(
        """(heading) => {
            const table = document.querySelector('table');
            const at = [...table.tHead.rows[0].cells].findIndex(
                (cell) => cell.querySelector('button').textContent === heading);
            return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
        }""",
        heading,
    )


def test_a_ranking_sorts_by_its_headings_and_runs_no_other_script(from_disk):
    page = from_disk(ranking, expected="Content Security Policy")
    assert column(page, "Rank") == [*(str(rank) for rank in range(1, MODELS)), "–"]
    head = page.get_by_role("button", name="task 3", exact=True)
    for reverse in (True, False):
        head.press("Enter")
        values = column(page, "task 3")
        numbers = list(map(float, values[:-1]))
        assert values[-1] == "–" and numbers == sorted(numbers, reverse=reverse)
    page.get_by_role("button", name="Class", exact=True).click()
    classes = column(page, "Class")[:-1]
    assert classes == sorted(classes, key=lambda letter: (len(letter), letter)) and len(set(classes)) > 2
    page.evaluate("""() => {
      const script = document.createElement('script');
      script.textContent = 'window.harmed = 1';
      try { document.body.append(script); } catch { /* refused */ }
    }""")
    assert page.evaluate("window.harmed") is None
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_text("Scroll the table sideways for more columns.").wait_for()
    page.get_by_role("region", name="Ranking").evaluate("node => { node.scrollLeft = 600; }")
    box = page.locator("tbody th").first.bounding_box()
    assert 0 <= box["x"] < 60 and box["width"] < 200, "the model stays beside the scores"
