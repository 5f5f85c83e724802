"""The Try page's answers: a headline, one line per model, and details of each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from compute.analysis.calibrated import (
    BETWEEN,
    EITHER,
    LESS,
    MATCHING,
    MORE,
    TAIL,
    UNRELATED,
    USUAL,
    Calibrations,
    described,
    place,
)
from compute.catalog.own import models as own_models
from compute.live.questions import Answer, LiveQuestion, medians
from compute.types import LETTERS
from leaderboard.html.formatting import number, percent
from leaderboard.html.templates import render
from leaderboard.live.live import OUT_OF_TIME

MIDDLE = (TAIL, 1 - TAIL)
EDGE = 0.06  # of an axis of raw scores, before its lowest and after its highest
LETTER = 7.0  # of the axis: the width of a letter and its gap where the axis is narrowest
SIMILAR, DIFFERENT, UNSURE = "similar", "not similar", "cannot tell"
PICKS, UNDECIDED = "picks ", "undecided"
VERDICTS = {
    MATCHING: SIMILAR,
    UNRELATED: DIFFERENT,
    EITHER: UNSURE,
    BETWEEN: UNSURE,
    MORE: "above usual",
    LESS: "below usual",
    USUAL: "usual",
}
ROLES = {"choice": "the nearest", "odd": "the odd one out"}
BEST = {  # of single images
    "quality": "the best quality",
    "brightness": "the brightest",
    "colorfulness": "the most colourful",
    "contrast": "the highest in contrast",
    "sharpness": "the sharpest",
}
PAIRS = {"image-image": "pairs of images", "image-text": "images with texts", "text-text": "pairs of texts"}
CLOSE = 2.0  # percentile points: a smaller lead is negligible
DRAWINGS = "drawn-scenes-training"  # models that are trained on nothing else understand nothing else
UNCALIBRATED = "it is not calibrated"
Headline = tuple[str, str, str]  # the sentence: before its bold part, that part, and after it


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One option at `at`, 0 to 100 along the axis; its letter, empty for a single one, is at `label_at`."""

    at: float
    label: str
    label_at: float
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One axis of percentiles or of raw scores. `bands` are the middle 95% of a distribution: kind, start and width."""

    bands: tuple[tuple[str, float, float], ...]
    marks: tuple[Mark, ...]
    values: tuple[str, ...]  # one per option, as numbers to read
    unit: str
    label: str  # for screen readers


def strip(answer: Answer) -> Strip | None:
    """Returns the axis of an answer: percentiles if a distribution provides them, else raw scores.

    None for a single raw score without any distribution, and for judges.
    """
    if answer.unit in ("rating", "votes") or answer.problem:
        return None
    known = answer.reference or answer.few
    limits = [np.quantile(side, MIDDLE) for side in (known.unrelated, known.matching) if len(side)] if known else []
    if answer.percentiles:
        at, values = list(answer.percentiles), [number(each, digits=0) for each in answer.percentiles]
        limits = [[place(known, float(limit)).percentile for limit in side] for side in limits]
        unit = "percentile"
    else:
        scores = raw(answer)
        every = np.concatenate([np.asarray(scores, dtype=float), *limits])
        low, high = float(every.min()), float(every.max())
        if not np.isfinite(every).all() or low == high:
            return None
        low, high = low - EDGE * (high - low), high + EDGE * (high - low)
        at, *limits = [[100 * (value - low) / (high - low) for value in side] for side in (scores, *limits)]
        values, unit = [f"{score:.3g}".replace("-", "−") for score in scores], measure(answer)
    kinds = ("alone",) if known and known.alone else ("unrelated", "matching")
    several = len(values) > 1
    named = ", ".join(f"{LETTERS[option]} {value}" for option, value in enumerate(values)) if several else values[0]
    return Strip(
        bands=tuple((kind, low, high - low) for kind, (low, high) in zip(kinds, limits, strict=False)),
        marks=tuple(
            Mark(
                at=at[option],
                label=LETTERS[option] if several else "",
                label_at=label_at,
                chosen=option == answer.pick or not several,
            )
            for option, label_at in enumerate(spread(at, width=LETTER))
        ),
        values=tuple(values),
        unit=unit,
        label=f"{unit.capitalize()} {named}",
    )


def raw(answer: Answer) -> tuple[float, ...]:
    """Returns the raw scores of the options. For odd one out, these are mean similarities to the others, as for
    percentiles, so that the odd one is lowest; the answer's own scores are similarities among the others.
    """
    scores, pairs = answer.scores, answer.pairs
    if not pairs:
        return scores
    return tuple(
        float(np.mean([score for pair, score in pairs.items() if option in pair])) for option in range(len(scores))
    )


def measure(answer: Answer) -> str:
    """Returns what a raw score is."""
    return "cosine" if answer.unit == "cosine" else "score"


def spread(values: Sequence[float], *, width: float) -> list[float]:
    """Returns centres for labels of equal width, in the order of the values, without overlap and within [low, high].

    The smallest sum of squared shifts: isotonic regression of the values less the width of the labels before them.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(values, kind="stable")
    room = width * np.arange(len(values))
    free = isotonic_regression(np.asarray(values)[order] - room).x
    centres = np.empty(len(values))
    centres[order] = np.clip(free, width / 2, 100 - width / 2 - room[-1]) + room
    return centres.tolist()


def result(
    question: LiveQuestion,
    answers: Sequence[Answer],
    *,
    asked: int,
    pending: Sequence[str],
    calibrations: Calibrations = Calibrations(),  # noqa: B008 (frozen)
) -> Markup:
    """Returns all answers to a page's question number `asked`. `pending` are titles of models still at work.

    Details list the domains of `calibrations`.
    """
    rows = [_row(question, each, calibrations.of(each.row.key, question.pairing)) for each in answers]
    loading = ("Loading the models; the first answer takes some seconds.", "", "")
    return render(
        "pages/try_it/answers.html",
        mode=question.mode,
        kinds=question.kinds,
        attribute=question.attribute,
        asked=asked,
        headline=headline(question, answers) if answers else loading,
        bands={kind for row in rows if row.get("strip") for kind, *_ in row["strip"].bands},
        rows=rows,
        why=reasons(answers),
        pending=pending,
        late=[] if pending else [each.row.title for each in answers if each.problem == OUT_OF_TIME],
        pairs=PAIRS.get(question.pairing),
        UNSURE=UNSURE,
        uncalibrated=any(_reason(each) == UNCALIBRATED for each in answers),
    )


def headline(question: LiveQuestion, answers: Sequence[Answer]) -> Headline:
    """Returns the answer in one sentence: what most models say, and how many of them."""
    able = [each for each in answers if not each.problem]
    if not able:
        return "None of these models could answer; the reasons are below.", "", ""
    is_alone = question.mode == "pair" or len(question.inputs) == 1
    rated = [each for each in able if is_alone and each.unit == "rating"]
    judges = f" {len(rated)} judge{'' if len(rated) == 1 else 's'} rated this pair from 1 to 10." if rated else ""
    word, undecided = (pair_verdict, UNSURE) if is_alone else (pick_of, UNDECIDED)
    votes = [word(each) for each in able if each not in rated]
    if not votes:
        return judges.strip(), "", ""
    counts = Counter(votes)
    unsure = counts.pop(undecided, 0)
    if not counts and not is_alone:
        return "No model picks an option: each sees a tie or gives no readable answer.", "", ""
    if not counts:
        who = "The model cannot" if len(votes) == 1 else f"None of the {len(votes)} models can"
        return f"{who} tell.{judges}", "", ""
    (leader, most), *others = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = [_counted(*each) for each in (*others, (undecided, unsure)) if each[1]]
    if others and others[0][1] == most:
        return f"The models disagree: {', '.join([_counted(leader, most), *rest])}.{judges}", "", ""
    who = f"{most} of {len(votes)} models"
    if most == len(votes):
        who = {1: "The one model", 2: "Both models"}.get(most, f"All {most} models")
    end = f"{''.join(f'; {each}' for each in rest)}.{judges}"
    if is_alone:
        return f"{who}: ", leader, end
    role = ROLES.get(question.mode) or BEST[question.attribute]
    return f"{who} pick{'s' * (most == 1)} ", leader.removeprefix(PICKS), f" as {role}{end}"


def _counted(word: str, count: int) -> str:
    return f"{count} {word if count == 1 else word.replace(PICKS, 'pick ')}"


def pair_verdict(answer: Answer) -> str:
    """Returns what a model says of a pair, or of one image, in a word or two."""
    return f"{answer.scores[0]:g} of 10" if answer.unit == "rating" else VERDICTS.get(answer.reading, UNSURE)


def pick_of(answer: Answer) -> str:
    """Returns which option a model picks, in words."""
    return UNDECIDED if answer.pick is None else f"{PICKS}{LETTERS[answer.pick]}"


def _reason(answer: Answer) -> str:
    """Returns why it has no percentile; empty if it has one, and for judges."""
    if answer.problem or answer.reference or answer.unit in ("rating", "votes"):
        return ""
    return answer.why or UNCALIBRATED


def reasons(answers: Iterable[Answer]) -> str:
    """Describes why scores have no percentile, in one sentence: each reason once, with its models."""
    found: dict[str, dict[str, None]] = {}  # with titles, each once
    for each in answers:
        if why := _reason(each):
            found.setdefault(why, {})[each.row.title] = None
    named = [
        f"{why} ({len(titles)} models)" if len(titles) > 1 else f"{why} ({next(iter(titles))})"
        for why, titles in found.items()
    ]
    return f"No percentile: {'; '.join(named)}." if named else ""


def _row(question: LiveQuestion, answer: Answer, own: Calibrations) -> dict[str, Any]:
    if answer.problem:
        return {"model": answer.row, "problem": answer.problem}
    axis = strip(answer)
    option = 0 if len(answer.scores) == 1 else answer.pick
    return {
        "model": answer.row,
        "problem": "",
        "strip": axis,
        "verdict": verdict(question, answer),
        "score": (axis.values[option], axis.unit) if axis and option is not None else bare(answer),
        "facts": _facts(question, answer),
        "domains": _domains(answer, own),
    }


def bare(answer: Answer) -> tuple[str, str]:
    """Returns the score of a pair or one image that has no axis, and what it is; empty for several, and for judges."""
    if answer.unit in ("rating", "votes") or len(answer.scores) != 1:
        return "", ""
    return f"{answer.scores[0]:.3g}".replace("-", "−"), measure(answer)


def verdict(question: LiveQuestion, answer: Answer) -> str:
    """Returns the model's answer in a word or two."""
    if question.mode == "pair" or len(question.inputs) == 1:
        return pair_verdict(answer)
    if answer.pick is None and answer.unit != "votes":
        return "a tie"
    close = answer.margin is not None and -0.5 < answer.margin < CLOSE
    return f"{pick_of(answer)}{', almost a tie' if close else ''}"


def _facts(question: LiveQuestion, answer: Answer) -> list[str]:
    """Returns what is behind a line, as sentences."""
    facts = []
    if answer.unit == "rating":
        facts.append(f"Replies in both orders: {' and '.join(reply.strip()[:40] for reply in answer.replies)}")
    elif answer.unit == "votes":
        orders = ", ".join("unread" if pick is None else LETTERS[pick] for pick in answer.picks)
        facts.append(f"Picks in order and reversed: {orders}")
    else:
        scores = [f"{score:.4g}".replace("-", "−") for score in raw(answer)]
        named = [f"{LETTERS[at]} {score}" for at, score in enumerate(scores)] if len(scores) > 1 else scores
        facts.append(f"Raw {measure(answer)}: {', '.join(named)}")
        if answer.few and not answer.few.alone:
            unrelated, matching = medians(answer.few)
            facts[-1] += f"; median of its unrelated pairs {unrelated:.3g}, of its matching pairs {matching:.3g}"
        if why := _reason(answer):
            facts.append(f"No percentile: {why}")
        if answer.controls:
            facts.append("Scores above {} of {} unrelated examples".format(*answer.controls))
        if question.mode == "pair" and answer.standings:
            place = answer.standings[0]
            facts.append(
                f"Scores above {percent(place.above_unrelated)} of its unrelated and {percent(place.above_matching)} "
                "of its matching pairs"
            )
        if answer.margin is not None:
            ahead = "less similar than the others" if question.mode == "odd" else "ahead"
            facts.append(
                f"{number(answer.margin, digits=0)} percentile points {ahead}"
                if answer.margin > -0.5
                else "By percentiles another image differs most"
            )
    if set(answer.row.trained_on) == {DRAWINGS}:
        facts.append("Understands only drawn scenes and short English captions")
    if own_models.NOTE in answer.row.options:
        facts.append("The host's own model")
    facts.append(f"Answered in {number(answer.seconds, digits=2)} s")
    return facts


def _domains(answer: Answer, own: Calibrations) -> list[tuple[str, bool, bool]]:
    """Describes the sources of the model's distributions for the question, whether one is used here, and whether it is
    synthetic.
    """
    used = answer.reference or answer.few
    return [
        (
            f"{described(each)}: {each.n_unrelated} "
            f"{'images' if each.alone else f'unrelated and {each.n_matching} matching pairs'} "
            f"of {each.scenes} scenes, {each.source}",
            used is not None and each.domain == used.domain,
            each.synthetic,
        )
        for each in own.references
    ]
