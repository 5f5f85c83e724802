"""The section of a model's card: the figures as they are, inserted once, without harm to any other text."""

import pytest
from huggingface_hub import ModelCard

from compute.analysis.ranking import Ranking
from compute.analysis.table import of_scores
from compute.catalog import shipped
from compute.cli.workspace import suite_scores
from compute.engine import run_folders
from compute.interface.standing import RankedModel
from compute.metrics import METRICS
from compute.sharing import model_card
from compute.types import BadInput
from tests.compute.sharing import results

BY_KEY = {metric.key: metric for metric in METRICS}
SECTION = f"{model_card.BEGIN}\nnew\n{model_card.END}\n"
OTHER = "---\nlicense: mit\n---\n\n# Mine\n\nText with é, *marks* and <b>HTML</b>.\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_inserting_keeps_all_other_text_and_is_done_once(ending):
    other = OTHER.replace("\n", ending)
    once = model_card.insert(other, SECTION)
    assert once == other + ending + SECTION.replace("\n", ending)
    assert model_card.insert(once, SECTION) == once
    more = once + ending + "## After" + ending
    newer = model_card.insert(more, SECTION.replace("new", "newer"))
    assert newer == more.replace(f"{ending}new{ending}", f"{ending}newer{ending}")


@pytest.mark.parametrize("other", ["", "no end of line", "two ends\n\n", "\n"])
def test_inserting_into_short_cards(other):
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
def test_damaged_marks_are_refused(card):
    with pytest.raises(BadInput, match="one pair in this order"):
        model_card.insert(card, SECTION)


def test_the_section_has_the_runs_figures_and_the_hub_reads_the_card(tmp_path):
    results.store(tmp_path, "unisim/nights", scores=[results.score(0.8254, n=1824, stderr=0.0089)])
    section = model_card.section(results.gathered(tmp_path), suites=[], metrics=BY_KEY, about="")
    assert "| NIGHTS | Accuracy, % | 82.5 | 80.8 to 84.3 | 50.0 | 1,824 |" in section
    assert "Computed on 2026-05-04." in section and "Weights 3d74acf9a28c; numbers float32; device cpu" in section
    (tmp_path / "README.md").write_text(model_card.insert(OTHER, section))
    card = ModelCard.load(tmp_path / "README.md")
    assert card.data.license == "mit" and card.data.to_dict() == {"license": "mit"} and "NIGHTS" in card.text


def test_names_cannot_break_a_table():
    assert model_card.cell("a|b\n<script>*x* `y` [z](w) #1 &") == (r"a\|b &lt;script&gt;\*x\* \`y\` \[z\](w) \#1 &amp;")


@pytest.fixture(scope="module")
def published(database):
    return suite_scores(database, suites=("unisim-core",), origin="published")


def test_a_whole_suite_has_a_mean_and_a_rank_in_the_card(published, tmp_path):
    catalog, scores = shipped(), {}
    for position, task in enumerate(task for task in catalog.tasks if "unisim-core" in task.suites):
        score = results.score(0.5 + position / 100, task.metrics[0], subset=task.subsets[0], stderr=0.01)
        scores[task.key] = run_folders.headline(results.store(tmp_path, task.key, scores=[score]))
    mine = of_scores(catalog.suite("unisim-core"), {results.MODEL: scores}, tasks=catalog.tasks, metrics=BY_KEY)
    model = RankedModel.first(Ranking.of(mine.beside(published[0])))
    runs = results.gathered(tmp_path)
    suites = model_card.suite_rows(runs, published=lambda keys: published, catalog=catalog)
    assert 0.5 < model.mean_low < model.mean < model.mean_high < 0.8 and model.tasks == model.of_tasks > 10
    assert 1 <= model.rank_low <= model.rank <= model.rank_high <= model.of
    section = model_card.section(runs, suites=suites, metrics=BY_KEY, about="")
    low, high = 100 * model.mean_low, 100 * model.mean_high
    expected = f"{model.rank} ({model.rank_low} to {model.rank_high}) of {model.of} |"
    assert f"of {model.of_tasks} | {100 * model.mean:.1f}% | {low:.1f} to {high:.1f} | {expected}" in section
    assert "others computed them" in section


def test_a_part_of_a_suite_has_no_mean_and_drawn_items_no_rank(published, tmp_path):
    def rows(folder, **given):
        runs = results.gathered(folder, **given)
        return model_card.suite_rows(runs, published=lambda keys: published[: len(keys)], catalog=shipped())

    results.store(tmp_path, "unisim/nights")
    [part] = rows(tmp_path)
    assert part["mean"] == "—" and not part["ranked"] and part["tasks"].startswith("1 of ")
    section = model_card.section(results.gathered(tmp_path), suites=[part], metrics=BY_KEY, about="")
    assert "| — | — | no mean: " in section and "others computed them" not in section
    results.store(tmp_path / "drawn", "mini/image-choice")
    drawn = next(row for row in rows(tmp_path / "drawn", synthetic=True) if row["title"].startswith("Mini"))
    assert not drawn["ranked"] and "synthetic" in drawn["title"]
