"""The answers as markup: what is said, and that nothing a visitor writes becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from compute.analysis.domain import Calibrations, DomainCheck
from compute.live import inputs
from compute.live.fetching import DownloadProgress
from compute.live.questions import Answer, LiveQuestion
from leaderboard.data.related_figures import related_figures
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import render
from leaderboard.live.live import OUT_OF_TIME
from leaderboard.pages.try_it import answers as page
from tests.compute.live.test_questions import asked, checked, reference, row

CLIP = "laion/clip-vit-b-32-laion2b-s34b-b79k"
PAIR = asked("pair", "cat", "coffee")
CHOICE = asked("choice", "cat", "coffee", "rocket")


def found(question: LiveQuestion, *answers: Answer) -> list[Answer]:
    """Answers that say nothing of their domain are within it."""
    return [answer if answer.domain.why else checked(answer, question) for answer in answers]


def drawn(question: LiveQuestion, *answers: Answer, pending: tuple[str, ...] = (), records=None) -> str:
    return page.result(question, found(question, *answers), pending=pending, records=records or {})


def words(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def test_a_raw_score_never_stands_without_its_meaning() -> None:
    """Calibrated: in a tooltip that says so. Not calibrated: not at all."""
    markup = drawn(PAIR, Answer(row=row("m"), scores=(2.437,), unit="cosine"), Answer(row=row("n"), scores=(0.191,)))
    assert "2.437" not in words(markup) and "0.191" not in markup
    assert "Its raw cosine: 2.437, meaningful only relative to the bands" in markup
    assert "not calibrated its number alone means nothing" in words(markup)


def test_models_without_their_turn_are_named_with_what_to_do() -> None:
    late = [Answer(row=row(key), problem=OUT_OF_TIME) for key in ("n", "o")]
    answers = [Answer(row=row("m"), scores=(2.5,)), *late]
    sentence = "1 of 3 models had their turn, 2 did not (N, O). Press Compare again"
    text = words(drawn(PAIR, *answers))
    assert sentence in text and text.count("Not started: the models before it took over 5 minutes") == 2
    assert sentence not in words(drawn(PAIR, *answers[:2], pending=("O",))), "the others may still come"
    assert "The time for one question" not in words(drawn(PAIR, answers[0]))


def test_a_pair_reads_as_what_it_is_like() -> None:
    text = words(drawn(PAIR, Answer(row=row("m"), scores=(2.5,))))
    assert "The one model that can place it: like a matching pair ." in text
    assert "like a matching pair scores above 100% of its unrelated and 50% of its matching pairs" in text
    assert "synthetic : drawn by a program" in text


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((2.5, 2.6, 2.7), "All 3 models: like a matching pair."),
        (
            (1.5, 1.6, 0.5, 2.5, 1.4),
            "3 of 5 models: between the two; 1: like an unrelated pair; 1: like a matching pair.",
        ),
    ],
)
def test_the_headline_of_a_pair_counts_the_readings(scores: tuple[float, ...], said: str) -> None:
    answers = [Answer(row=row("m"), scores=(score,)) for score in scores]
    assert "".join(page.headline(PAIR, found(PAIR, *answers))) == said


OUTSIDE = DomainCheck(why="outside what this model was calibrated on: drawn scenes")
FEW = DomainCheck(
    reference=reference(scenes=14), few=True, why="calibrated on 14 photographs, and a percentile needs 40"
)


def test_outside_its_domain_a_pair_has_a_direction_and_says_so() -> None:
    outside = Answer(row=row("n"), scores=(0.9,), controls=(8, 8), domain=OUTSIDE)
    markup = drawn(PAIR, Answer(row=row("m"), scores=(2.5,)), outside)
    text = words(markup)
    assert "like a matching pair . For 1 model the input is outside what it was calibrated on." in text
    assert (
        "nearer than 8 of 8 unrelated examples; no percentile: outside what this model was calibrated on: drawn scenes"
        in text
    )
    assert markup.count('class="cp-strip"') == 1, "a single raw score has no axis"


def test_few_scenes_give_a_direction_beside_the_medians() -> None:
    text = words(drawn(PAIR, *[Answer(row=row("m"), scores=(score,), domain=FEW) for score in (2.2, 2.4, 0.3)]))
    assert "2 of 3 models: nearer to a matching pair ; 1: nearer to an unrelated pair." in text
    assert "These are directions: none has a percentile." in text
    assert (
        "nearer to a matching pair raw 2.2; the median of its unrelated pairs is 0.5, of its matching pairs 2.5; "
        "no percentile: calibrated on 14 photographs, and a percentile needs 40" in text
    )
    assert "percentile</span>" not in drawn(PAIR, Answer(row=row("m"), scores=(2.2,), domain=FEW))


def test_each_model_lists_the_domains_of_its_distributions() -> None:
    drawings = replace(reference(), domain="drawn", scenes=240)
    photographs = replace(reference(scenes=14), domain="photographs", source="photographs of scikit-image")
    own = Calibrations(references=(drawings, photographs))
    answer = Answer(row=row("m"), scores=(2.2,), domain=DomainCheck(reference=photographs, few=True, why="few"))
    text = words(page.result(PAIR, [answer], pending=(), records={}, calibrations=own))
    assert "drawn scenes: 500 unrelated and 500 matching pairs of 240 scenes, some/task" in text
    assert (
        "photographs: 500 unrelated and 500 matching pairs of 14 scenes, photographs of scikit-image: used here" in text
    )


@pytest.mark.parametrize(
    ("picks", "said"),
    [
        ((0, 1, 1), "2 of 3 models pick B as the nearest; 1 picks A."),
        ((0, 1), "The 2 models disagree: 1 picks A, 1 picks B."),
        ((1,), "The one model with a pick chooses B as the nearest."),
        ((0, 0, None), "Both models pick A as the nearest. 1 sees a tie or gives no readable answer."),
        ((None,), "No model picks an option: each sees a tie or gives no readable answer."),
    ],
)
def test_the_headline_says_how_many_agree(picks: tuple, said: str) -> None:
    scores = {0: (2.9, 0.5), 1: (0.5, 2.9), None: (1.0, 1.0)}
    answers = [Answer(row=row("m"), scores=scores[pick], pick=pick) for pick in picks]
    assert "".join(page.headline(CHOICE, found(CHOICE, *answers))) == said


def test_judges_show_both_orders() -> None:
    steady = Answer(row=row("n"), scores=(1.0, 0.0), pick=0, picks=(0, 0), unit="votes", replies=("(A)", "(B)"))
    torn = Answer(row=row("o"), scores=(0.5, 0.5), picks=(0, 1), unit="votes", replies=("(A)", "(A)"))
    text = words(drawn(CHOICE, steady, torn))
    assert "picks A in order and reversed: A, A" in text
    assert "undecided in order and reversed: A, B" in text
    rated = words(drawn(PAIR, Answer(row=row("n"), scores=(7.0,), replies=("8", "<i>6</i>"), unit="rating")))
    assert "7 of 10 both orders: 8 and &lt;i&gt;6&lt;/i&gt;" in rated


def test_figures_on_record_stand_beside(papers_cache: SuiteCache) -> None:
    (record, *_) = related_figures(papers_cache, models=[CLIP], mode="choice", kinds=["image"] * 3)[CLIP]
    record = replace(record, title="UniSim <Img>", value=83.9, low=80.0, high=87.0, rank=3, of=18)
    markup = drawn(CHOICE, Answer(row=row("m"), scores=(1.0, 2.0), pick=1), records={"m": [record]})
    assert "UniSim &lt;Img&gt; 83.9% rank 3 of 18" in words(markup)
    assert "95% 80.0 to 87.0%" in markup and "UniSim-Bench Table 2" in markup
    without = drawn(CHOICE, Answer(row=row("m"), scores=(1.0, 2.0), pick=1))
    assert "No published score for this kind of question" in words(without)


@pytest.mark.parametrize("mode", ["pair", "choice"])
def test_a_visitors_words_never_become_markup(mode: str) -> None:
    hostile = tuple(
        inputs.text(f"<img src=x onerror=alert({at})>", name="<b>x</b>") for at in range(2 if mode == "pair" else 3)
    )
    markup = drawn(LiveQuestion(mode=mode, inputs=hostile), Answer(row=row("m"), scores=(1.0, 2.0), pick=0))
    assert "<img" not in markup and "<b>x" not in markup


def download(**progress: object) -> str:
    return render("pages/try_it/download.html", title="M", progress=DownloadProgress(**progress))


def test_a_download_says_how_far_it_is() -> None:
    assert words(download(done=120_000_000, total=605_000_000)) == "Downloading M: 120 of 605 MB"
    assert words(download(done=120_000_000)) == "Downloading M: 120 MB"
    waits = download(behind="<b>Another</b>")
    assert "M is next: &lt;b&gt;Another&lt;/b&gt; is downloaded first" in waits


def test_an_odd_one_that_percentiles_do_not_bear_out_says_so() -> None:
    question = asked("odd", "cat", "coffee", "rocket", "astronaut")
    pairs = {(0, 1): 1.0, (0, 2): 1.0, (0, 3): 1.0, (1, 2): 3.0, (1, 3): 0.9, (2, 3): 0.9}
    scores = (1.6, 0.97, 0.97, 1.67)
    text = words(drawn(question, Answer(row=row("m"), scores=scores, pairs=pairs, pick=0)))
    assert "picks A by its raw scores; by percentiles another image differs most" in text


def test_a_lead_that_is_next_to_none_is_said() -> None:
    close = [Answer(row=row("m"), scores=(2.50, 2.51), pick=1), Answer(row=row("m"), scores=(0.5, 2.9), pick=1)]
    assert "".join(page.headline(CHOICE, found(CHOICE, *close))) == (
        "Both models pick B as the nearest. For 1 of them the best two are almost tied."
    )
    assert "picks B almost a tie: under 2 percentile points ahead" in words(drawn(CHOICE, close[0]))
