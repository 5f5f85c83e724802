"""Parsing of the score in a judge's answer, `Score: <n>` as requested by PairBench's prompts: one clear whole number,
or nothing.

An answer without a score is invalid, with a reason, and never gets a default score (PairBench section 3.2).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from compute.content.messages import LENGTH, REFUSAL, final

PROBLEMS = ("missing", "several", "out of range", "not an integer", "refused", "truncated")
LONGEST = 9  # digits of a number; longer numbers are out of range


@dataclass(frozen=True, kw_only=True)
class Rating:
    """A score, or one of PROBLEMS if there is none."""

    value: int | None = None
    problem: str = ""


# Full-width letters, digits and signs become plain ones; emphasis, quotation and zero-width characters are removed.
_PLAIN: dict[int, int | str | None] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_PLAIN |= dict.fromkeys(map(ord, '*_`"“”«»#~$\u200b\u200c\u200d\ufeff'))
_PLAIN |= dict.fromkeys(map(ord, "\u2212\u2013\u2014"), "-") | {0x2044: "/", 0x2215: "/"}
_SPACES = re.compile(r"[^\S\n]+")
# The form, which some judges repeat before they fill it in, and formula markup.
_FORM = re.compile(r"<1-10>|<reason for score>|\\(?:boxed|text|mathrm)\b|\\[()\[\]]", re.IGNORECASE)
# "Score:", possibly with the scale in brackets, but not "subscore:" or "scores:". Or MT-Bench's form, "Rating: [[8]]".
_SCORE = r"(?<![^\W\d])(?:score ?(?:\( ?(?:1 ?- ?10|out of 10) ?\) ?)?:|rating ?:(?= ?\[\[))"
_STATED = re.compile(_SCORE, re.IGNORECASE)
# The lenient reader also accepts a line that is only a number, and a sentence about the score.
_ALONE = r"[<\[({]{0,2} ?[-+]?\d+(?:[.,]\d+)?[>\])}]{0,2}(?: ?(?:/|out of) ?\d+)?[ .]*"
_LOOSELY = re.compile(
    rf"{_SCORE}|^ ?(?={_ALONE}$)|\b(?:score|rating)(?: (?:is|of|as|would be))? ?[:=]? ?(?=[<\[({{]{{0,2}}\d)"
    r"|\bi(?: would|['’]d) (?:say|give (?:it|them)|rate (?:it|them)) (?:an? |at |as )?(?=\d)",
    re.IGNORECASE | re.MULTILINE,
)
# A truncated answer that begins with a complete line of the form, not one whose unmarked thinking mentions a score.
_BEGINS = re.compile(rf"(?:json)?[\s{{>-]*(?:(?:final|overall) )?{_SCORE}\s*\S.*?(?:\n|\breason ?:)", re.IGNORECASE)
_BEGINS_ALONE = re.compile(rf"\s*{_ALONE}\n", re.IGNORECASE)
_REASON = re.compile(r"\breason\b", re.IGNORECASE)
_NUMBER = re.compile(r"[<\[({]{0,2} ?(?P<sign>[-+]?)(?P<whole>\d+)(?P<part>(?:[.,]\d+)?)[>\])}]{0,2}")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)?")
_OTHER_SCALE = re.compile(r" ?(?:%|percent\b)", re.IGNORECASE)
_OF = re.compile(r" ?(?:/|out of\b) ?(?P<most>\d+)(?!\d|[.,]\d)", re.IGNORECASE)
_ENDS = re.compile(r"$|[ .,;:!(\[|-]|(?<=[>\])}])")  # what may directly follow the number
_REFUSAL = re.compile(
    r"\b(?:i am|i['’]m|we are|we['’]re) (?:very |truly )?(?:sorry|unable|not able)\b"
    r"|\b(?:i|we) (?:cannot|can['’]?t|can not|won['’]?t|will not) [a-z]"
    r"|\bas an ai\b|\bunable to [a-z]",
    re.IGNORECASE,
)


def read(text: str, *, finish: str = "", lenient: bool = False) -> Rating:
    r"""Returns the score from 1 to 10 that an answer states, as `Score: 8`.

    Accepted are other letter cases, spaces, emphasis, brackets, full-width digits, `8/10`, `\\boxed{8}`, and text after
    thinking. A decimal counts if it equals a whole number (`8.0`); any other is not an integer. The same score stated
    twice counts once; different scores, a range or an alternative are "several". `finish` is how the answer ended
    (Reply.finish): if it was truncated, a score counts only in a complete line at its beginning. `lenient`: if the form
    is missing, a bare number and a sentence such as `The score is 8.` count too, and decimals are rounded, halves up.
    """
    if finish == REFUSAL:
        return Rating(problem="refused")
    said = final(text, finish=finish)
    if said is None:
        return Rating(problem="truncated")
    plain = _SPACES.sub(" ", _FORM.sub("", said.translate(_PLAIN)))
    ratings = list(_ratings(plain, _STATED))
    begins = (ratings and _BEGINS.match(plain)) or (lenient and _BEGINS_ALONE.match(plain))
    if finish == LENGTH and not begins:
        return Rating(problem="truncated")
    if not ratings and _REFUSAL.search(plain):
        return Rating(problem="refused")
    if lenient and all(rating.problem == "not an integer" for rating in ratings):
        ratings = list(_ratings(plain, _LOOSELY, rounded=True))
    if not ratings:
        return Rating(problem="missing")
    return ratings[0] if all(rating == ratings[0] for rating in ratings) else Rating(problem="several")


def _ratings(text: str, form: re.Pattern[str], *, rounded: bool = False) -> Iterator[Rating]:
    """Yields each stated score that has digits, read from the colon to the reason or the end of the line."""
    stated = list(form.finditer(text))
    for match, following in zip_longest(stated, stated[1:]):
        line = text[match.end() : following.start() if following else len(text)].lstrip().partition("\n")[0]
        reason = _REASON.search(line)
        line = line[: reason.start()] if reason else line
        if _NUMBERS.search(line):
            yield _rating(line.rstrip(), rounded=rounded)


def _rating(line: str, *, rounded: bool) -> Rating:
    """Returns the number at the beginning of a line, unless the text after it contradicts it."""
    number = _NUMBER.match(line)
    if number is None:
        return Rating(problem="several" if len(set(_NUMBERS.findall(line))) > 1 else "missing")
    rest = line[number.end() :]
    scale = _OF.match(rest)
    if _OTHER_SCALE.match(rest) or (scale and scale["most"].lstrip("0") != "10"):
        return Rating(problem="out of range")
    rest = rest[scale.end() :] if scale else rest
    if _NUMBERS.search(rest):
        return Rating(problem="several")
    part = number["part"]
    is_whole = not part.strip(".0") or (rounded and not (part[0] == "," and len(part) == 4))  # thousands
    if not is_whole or not _ENDS.match(rest):
        return Rating(problem="not an integer")
    if len(number["whole"]) > LONGEST:
        return Rating(problem="out of range")
    value = float(number["sign"] + number["whole"] + part.replace(",", "."))
    return Rating(value=math.floor(value + 0.5)) if 1 <= value <= 10 else Rating(problem="out of range")
