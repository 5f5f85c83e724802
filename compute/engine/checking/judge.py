"""Checks whether a judge's answers are readable, depend on its images, and are consistent in both orders, on generated
pairs with known answers.

40 pairs of options are asked about in both orders: two images for a caption, two captions for an image; then again with
blank images, and with those of another pair. 20 pairs of images are rated as in PairBench. All questions have the form
of those in runs, and their answers go to the judge's log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from compute.content import decoding, items
from compute.content.items import Column
from compute.features.subject import Subject
from compute.io.files import write_text
from compute.metrics import judge, resampling
from compute.procedures import judging
from compute.procedures.shared import prompts, replies
from compute.procedures.shared.conditions import IMAGE_IMAGE, picture
from compute.tasks.data import Choices, RatedPairs, take
from compute.tasks.mini import choices
from compute.tasks.mini.album import png
from compute.types import NotHere, first_line

FILE = "check.txt"  # next to the answers of the same model with the same settings
PAIRS, RATED = 20, 10  # per task of TASKS, and per type of rated pairs
TASKS = {  # indices of items whose wrong option is another scene, or its caption
    "image-for-text": np.arange(1, 2 * PAIRS, 2),
    "text-for-image": np.arange(0, 2 * PAIRS, 2),
}
SIDE, SMALLER = 256, 243  # pixels of shown images, which are drawn at 64; PairBench's identical pairs differ by 5%
READABLE, SYMMETRIC, LEAN, ORDERED = 0.9, 0.8, 0.2, 0.75  # thresholds beyond which a share is named in the verdict


def check(subject: Subject) -> list[str]:
    """Asks a judge; returns findings about its answers, the verdict last, and stores them with the answers.

    Raises CannotDo for a model that answers no questions, Undefined or NotHere if answers are missing, and NotHere
    without scikit-image.
    """
    own = [_changed(take(choices.choice(task), rows), _sized) for task, rows in TASKS.items()]
    blank, other = ([_changed(part, change) for part in own] for change in (_blank, _of_another))
    asked = [*own, *map(_reversed, own), *blank, *map(_reversed, blank), *other]
    questions = [question for part in asked for question in prompts.questions(part)]
    answers, read = replies.choices(subject, questions)
    rated = judging.rated(subject, _pairs(own[0]), {})
    if missing := sum(bool(reply.error) for reply in answers) + rated.unasked:
        raise NotHere(f"{missing} questions could not be asked. Run it again: stored answers are not asked for twice")

    # (version, pair): -1 for an unreadable answer, which counts as a guess
    picked = np.array([-1 if option is None else option for option in read]).reshape(-1, 2 * PAIRS)
    known = np.concatenate([part.answer for part in asked]).reshape(picked.shape)
    worth = np.where(picked < 0, 0.5, picked == known)
    right, blind = worth[:2].mean(axis=0), worth[2:4].mean(axis=0)
    gain = resampling.ratio(top=right - blind, bottom=np.ones(2 * PAIRS), sources=None)
    (forward, backward), readable = picked[:2], picked[:2] >= 0
    first = (picked[:2] == 0).sum() / max(1, readable.sum())
    symmetric = (readable.all(axis=0) & (forward != backward)).mean()
    moved = (forward != picked[4]).mean()
    scores = rated.items[["forward", "reverse"]].to_numpy(float)
    alike, unlike = np.split(scores.mean(axis=1), 2)
    apart, stated = alike[:, None] - unlike, (~np.isnan(scores)).mean()
    ordered = ((apart > 0) + (apart == 0) / 2).mean()

    unread = f"{1 - readable.mean():.0%} of its choices cannot be read"
    against = {unread: readable.mean() < READABLE, f"{1 - stated:.0%} of its scores cannot be read": stated < READABLE}
    if readable.any():
        against |= {
            "its choices do not depend on the images": not moved,
            "its choices do not show that it reads the images": moved and np.quantile(gain.drawn, 0.025) <= 0,
            f"it prefers the {'first' if first > 0.5 else 'second'} option": abs(first - 0.5) > LEAN,
            f"its choice is the same in both orders for only {symmetric:.0%}": symmetric < SYMMETRIC,
        }
    if stated:
        against["it rates unrelated images as high as similar ones"] = ordered < ORDERED
    accuracy = f"{right.mean():.0%} right, {blind.mean():.0%} with blank images"
    found = "; ".join(words for words, holds in against.items() if holds) or "no problem found"
    costs = [
        f"{total / len(questions):.3g} {name.replace('_', ' ')}"
        for name, total in replies.totals(answers).items()
        if name != "in_part"
    ]
    lines = [
        f"Readable      {readable.mean():.0%} of choices, {stated:.0%} of scores",
        f"Symmetric     {symmetric:.0%} of choices, {judge.relax_sym(*scores.T).value:.0%} of scores within 1 point",
        f"By position   {first:.0%} the first option; {moved:.0%} of choices change with another pair's images",
        f"Reads images  {accuracy}; {ordered:.0%} of similar pairs rated above unrelated ones",
        f"Cost          {len(questions)} choices, each {', '.join(costs) or 'not counted'}",
        f"{subject.row.key} as a judge ({accuracy}): {found}",
    ]
    write_text(subject.model.answers.folder / FILE, "\n".join(lines))
    return lines


def check_once(subject: Subject, *, report: Callable[[str], None]) -> None:
    """Reports the verdict on a judge that was never checked. Never raises: the judge is run in any case."""
    try:
        if not (subject.model.answers.folder / FILE).exists():
            report(check(subject)[-1])
    except Exception as error:
        report(f"{subject.row.key} could not be checked as a judge: {first_line(error)}")


def _pairs(data: Choices) -> RatedPairs:
    """Returns pairs of images with themselves at another size, then with the other option."""
    rows = np.arange(2 * RATED)
    first, other = (column.take(rows) for column in data.alternatives)
    return RatedPairs(
        names=tuple(map(str, rows)),
        first=first,
        second=items.joined([_sized(first.take(rows[:RATED]), side=SMALLER), other.take(rows[RATED:])]),
        expected=np.repeat([10, 1], RATED),
        types=np.repeat(["identical", "irrelevant"], RATED),
        sources=rows.astype(str),
        templates=rows % len(IMAGE_IMAGE),
        condition="invariant",
        transformations=("colorjitter",),
    )


def _reversed(data: Choices) -> Choices:
    return replace(data, alternatives=data.alternatives[::-1], answer=1 - data.answer)


def _changed(data: Choices, change: Callable[[Column], Column]) -> Choices:
    """Returns the same questions with changed images."""

    def shown(column: Column) -> Column:
        return change(column) if column.modality == "image" else column

    reference = data.reference and shown(data.reference)
    return replace(data, reference=reference, alternatives=tuple(map(shown, data.alternatives)))


def _sized(column: Column, *, side: int = SIDE) -> Column:
    opened = [decoding.decode(picture(column, row).data) for row in range(len(column))]
    return items.images([png(np.asarray(image.resize((side, side)))) for image in opened], of="drawn pairs")


def _blank(column: Column) -> Column:
    return items.images([png(np.full((SIDE, SIDE, 3), 255, np.uint8))] * len(column), of="blank images")


def _of_another(column: Column) -> Column:
    return column.take(np.roll(np.arange(len(column)), 1))
