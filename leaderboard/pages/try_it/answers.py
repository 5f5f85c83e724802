"""The Try page's answers: a headline, one row per model on its own axis, and what the axes are based on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference
from compute.analysis.domain import SCENES, Calibrations, described
from compute.catalog.own.models import source_of
from compute.live.questions import ATTRIBUTES, Answer, LiveQuestion
from compute.rounding import rounded
from compute.types import LETTERS
from leaderboard.data.related_figures import RelatedFigure, missing_sentence
from leaderboard.html.formatting import number, percent
from leaderboard.html.templates import render
from leaderboard.live.live import OUT_OF_TIME
from leaderboard.pages.try_it.strips import strip

READINGS = {
    "as matching pairs": "like a matching pair",
    "as unrelated pairs": "like an unrelated pair",
    "either": "could be either",
    "between": "between the two",
}
ROLES = {"choice": "the nearest", "odd": "the odd one out"}
BEST = {  # of single images
    "quality": "the best quality",
    "brightness": "the brightest",
    "colorfulness": "the most colourful",
    "contrast": "the highest in contrast",
    "sharpness": "the sharpest",
}
NEARER = {MATCHING: "nearer to a matching pair", UNRELATED: "nearer to an unrelated pair"}  # directions
PAIRS = {"image-image": "pairs of images", "image-text": "images with texts", "text-text": "pairs of texts"}
NO_MEANING = ("not calibrated", "its number alone means nothing")
MOST_RECORDS = 2  # of a model
CLOSE = 2.0  # percentile points: a smaller lead is negligible
DRAWINGS = "drawn-scenes-training"  # models that are trained on nothing else understand nothing else
Headline = tuple[str, str, str]  # the sentence: before its bold part, that part, and after it


def result(
    question: LiveQuestion,
    answers: Sequence[Answer],
    *,
    pending: Sequence[str],
    records: Mapping[str, Sequence[RelatedFigure]],
    calibrations: Calibrations = Calibrations(),  # noqa: B008 (frozen)
) -> Markup:
    """All answers. `pending` are titles of models still at work, and a row lists the domains of `calibrations`."""
    known = [each.reference or each.few for each in answers if each.reference or each.few]
    loading = ("Loading the models; the first answer takes some seconds.", "", "")
    return render(
        "pages/try_it/answers.html",
        mode=question.mode,
        at=time.monotonic_ns(),
        headline=headline(question, answers) if answers else loading,
        has_axis=any(strip(each) for each in answers if not each.problem),
        rows=[
            _row(question, each, records.get(each.row.key, ()), calibrations.of(each.row.key, question.pairing))
            for each in answers
        ],
        directions=any(each.why for each in answers),
        scenes=SCENES,
        pending=", ".join(pending),
        late="" if pending else _late(answers),
        pairs=PAIRS.get(question.pairing),
        distributions=list(
            dict.fromkeys((each.source, each.synthetic, each.n_unrelated, each.n_matching) for each in known)
        ),
        uncalibrated=any(
            not (each.reference or each.why or each.problem) and each.unit not in ("rating", "votes")
            for each in answers
        ),
    )


def headline(question: LiveQuestion, answers: Sequence[Answer]) -> Headline:
    """The answer in one sentence: what most models say, and how many of them."""
    able = [each for each in answers if not each.problem]
    if not able:
        return "None of these models could answer; the reasons are below.", "", ""
    if question.mode == "pair":
        return _headline_of_pair(able)
    attribute = ATTRIBUTES.get(question.attribute, question.attribute)
    if question.mode == "quality" and len(question.inputs) == 1:
        known = [each.percentiles[0] for each in able if each.percentiles]
        if not known:
            return f"No model has a percentile for this image.{_outside(able)}", "", ""
        span = f"between the {_ordinal(min(known))} and {_ordinal(max(known))} percentile"
        return f"{attribute}: {span} of each model's reference images.{_outside(able)}", "", ""
    counts = [sum(each.pick == option for each in able) for option in range(len(question.options))]
    total, most = sum(counts), max(counts)
    if not total:
        return "No model picks an option: each sees a tie or gives no readable answer.", "", ""
    if counts.count(most) > 1:
        return f"The {total} models disagree: {_picks(counts)}.{_outside(able)}", "", ""
    leader = counts.index(most)
    rest = f" as {ROLES.get(question.mode) or BEST[question.attribute]}"
    rest += f"; {_picks(counts, but=leader)}." if most < total else "."
    if close := sum(each.margin is not None and each.margin < CLOSE for each in able if each.pick is not None):
        whom = "it" if total == 1 else f"{close} of them" if close < total else "all of them"
        rest += f" For {whom} the best two are almost tied."
    if silent := len(able) - total:
        rest += f" {silent} {'sees a tie or gives' if silent == 1 else 'see a tie or give'} no readable answer."
    rest += _outside(able)
    share = f"{most} of {total}" if most < total else _all(total)
    subject = "The one model with a pick chooses " if total == 1 else f"{share} models pick "
    return subject, LETTERS[leader], rest


def _headline_of_pair(able: Sequence[Answer]) -> Headline:
    counts = Counter(READINGS[each.standings[0].reading] for each in able if each.standings)
    only = ""
    if not counts:
        counts = Counter(NEARER[each.direction[0]] for each in able if each.direction)
        only = " These are directions: none has a percentile."
    total = counts.total()
    if not total:
        rated = sum(each.unit == "rating" for each in able)
        if rated:
            return f"{rated} judge{'' if rated == 1 else 's'} rated this pair from 1 to 10.", "", ""
        return f"No model can place this pair on a scale of its own: only directions are shown.{_outside(able)}", "", ""
    (first, most), *others = counts.most_common()
    share = f"{most} of {total} models" if most < total else f"{_all(total)} models"
    share = "The one model that can place it" if total == 1 else share
    rest = "".join(f"; {count}: {reading}" for reading, count in others)
    return f"{share}: ", first, f"{rest}.{only}{_outside(able)}"


def _late(answers: Sequence[Answer]) -> str:
    """A sentence on the models that were not started for lack of time; empty without any."""
    titles = [each.row.title for each in answers if each.problem == OUT_OF_TIME]
    if not titles:
        return ""
    return (
        f"The time for one question is over: {len(answers) - len(titles)} of {len(answers)} models had their turn, "
        f"{len(titles)} did not ({', '.join(titles)}). Press Compare again: what has been answered is stored, so the "
        "time goes to the rest."
    )


def _outside(able: Sequence[Answer]) -> str:
    """A sentence on the models that were calibrated on other inputs; empty without any."""
    count = sum(each.is_outside for each in able)
    if not count:
        return ""
    whom = "1 model" if count == 1 else f"{count} models"
    return f" For {whom} the input is outside what {'it was' if count == 1 else 'they were'} calibrated on."


def _all(count: int) -> str:
    return "Both" if count == 2 else f"All {count}"


def _picks(counts: Sequence[int], *, but: int | None = None) -> str:
    """`1 picks A, 2 pick C`."""
    return ", ".join(
        f"{count} {'picks' if count == 1 else 'pick'} {LETTERS[option]}"
        for option, count in enumerate(counts)
        if count and option != but
    )


def _ordinal(value: float) -> str:
    whole = int(rounded(value, 0))
    tail = "th" if 10 <= whole % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(whole % 10, "th")
    return f"{whole}{tail}"


def _row(question: LiveQuestion, answer: Answer, records: Sequence[RelatedFigure], own: Calibrations) -> dict[str, Any]:
    row = answer.row
    facts = {
        "model": row,
        "only_drawings": set(row.trained_on) == {DRAWINGS},
        "is_own": source_of(row) is not None,
        "problem": answer.problem,
        "domains": _domains(answer, own),
    }
    if answer.problem:
        return facts
    return facts | {
        "verdict": verdict(question, answer),
        "strip": strip(answer),
        "records": [(record, _tooltip(record)) for record in records[:MOST_RECORDS]],
        "no_records": missing_sentence(records),
        "time": f"{number(answer.seconds, digits=0, scale=1000)} ms"
        if answer.seconds < 1
        else f"{number(answer.seconds, digits=1)} s",
    }


def verdict(question: LiveQuestion, answer: Answer) -> tuple[str, str]:
    """The model's answer in words, and in small type the numbers behind it."""
    if answer.unit == "rating":
        replies = " and ".join(reply.strip()[:40] for reply in answer.replies)
        return f"{answer.scores[0]:g} of 10", f"both orders: {replies}"
    if answer.unit == "votes":
        orders = ", ".join("unread" if pick is None else LETTERS[pick] for pick in answer.picks)
        pick = "undecided" if answer.pick is None else f"picks {LETTERS[answer.pick]}"
        return pick, f"in order and reversed: {orders}"
    if question.mode == "pair":
        return _verdict_of_pair(answer)
    if question.mode == "quality" and len(answer.scores) == 1:
        if not answer.percentiles:
            return ("no percentile", answer.why) if answer.why else NO_MEANING
        return f"{_ordinal(answer.percentiles[0])} percentile", "of its reference images"
    if answer.pick is None:
        return "a tie", "its best two scores are the same"
    return f"picks {LETTERS[answer.pick]}", _lead(question, answer)


def _verdict_of_pair(answer: Answer) -> tuple[str, str]:
    why = f"no percentile: {answer.why or 'it is not calibrated'}"
    if answer.standings:
        standing = answer.standings[0]
        return READINGS[standing.reading], (
            f"scores above {percent(standing.above_unrelated)} of its unrelated and "
            f"{percent(standing.above_matching)} of its matching pairs"
        )
    if answer.direction:
        reading, matching, unrelated = answer.direction
        return NEARER[reading], (
            f"raw {answer.scores[0]:.3g}; the median of its unrelated pairs is {unrelated:.3g}, of its matching pairs "
            f"{matching:.3g}; {why}"
        )
    if answer.controls:
        below, total = answer.controls
        return f"nearer than {below} of {total}", f"unrelated examples; {why}"
    return ("no percentile", answer.why) if answer.why else NO_MEANING


def _lead(question: LiveQuestion, answer: Answer) -> str:
    margin = answer.margin
    ahead = "less alike than the others" if question.mode == "odd" else "ahead"
    if margin is None:
        return f"by its raw scores; no percentile: {answer.why or 'it is not calibrated'}"
    if margin >= CLOSE:
        return f"{number(margin, digits=0)} percentile points {ahead}"
    if margin > -0.5:
        return f"almost a tie: under {CLOSE:g} percentile points {ahead}"
    return "by its raw scores; by percentiles another image differs most"


def _domains(answer: Answer, own: Calibrations) -> list[tuple[str, bool]]:
    """What the model's distributions for the question were made of, and whether one is used here."""
    used = answer.reference or answer.few
    return [
        (
            f"{described(each)}: {_pairs(each)} of {each.scenes} scenes, {each.source}",
            used is not None and each.domain == used.domain,
        )
        for each in own.references
    ]


def _pairs(reference: Reference) -> str:
    if reference.alone:
        return f"{reference.n_unrelated} images"
    return f"{reference.n_unrelated} unrelated and {reference.n_matching} matching pairs"


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
