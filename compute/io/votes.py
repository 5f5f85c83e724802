"""Votes between two, of people or of judges: their columns (also LMArena's), and which of the two a vote is for."""

from __future__ import annotations

import re

from compute.io.forms import Form, FormField
from compute.types import BadInput, shortened

FIRST, SECOND = FormField("first", ("model_a", "left")), FormField("second", ("model_b", "right"))
VOTES = Form("votes", (FIRST, SECOND, FormField("choice", ("winner", "vote"))))
TIES = (
    *("tie", "tied", "tie (bothbad)", "tie bad", "tie good", "bothbad", "both bad", "both good", "both", "equal"),
    *("neither", "same", "draw", "unsure", "cannot tell", "can't tell"),
)
ANSWERS = ("first", "second", "both good", "both bad", "tie")  # as stored
PLACES = SIDES, NUMBERS, *_ = (("left", "right"), ("1", "2"), ("first", "second"), ("a", "b"))  # names of the two
CHOSEN = re.compile(r"(?:(?:image|model|option|alternative) ?)?([\w-]+?)(?:\.0+)?(?: image| ?vote)?")


def word(vote: str) -> str:
    """Returns the decisive word of a vote: `Image 1`, `model_1` and `1.0` are 1."""
    text = re.sub(r"(?<=\w)[\s_]+(?=\w)", " ", vote.lower())
    found = CHOSEN.fullmatch(text)
    return found[1] if found else text


def side(vote: str) -> int | None:
    """Returns which of two a vote is for, 0 or 1, None for neither. Raises BadInput for anything else."""
    said = word(vote)
    if said in TIES:
        return None
    for pair in PLACES:
        if said in pair:
            return pair.index(said)
    raise BadInput(f"its choice {shortened(vote)!r} is not 1, 2, left, right, tie, or an alternative's name")


def answer(vote: str) -> str:
    """Returns the vote as one of ANSWERS. Raises BadInput for anything else."""
    place = side(vote)
    if place is not None:
        return ANSWERS[place]
    return next((kind for kind in ANSWERS[2:4] if kind.removeprefix("both ") in word(vote)), ANSWERS[-1])
