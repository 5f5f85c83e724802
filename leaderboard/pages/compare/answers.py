"""The Compare page's answers: a headline, one row per model on its own axis, and what the axes are based on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from compute.live.modes import ATTRIBUTES
from compute.live.question import LiveQuestion
from compute.types import LETTERS
from leaderboard.data.related_figures import RelatedFigure, missing_sentence
from leaderboard.html.templates import render
from leaderboard.live.calibrated import CalibratedAnswer, bands, pairing, readings, votes

READINGS = {
    "as matching pairs": ("like a matching pair", "like a matching pair"),
    "as unrelated pairs": ("like an unrelated pair", "like an unrelated one"),
    "either": ("could be either", "as one that could be either"),
    "between": ("in between", "between the two"),
}
SIDES = {"as matching pairs": "alike", "as unrelated pairs": "unlike"}  # a visitor's own answers in blind mode
PAIRS = {"image-image": "pairs of images", "image-text": "images with texts", "text-text": "pairs of texts"}
NO_MEANING = ("not calibrated", "its number alone means nothing")
MOST_RECORDS = 2  # of a model
CLOSE = 2.0  # percentile points: a smaller lead is negligible
DRAWINGS = "drawn-scenes-training"  # the data set of models trained on nothing else
NEAR = 6.0  # percentile points within which two letters would touch
Headline = tuple[str, str, str]  # the sentence: before its bold part, that part, and after it


def result(
    question: LiveQuestion,
    answers: Sequence[CalibratedAnswer],
    *,
    pending: Sequence[str],
    records: Mapping[str, Sequence[RelatedFigure]],
    blind: bool,
) -> Markup:
    """All answers. `pending` are titles of models still at work; `blind` hides everything until the visitor answers."""
    known = [each.reference for each in answers if each.reference is not None]
    hidden = blind and pending
    names = f"{len(pending)} more model{'' if len(pending) == 1 else 's'}" if hidden else ", ".join(pending)
    loading = ("Loading the models; the first answer takes some seconds.", "", "")
    return render(
        "pages/compare/answers.html",
        mode=question.mode,
        at=time.monotonic_ns(),
        headline=headline(question, answers) if answers else loading,
        has_axis=any(each.percentiles for each in answers),
        ends=("least", "most") if question.mode == "quality" else ("unrelated", "matching"),
        rows=[_row(question, each, records.get(each.row.key, ())) for each in answers],
        pending=names,
        blind=blind,
        choices=_choices(question),
        pairs=PAIRS.get(pairing(question)),
        distributions=list(
            dict.fromkeys((each.source, each.synthetic, each.n_unrelated, each.n_matching) for each in known)
        ),
        uncalibrated=any(
            each.reference is None and not each.answer.problem and each.answer.unit not in ("rating", "votes")
            for each in answers
        ),
    )


def headline(question: LiveQuestion, answers: Sequence[CalibratedAnswer]) -> Headline:
    """The answer in one sentence: what most models say, and how many of them."""
    able = [each for each in answers if not each.answer.problem]
    if not able:
        return "None of these models could answer; the reasons are below.", "", ""
    if question.mode == "pair":
        return _headline_of_pair(able)
    attribute = ATTRIBUTES.get(question.attribute, question.attribute)
    if question.mode == "quality" and len(question.inputs) == 1:
        known = [each.percentiles[0] for each in able if each.percentiles]
        if not known:
            return "No calibrated model answered.", "", ""
        span = f"between the {_ordinal(min(known))} and {_ordinal(max(known))} percentile"
        return f"{attribute}: {span} of each model's reference images.", "", ""
    tally = votes(able, len(question.options))
    if not tally.total:
        return "No model picks an option: they see ties, or could not be read.", "", ""
    if tally.leader is None:
        return f"The {tally.total} models are divided: {_counts(tally.counts)}.", "", ""
    role = {"choice": "nearest", "odd": "the odd one out"}.get(question.mode, f"best in {attribute.lower()}")
    most = tally.counts[tally.leader]
    rest = f" as {role}."
    if most < tally.total:
        rest += f" The others: {_counts(tally.counts, but=tally.leader)}."
    if close := sum(each.margin is not None and each.margin < CLOSE for each in able if each.answer.pick is not None):
        rest += f" {close} of the {tally.total} hardly separate{'s' if close == 1 else ''} the best two."
    if silent := len(able) - tally.total:
        rest += f" {silent} see{'s' if silent == 1 else ''} a tie or could not be read."
    share = f"All {tally.total}" if most == tally.total else f"{most} of {tally.total}"
    subject = "The only model with a pick chooses " if tally.total == 1 else f"{share} models pick "
    return subject, LETTERS[tally.leader], rest


def _headline_of_pair(able: Sequence[CalibratedAnswer]) -> Headline:
    counts = readings(able)
    total = counts.total()
    if not total:
        rated = sum(each.answer.unit == "rating" for each in able)
        if not rated:
            return "No calibrated model answered: only directions are shown.", "", ""
        return f"{rated} judge{'' if rated == 1 else 's'} rated this pair from 1 to 10.", "", ""
    (first, most), *others = counts.most_common()
    share = f"All {total}" if most == total else f"{most} of {total}"
    subject = "The one calibrated model scores" if total == 1 else f"{share} models score"
    rest = "".join(f"; {count} {READINGS[reading][1]}" for reading, count in others)
    return f"{subject} this pair ", READINGS[first][1], f"{rest}."


def _counts(counts: Sequence[int], *, but: int | None = None) -> str:
    return ", ".join(f"{LETTERS[option]} {count}" for option, count in enumerate(counts) if count and option != but)


def _ordinal(value: float) -> str:
    whole = round(value)
    tail = "th" if 10 <= whole % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(whole % 10, "th")
    return f"{whole}{tail}"


def _row(question: LiveQuestion, calibrated: CalibratedAnswer, records: Sequence[RelatedFigure]) -> dict[str, Any]:
    answer, row, standings = calibrated.answer, calibrated.row, calibrated.standings
    facts = {
        "model": row,
        "letter": "" if answer.pick is None else LETTERS[answer.pick],
        "side": SIDES.get(standings[0].reading, "") if standings else "",
        "only_drawings": DRAWINGS in row.trained_on,
        "problem": answer.problem,
    }
    if answer.problem:
        return facts
    return facts | {
        "verdict": verdict(question, calibrated),
        "strip": _strip(calibrated) if calibrated.reference else None,
        "records": [(record, _tooltip(record)) for record in records[:MOST_RECORDS]],
        "no_records": missing_sentence(records),
        "time": f"{answer.seconds * 1000:.0f} ms" if answer.seconds < 1 else f"{answer.seconds:.1f} s",
    }


def verdict(question: LiveQuestion, calibrated: CalibratedAnswer) -> tuple[str, str]:
    """The model's answer in words, and in small type the numbers behind it."""
    answer = calibrated.answer
    if answer.unit == "rating":
        replies = " and ".join(reply.strip()[:40] for reply in answer.replies)
        return f"{answer.scores[0]:g} of 10", f"both orders: {replies}"
    if answer.unit == "votes":
        orders = ", ".join("unread" if pick is None else LETTERS[pick] for pick in answer.picks)
        pick = "undecided" if answer.pick is None else f"picks {LETTERS[answer.pick]}"
        return pick, f"in order and reversed: {orders}"
    if question.mode == "pair":
        if calibrated.standings:
            standing = calibrated.standings[0]
            return READINGS[standing.reading][0], (
                f"above {standing.above_unrelated:.0%} of its unrelated and {standing.above_matching:.0%} of its "
                "matching pairs"
            )
        if not answer.controls:
            return NO_MEANING
        below, total = answer.controls
        return (
            f"nearer than {below} of {total}",
            "unrelated examples: a direction only, since it is not calibrated",
        )
    if question.mode == "quality" and len(answer.scores) == 1:
        if not calibrated.percentiles:
            return NO_MEANING
        return f"{_ordinal(calibrated.percentiles[0])} percentile", "of its reference images"
    if answer.pick is None:
        return "a tie", "its best two are exactly equal"
    return f"picks {LETTERS[answer.pick]}", _lead(question, calibrated.margin)


def _lead(question: LiveQuestion, margin: float | None) -> str:
    ahead = "differs most," if question.mode == "odd" else "ahead"
    if margin is None:
        return "a direction only: it is not calibrated"
    if margin >= CLOSE:
        return f"{ahead} by {margin:.0f} percentile points"
    if margin > -0.5:
        return f"hardly: {ahead} by less than {CLOSE:.0f} percentile points"
    return "by its own scores; by percentiles another image differs most"


def _strip(calibrated: CalibratedAnswer) -> dict[str, Any]:
    """The model's axis, 0 to 100: the bands of its unrelated and matching pairs, and a mark for each option."""
    unrelated, matching = bands(calibrated.reference)
    percentiles, answer = calibrated.percentiles, calibrated.answer
    several = len(percentiles) > 1
    return {
        "bands": [
            (kind, band[0], band[1] - band[0])
            for kind, band in (("unrelated", unrelated), ("matching", matching))
            if band is not None
        ],
        "marks": [
            {
                "percentile": percentiles[option],
                "letter": LETTERS[option] if several else "",
                "chosen": option == answer.pick or not several,
                "is_left": is_left,
                "tier": tier,
            }
            for option, is_left, tier in _letters(percentiles)
        ],
        "label": ", ".join(
            f"{LETTERS[option]} {percentile:.0f}" if several else f"{percentile:.0f}"
            for option, percentile in enumerate(percentiles)
        ),
        "unit": "cosine" if answer.unit == "cosine" else "score",
        "raw": ", ".join(f"{score:.4g}" for score in answer.scores),
    }


def _letters(percentiles: Sequence[float]) -> list[tuple[int, bool, int]]:
    """Each option, whether its letter is left of its mark, and on which of three lines: near letters do not overlap,
    and all are within the axis."""
    order = sorted(range(len(percentiles)), key=percentiles.__getitem__)
    letters, run = [], 0  # run: the index within a run of near neighbours
    for rank, option in enumerate(order):
        near = rank > 0 and percentiles[option] - percentiles[order[rank - 1]] < NEAR
        run = run + 1 if near else 0
        following = rank + 1 < len(order) and percentiles[order[rank + 1]] - percentiles[option] < NEAR
        is_left = (run % 2 == 0 and (following or near) and percentiles[option] > NEAR) or (
            percentiles[option] > 100 - NEAR / 2
        )
        letters.append((option, is_left, run // 2 % 3))
    return letters


def _tooltip(record: RelatedFigure) -> str:
    """Everything known about a published figure."""
    facts = (
        f"{record.metric} {record.shown}",
        record.interval and f"95% {record.interval}",
        f"rank {record.rank} of {record.of} among {record.origin} figures",
        record.shown_chance and f"guessing gives {record.shown_chance}",
        record.source,
        record.note,
    )
    return "; ".join(filter(None, facts))


def _choices(question: LiveQuestion) -> list[tuple[str, str]]:
    """What the visitor may answer in blind mode: values and labels; none for a single image."""
    if question.mode == "pair":
        return [("alike", "Alike"), ("unlike", "Not alike"), ("", "Cannot tell")]
    if len(question.options) < 2:
        return []
    return [*((letter, letter) for letter in LETTERS[: len(question.options)]), ("", "Cannot tell")]
