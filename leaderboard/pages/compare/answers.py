"""The Compare page's answers as markup: a headline, one row a model on its own axis, and what it all rests on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from compute.types import LETTERS
from leaderboard.data.records import lacking
from leaderboard.html.markup import link, text, to_model
from leaderboard.live.calibrated import Judged, agreement, bands, pairing, readings

if TYPE_CHECKING:
    from compute.live.answers import Asked
    from compute.types import Model
    from leaderboard.data.records import Record

READINGS = {
    "as matching pairs": ("like a matching pair", "like a matching pair"),
    "as unrelated pairs": ("like an unrelated pair", "like an unrelated one"),
    "either": ("could be either", "so that it could be either"),
    "between": ("in between", "between the two"),
}
QUESTIONS = {
    "quality": "Quality",
    "brightness": "Brightness",
    "colorfulness": "Colourfulness",
    "contrast": "Contrast",
    "sharpness": "Sharpness",
}  # as compute.live.modes has them; a test holds both together
KINDS = {"image-image": "pairs of images", "image-text": "images with texts", "text-text": "pairs of texts"}
DRAWN = " <span class='pg-synthetic'>synthetic</span>"
MOST_RECORDS = 2  # of a model
HARDLY = 2.0  # percentile points of a lead that is next to none
DRAWINGS = "drawn-scenes-training"  # the data set of models that know nothing else
NEAR = 6.0  # percentile points within which two letters would touch
Records = Mapping[str, Sequence["Record"]]


def download(row: Model, here: int, whole: int | None, *, behind: str = "") -> str:
    """How far a download has come, or the title of the model whose download comes first."""
    if behind:
        return (
            f"<p class='cp-download' role='status'>{text(row.title)} is downloaded next: {text(behind)} comes first</p>"
        )
    share = f" of {whole / 1e6:.0f} MB" if whole else ""
    bar = f"<progress max='{whole}' value='{min(here, whole)}'></progress>" if whole else ""
    come = f"{here / 1e6:.0f}{share or ' MB'}"
    return f"<p class='cp-download' role='status'>Downloading {text(row.title)}: {come} {bar}</p>"


def result(asked: Asked, found: Sequence[Judged], *, left: Sequence[str], records: Records, blind: bool) -> str:
    """The whole answer. `left` are titles of models still at work; `blind` hides all until the visitor has chosen."""
    shown = list(found)
    axis = any(one.positions for one in shown)
    lead = headline(asked, shown) if shown else "Loading the models; the first answer takes some seconds."
    rows = "".join(_row(asked, one, records=records) for one in shown)
    still = f"{len(left)} more model{'' if len(left) == 1 else 's'}" if blind else ", ".join(left)
    more = f"<p class='pg-quiet' role='status'>Still asking {text(still)} …</p>" if left else ""
    done = "" if left else _reveal(asked, shown) if blind else ""
    state = "blind" if blind else "open"
    return (
        f"<section class='cp-result' data-state='{state}' data-mode='{text(asked.mode)}' "
        f"data-done='{'' if left else 'yes'}' data-at='{time.monotonic_ns()}'>"
        "<p class='cp-stale' role='status'>The inputs have changed since: compare again.</p>"
        f"<p class='pg-lead' role='status'>{lead}</p>{done}"
        f"<div class='cp-rows' role='list'>{_head(asked) if axis else ''}{rows}</div>{more}"
        f"{_explained(asked, shown)}</section>"
    )


def headline(asked: Asked, found: Sequence[Judged]) -> str:
    """The answer in one sentence: what most models say, and how many of them."""
    able = [one for one in found if not one.answer.problem]
    if not able:
        return "None of these models could answer; the reasons stand below."
    if asked.mode == "pair":
        counts = readings(able)
        of = counts.total()
        if not of:
            rated = sum(one.answer.unit == "rating" for one in able)
            return (
                f"{rated} judge{'' if rated == 1 else 's'} rated this pair from 1 to 10."
                if rated
                else "No calibrated model answered: only directions are shown."
            )
        (first, most), *others = counts.most_common()
        share = f"All {of}" if most == of else f"{most} of {of}"
        who = "The one calibrated model scores" if of == 1 else f"{share} models score"
        rest = "".join(f"; {count} {READINGS[name][1]}" for name, count in others)
        return f"{who} this pair <b>{READINGS[first][1]}</b>{rest}."
    if asked.mode == "quality" and len(asked.inputs) == 1:
        known = [one.positions[0] for one in able if one.positions]
        return (
            f"{_question(asked)}: between the {_ordinal(min(known))} and {_ordinal(max(known))} percentile of each "
            "model's reference images."
            if known
            else "No calibrated model answered."
        )
    votes = agreement(able, len(asked.options))
    if not votes.of:
        return "No model picks one: they see ties, or could not be read."
    name = {"choice": "nearest", "odd": "the odd one out"}.get(asked.mode, f"best in {_question(asked).lower()}")
    if votes.leader is None:
        return f"The {votes.of} models are divided: {_votes(votes.votes)}."
    most = votes.votes[votes.leader]
    rest = f" The others: {_votes(votes.votes, but=votes.leader)}." if most < votes.of else ""
    hardly = sum(one.margin is not None and one.margin < HARDLY for one in able if one.answer.pick is not None)
    rest += f" {hardly} of the {votes.of} hardly tell the best two apart." if hardly else ""
    silent = len(able) - votes.of
    rest += f" {silent} see{'s' if silent == 1 else ''} a tie or could not be read." if silent else ""
    share = f"All {votes.of}" if most == votes.of else f"{most} of {votes.of}"
    who = "The one model that picks takes" if votes.of == 1 else f"{share} models pick"
    return f"{who} <b>{LETTERS[votes.leader]}</b> as {text(name)}.{rest}"


def _question(asked: Asked) -> str:
    return QUESTIONS.get(asked.question, asked.question)


def _votes(votes: Sequence[int], *, but: int | None = None) -> str:
    return ", ".join(f"{LETTERS[at]} {count}" for at, count in enumerate(votes) if count and at != but)


def _ordinal(value: float) -> str:
    whole = round(value)
    tail = "th" if 10 <= whole % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(whole % 10, "th")
    return f"{whole}{tail}"


def _head(asked: Asked) -> str:
    low, high = ("least", "most") if asked.mode == "quality" else ("unrelated", "matching")
    return (
        f"<div class='cp-axis' aria-hidden='true'><span>Model</span><span>Says</span><span class='cp-ends'>"
        f"<span>0 {low}</span><span>percentile</span><span>{high} 100</span></span>"
        "<span>On record</span><span class='cp-time' title='Of the answer; loading a model is not counted'>Time"
        "</span></div>"
    )


def _row(asked: Asked, one: Judged, *, records: Records) -> str:
    answer, row = one.answer, one.row
    pick = "" if answer.pick is None else LETTERS[answer.pick]
    drawn = "<small>knows drawn scenes and short English captions of them</small>" if DRAWINGS in row.trained_on else ""
    name = f"<span class='cp-name'>{to_model(row.key, row.title)}</span>{drawn}"
    facts = (
        f"data-model='{text(row.key)}' data-title='{text(row.title)}' data-pick='{pick}' data-reading='{_side(one)}'"
    )
    if answer.problem:
        return (
            f"<div class='cp-row' role='listitem' {facts}><div>{name}</div><div class='cp-problem'>"
            f"{text(answer.problem)}</div></div>"
        )
    return (
        f"<div class='cp-row' role='listitem' {facts}><div>{name}</div><div>{_verdict(asked, one)}</div>"
        f"<div>{strip(asked, one)}</div><div class='cp-records'>{_records(records.get(row.key, ()))}</div>"
        f"<div class='cp-time pg-quiet'>{_time(answer.seconds)}</div></div>"
    )


def _side(one: Judged) -> str:
    """What a visitor's own judgement of a pair is held against in blind mode."""
    if not one.places:
        return ""
    return {"as matching pairs": "alike", "as unrelated pairs": "unlike"}.get(one.places[0].reading, "")


def _verdict(asked: Asked, one: Judged) -> str:
    """What the model says, in words; with the numbers that back it in small type."""
    answer = one.answer
    if answer.unit == "rating":
        said = " and ".join(reply.strip()[:40] for reply in answer.replies)
        return f"<b>{answer.scores[0]:g} of 10</b><small>both orders: {text(said)}</small>"
    if answer.unit == "votes":
        orders = ", ".join("unread" if pick is None else LETTERS[pick] for pick in answer.picks)
        pick = "of two minds" if answer.pick is None else f"picks {LETTERS[answer.pick]}"
        return f"<b>{pick}</b><small>in order and reversed: {orders}</small>"
    if asked.mode == "pair":
        if one.places:
            found = one.places[0]
            return (
                f"<b>{READINGS[found.reading][0]}</b><small>above {found.above_unrelated:.0%} of its unrelated and "
                f"{found.above_matching:.0%} of its matching pairs</small>"
            )
        if answer.controls:
            below, total = answer.controls
            return (
                f"<b>nearer than {below} of {total}</b><small>unrelated examples: a direction only, it is not "
                "calibrated</small>"
            )
        return "<b>not calibrated</b><small>its number alone means nothing</small>"
    if asked.mode == "quality" and len(answer.scores) == 1:
        return (
            f"<b>{_ordinal(one.positions[0])} percentile</b><small>of its reference images</small>"
            if one.positions
            else "<b>not calibrated</b><small>its number alone means nothing</small>"
        )
    if answer.pick is None:
        return "<b>a tie</b><small>its best two are exactly equal</small>"
    ahead = "stands apart" if asked.mode == "odd" else "ahead"
    by = (
        "a direction only: it is not calibrated"
        if one.margin is None
        else f"{ahead} by {one.margin:.0f} percentile points"
        if one.margin >= HARDLY
        else f"hardly: {ahead} by less than {HARDLY:.0f} percentile points"
        if one.margin > -0.5
        else "by its own scores; by their percentiles another image stands apart"
    )
    return f"<b>picks {LETTERS[answer.pick]}</b><small>{by}</small>"


def strip(asked: Asked, one: Judged) -> str:
    """The model's own axis, 0 to 100: where its unrelated and matching pairs lie, and where each option falls."""
    if one.reference is None:
        return ""
    unrelated, matching = bands(one.reference)
    parts = [
        f"<i class='cp-band cp-{kind}' style='left:{low:.1f}%;width:{high - low:.1f}%'></i>"
        for kind, (low, high) in (("unrelated", unrelated), *([("matching", matching)] if matching else []))
    ]
    many = len(one.positions) > 1
    for at, left, tier in _sides(one.positions):
        chosen = " cp-chosen" if at == one.answer.pick or not many else ""
        letter = f"<span class='cp-tier{tier}{' cp-left' if left else ''}'>{LETTERS[at]}</span>" if many else ""
        parts.append(f"<b class='cp-mark{chosen}' style='left:{one.positions[at]:.1f}%'>{letter}</b>")
    said = ", ".join(f"{LETTERS[at] + ' ' if many else ''}{position:.0f}" for at, position in enumerate(one.positions))
    raw = ", ".join(f"{score:.4g}" for score in one.answer.scores)
    whole = (
        f"Percentile {said}. Its own {'cosine' if one.answer.unit == 'cosine' else 'score'}: {raw}, which means "
        "something only beside the bands"
    )
    return f"<div class='cp-strip' role='img' aria-label='Percentile {said}' title='{whole}'>{''.join(parts)}</div>"


def _sides(positions: Sequence[float]) -> list[tuple[int, bool, int]]:
    """Each option with whether its letter stands left of its mark, and on which of three lines: letters of near
    neighbours lie apart, and within the axis."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    found, place = [], 0
    for rank, at in enumerate(order):
        near = rank > 0 and positions[at] - positions[order[rank - 1]] < NEAR
        place = place + 1 if near else 0
        following = rank + 1 < len(order) and positions[order[rank + 1]] - positions[at] < NEAR
        left = (place % 2 == 0 and (following or near) and positions[at] > NEAR) or positions[at] > 100 - NEAR / 2
        found.append((at, left, place // 2 % 3))
    return found


def _records(records: Sequence[Record]) -> str:
    if not records:
        return f"<span class='pg-quiet'>{lacking(records)}</span>"
    return "".join(
        f"<span title='{text(_whole(one))}'>{link(one.address, one.title)} <b>{one.shown}</b> "
        f"<span class='pg-quiet'>rank {one.place}</span>{DRAWN if one.synthetic else ''}</span>"
        for one in records[:MOST_RECORDS]
    )


def _whole(record: Record) -> str:
    """Everything known of a published figure, for a tooltip."""
    return "; ".join(
        filter(
            None,
            (
                f"{record.metric} {record.shown}",
                record.interval and f"95% {record.interval}",
                f"rank {record.place} among {record.origin} figures",
                record.guessing and f"guessing gives {record.guessing}",
                record.source,
                record.note,
            ),
        )
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _reveal(asked: Asked, found: Sequence[Judged]) -> str:
    """The visitor's turn in blind mode: which answer is right."""
    if asked.mode == "pair":
        options = [("alike", "Alike"), ("unlike", "Not alike"), ("", "Cannot tell")]
    elif len(asked.options) > 1:
        options = [*((LETTERS[at], LETTERS[at]) for at in range(len(asked.options))), ("", "Cannot tell")]
    else:
        return "<p class='cp-choose'><button type='button' data-right=''>Show the names</button></p>"
    buttons = "".join(f"<button type='button' data-right='{value}'>{label}</button>" for value, label in options)
    return (
        f"<p class='cp-choose' role='group' aria-label='Your own answer'>Which is right? {buttons} "
        "<span class='pg-quiet'>The answers and names follow. The tally stays in this browser.</span></p>"
    )


def _explained(asked: Asked, found: Sequence[Judged]) -> str:
    """What the axis is and rests on, for those models that have one; and what the others lack."""
    known = [one.reference for one in found if one.reference is not None]
    lines = []
    if known:
        kind = KINDS.get(pairing(asked))
        lines.append(
            "Every axis is a model's own: raw scores of two models cannot be compared, places on their "
            "distributions can. It runs over the model's scores of reference "
            + (
                f"{kind}, half of them unrelated and half matching. Grey is where the middle 95% of the "
                "unrelated lie, green the matching: copies, other views or captions of the same; at 100 a pair "
                "scores above all of them."
                if kind
                else "images; grey is where the middle 95% of them lie."
            )
        )
        if asked.mode == "odd":
            lines.append("A mark is the mean place of an image's likeness to the others: the odd one stands lowest.")
        for source in dict.fromkeys((one.source, one.synthetic, one.n_unrelated, one.n_matching) for one in known):
            name, synthetic, unrelated, matching = source
            count = f"{unrelated} unrelated and {matching} matching pairs" if matching else f"{unrelated} images"
            lines.append(
                f"Measured on {count} of {text(name)}{DRAWN if synthetic else ''}"
                + (": drawn by a program, so for photographs take it as a rough guide." if synthetic else ".")
            )
    if any(
        one.reference is None and not one.answer.problem and one.answer.unit not in ("rating", "votes") for one in found
    ):
        lines.append(
            "A model without a distribution shows a direction only. To make one: "
            "<code>python -m compute calibrate --models KEY</code>."
        )
    if not lines:
        return ""
    listed = "".join(f"<li>{line}</li>" for line in lines)
    return (
        f"<details class='cp-explained'><summary>How to read this</summary><ul class='pg-list'>{listed}</ul></details>"
    )
