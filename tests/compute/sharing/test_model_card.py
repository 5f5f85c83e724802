"""The section of a model's card: the figures as they are, inserted once, without harm to any other text."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCard
from PIL import Image

from compute.analysis.suite import SuiteScores
from compute.catalog import shipped
from compute.metrics import METRICS
from compute.sharing import computed_runs, interval_picture, model_card
from compute.sharing.interval_picture import Bar
from compute.sharing.standing import standing
from compute.types import BadInput, Score, Suite
from tests.compute.sharing import results

BY_KEY = {metric.key: metric for metric in METRICS}
SECTION = f"{model_card.BEGIN}\nnew\n{model_card.END}\n"
OTHER = "---\nlicense: mit\n---\n\n# Mine\n\nText with é, *marks* and <b>HTML</b>.\n"


def shared(root: Path, *, synthetic: bool = False) -> computed_runs.SharedRuns:
    catalog = shipped()
    return computed_runs.gather(catalog.model(results.MODEL), roots=(root,), catalog=catalog, synthetic=synthetic)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_inserting_keeps_all_other_text_and_is_done_once(ending: str) -> None:
    other = OTHER.replace("\n", ending)
    once = model_card.insert(other, SECTION)
    assert once == other + ending + SECTION.replace("\n", ending)
    assert model_card.insert(once, SECTION) == once
    more = once + ending + "## After" + ending
    newer = model_card.insert(more, SECTION.replace("new", "newer"))
    assert newer == more.replace(f"{ending}new{ending}", f"{ending}newer{ending}")


@pytest.mark.parametrize("other", ["", "no end of line", "two ends\n\n", "\n"])
def test_inserting_into_short_cards(other: str) -> None:
    once = model_card.insert(other, SECTION)
    assert model_card.insert(once, SECTION) == once and once.startswith(other.strip()) and once.endswith(SECTION)


@pytest.mark.parametrize(
    "card",
    [
        model_card.BEGIN,
        model_card.END,
        f"{model_card.END}{model_card.BEGIN}",
        f"{model_card.BEGIN}{model_card.BEGIN}{model_card.END}",
    ],
)
def test_damaged_marks_are_refused(card: str) -> None:
    with pytest.raises(BadInput, match="one pair in this order"):
        model_card.insert(card, SECTION)


def test_the_section_has_the_runs_figures_and_the_hub_reads_the_card(tmp_path: Path) -> None:
    score = Score(run="", subset="default", metric="accuracy", value=0.8254, n=1824, stderr=0.0089)
    results.store(tmp_path, "unisim/nights", scores=[score])
    section = model_card.section(shared(tmp_path), standings=[], metrics=BY_KEY, about="", picture=True)
    assert "| NIGHTS | Accuracy, % | 82.5 | 80.8 to 84.3 | 50.0 | 1,824 |" in section
    assert (
        f"![Scores by task with 95% intervals; the table below has the same figures]({model_card.PICTURE})" in section
    )
    assert "Computed on 2026-05-04." in section and "Weights 3d74acf9a28c; numbers float32; device cpu" in section
    (tmp_path / "README.md").write_text(model_card.insert(OTHER, section))
    card = ModelCard.load(tmp_path / "README.md")
    assert card.data.license == "mit" and card.data.to_dict() == {"license": "mit"} and "NIGHTS" in card.text


def test_names_cannot_break_a_table() -> None:
    assert model_card.cell("a|b\n<script>*x* `y` [z](w) #1 &") == (r"a\|b &lt;script&gt;\*x\* \`y\` \[z\](w) \#1 &amp;")


def test_synthetic_runs_are_marked_in_table_and_picture(tmp_path: Path) -> None:
    results.store(tmp_path, "mini/image-choice")
    runs = shared(tmp_path, synthetic=True)
    section = model_card.section(runs, standings=[], metrics=BY_KEY, about="", picture=False)
    assert "synthetic: a program drew the items" in section and "![" not in section
    assert [bar.name for bar in model_card.bars(runs.runs, metrics=BY_KEY)] == ["Nearest image (synthetic)"]


def suite_scores(values: np.ndarray, tasks: tuple[str, ...]) -> SuiteScores:
    models, columns = values.shape
    return SuiteScores(
        suite="s",
        aggregate="task-mean",
        models=tuple(f"m{row}" for row in range(models)),
        origins=("published",) * models,
        tasks=tasks,
        titles=tasks,
        categories=("all",),
        codes=np.zeros(columns, np.int64),
        higher=np.ones(columns, bool),
        values=values,
        printed=np.full((models, 1), np.nan),
        hours=np.full(columns, np.nan),
    )


SUITE = Suite(key="s", title="S", benchmark="unisim", aggregate="task-mean", description="")


def test_a_rank_counts_the_published_rows_that_have_a_mean(tmp_path: Path) -> None:
    tasks = ("unisim/nights", "unisim/bapps", "unisim/cd-coco")
    for key, value in zip(tasks, (0.7, 0.8, 0.9), strict=True):
        score = Score(run="", subset="default", metric="accuracy", value=value, n=100, stderr=0.01)
        results.store(tmp_path, key, scores=[score])
    better, worse, part = [0.9, 0.95, 0.99], [0.1, 0.2, 0.3], [0.99, np.nan, 0.99]
    published = suite_scores(np.array([better, worse, part]), tasks)
    place = standing(SUITE, published=published, runs=shared(tmp_path).runs, metrics=BY_KEY)
    assert (place.done, place.tasks, place.rank, place.rows) == (3, 3, 2, 2)
    assert place.mean == pytest.approx(0.8) and place.rank_interval[0] <= 2 <= place.rank_interval[1]
    [low, high] = place.interval
    assert low < 0.8 < high
    section = model_card.section(shared(tmp_path), standings=[place], metrics=BY_KEY, about="", picture=False)
    first, last = place.rank_interval
    assert f"| S | 3 of 3 | 80.0% | {100 * low:.1f} to {100 * high:.1f} | 2 ({first} to {last}) of 3 |" in section


def test_a_part_of_a_suite_has_no_mean_and_own_data_no_rank(tmp_path: Path) -> None:
    results.store(tmp_path, "unisim/nights")
    runs = shared(tmp_path).runs
    published = suite_scores(np.array([[0.9, 0.8]]), ("unisim/nights", "unisim/bapps"))
    part = standing(SUITE, published=published, runs=runs, metrics=BY_KEY)
    assert (part.mean, part.rank, part.done) == (None, None, 1) and "1 of 2 tasks" in part.reason
    own = Suite(key="s", title="S", benchmark="own", aggregate="task-mean", description="")
    alone = standing(own, published=suite_scores(np.array([[0.9]]), ("unisim/nights",)), runs=runs, metrics=BY_KEY)
    assert alone.mean is not None and alone.rank is None and alone.rows == 0


def test_the_picture_is_small_the_same_again_and_readable_on_dark_pages() -> None:
    bars = [Bar(name=f"Task {row}", value=row % 100, low=max(0, row % 100 - 5), high=row % 100) for row in range(200)]
    content = interval_picture.draw(bars, title="Model")
    assert content == interval_picture.draw(bars, title="Model") and len(content) < 150_000
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "PNG" and picture.width == interval_picture.WIDTH * interval_picture.SCALE
        pixels = np.asarray(picture.convert("RGBA"))
    assert pixels[..., 3].min() == 255  # its own light ground, whatever the page's
    assert pixels[0, 0, :3].min() > 240 and pixels[..., :3].min() < 60


def test_a_bar_stands_where_its_value_is() -> None:
    """Columns of the accent colour: the dot of 75% right of the middle, that of 25% left of it, both on the axis."""
    accent = np.array([0x1C, 0x6E, 0x57])

    def middle(value: float) -> float:
        with Image.open(io.BytesIO(interval_picture.draw([Bar(name="x", value=value)], title=""))) as picture:
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        return float(np.nonzero((np.abs(pixels - accent).sum(axis=2) < 40).any(axis=0))[0].mean())

    left, right = middle(25), middle(75)
    assert middle(50) == pytest.approx((left + right) / 2, abs=1) and right > left
    assert middle(100) == pytest.approx(right + (right - left) / 2, abs=1)
