"""Parsing of a judge's answer to a question with options: one clear option, or nothing.

Nothing is guessed: an answer that names two options, names none, or hedges counts as unread rather than for either side
(FACTS, Known faults of the published evaluation).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence

from compute.content.messages import LENGTH, REFUSAL, final

_OFFERED = re.compile(r"\(?([A-H])\)?[.:]?\s*(.*)", re.DOTALL)
_TAG = re.compile(r"</?[a-z_|]+/?>", re.IGNORECASE)
_JSON = re.compile(r"\{[^{}]*\}")
_FENCE = re.compile(r"```(?:[a-z]{2,}(?=\s))?")
_MARKS = str.maketrans("", "", '*_`"“”«»#$')

# What may precede an option in a line that is only an answer.
_LEAD = (
    r"((?:(?:so|thus|hence|therefore),?\s++)?"
    r"(?:(?:the|my)\s++)?(?:(?:correct|right|final|best)\s++)?(?:answer|option|choice)?(?:\s+(?:is|would be))?"
    r"\s*+(?:[:=-]\s*+)?(?:(?:option|choice)\s++)?)"
)
_LETTER = r"(\(\s*[A-Za-z]\s*\)|\[{1,2}\s*[A-Za-z]\s*\]{1,2}|(?<![A-Za-z])[A-Za-z](?![A-Za-z]))"
_ANSWER = re.compile(rf"{_LEAD}{_LETTER}\s*+[.:,)-]?\s*+([A-Za-z]+\s+\d+)?\s*+[.!]?", re.IGNORECASE)
_LABEL = re.compile(rf"{_LEAD}([A-Za-z]+\s+\d+)\s*[.!]?", re.IGNORECASE)
# An answer and its explanation on one line; a sentence about the letter is read as a sentence.
_HEAD = re.compile(
    rf"((?i:{_LEAD})(?:\([A-H]\)|[A-H][.)])(?:\s+[A-Za-z]+\s+\d+)?)[.,:;]?\s++"
    r"((?:because|since|as|due|it|its|the|this)\b.+|(?![A-Za-z]+\s+\d)[^a-z].+)"
)

# Single letters in a sentence, with or without brackets.
_LETTERS = re.compile(r"(?<![A-Za-z’'])[A-H](?![A-Za-z’'])")
_ARTICLE = re.compile(r"(?:^|(?<=[.:!?]\s))A(?=\s+(?!(?:is|has|looks|appears|seems)\b)[a-z]{2})")

# Phrases that choose an option (`@`). A sentence that only describes an option chooses nothing.
_BETTER = (
    r"(?:(?:more|most) )?(?:similar|alike|aligned|consistent|accurate)|more like|better|best|closer|closest|nearer"
    r"|nearest|correct|answer|choice"
)
_SEEN = (  # not an answer if similarity to a reference is asked for
    r"(?:sharp|bright|clear)(?:er|est)|(?:more|most) (?:sharp|bright|colou?rful|contrasted|vivid|saturated)"
    r"|(?:more|most|higher|highest|greater) (?:contrast|quality|colou?rs?|details?|sharpness|brightness)"
    r"|odd[- ]one|outlier"
)
_CHOOSES = re.compile(
    r"\b(?:choose|pick|select|prefer|favou?r|go with|vote for) (?:option |the )*@"
    r"|\b(?:answer|choice|odd one(?: out)?|odd-one-out|outlier|(?:better|best|closer|closest|similar|aligned)"
    r"(?: (?:one|image|caption|match))?)(?: (?:to|with) the (?:reference|first|original)(?: image)?)?"
    r"(?: (?:is|would be))? ?:? ?@"
    r"|@ (?:is|looks|appears|seems|has|would be)(?: (?:to be|to have|of|the|an?|my|much|far|clearly|slightly|visually"
    rf"|overall|one|image|option|caption|that|is))* (?:{_BETTER}|(?P<seen>{_SEEN}))\b"
    r"|@ (?:(?:better|best|more|most|closely|clearly) )*"
    r"(?:matches|resembles|fits|describes|aligns with|corresponds to) the\b",
    re.IGNORECASE,
)

# Words that retract or reverse an answer, or say that there is none: a sentence with any of them is not read.
_DOUBT = re.compile(
    r"\b(?:not?|nor|neither|none|never|both|either|or|cannot|can['’]?t|unable|sorry|unclear|unsure|uncertain|maybe|perhaps|"
    r"possibly|might|impossible|difficult|hard to|equal(?:ly)?|same|tie|identical|less|least|worse|worst|lower|lowest|"
    r"poor\w*|except|but|while|whereas|although|though|however|rather than|instead|incorrect|wrong)\b|\wn['’]t\b",
    re.IGNORECASE,
)
# The subset of these words that, in an explanation after a clear answer, retracts it.
_TURN = re.compile(
    r"\b(?:actually|wait|however|correction|on second thought|instead|sorry|cannot|can['’]?t|unable|"
    r"not sure|unclear|both|neither|none of|equal(?:ly)?|identical|incorrect|wrong)\b",
    re.IGNORECASE,
)


def read(text: str, choices: Sequence[str], *, finish: str = "") -> int | None:
    """Returns the index of the option in `choices` (`(A) Image 2`, ..., or a bare letter) that a text chooses, or None.

    These are read: a line that is only an answer (`A`, `(A)`, `a.`, `Answer: (B)`, `**B**`, `B) Image 3`, `{"answer":
    "B"}`, `Image 2` if an option has this name), alone or with an explanation that does not contradict it; or one line
    that names exactly one option, chooses it, and has no word of doubt, negation or reversal. Thinking is skipped. If
    an answer was truncated (`finish`, as Reply.finish), only an option at its beginning is read.
    """
    offered, said = _offered(choices), final(text, finish=finish)
    if not offered or said is None or finish == REFUSAL:
        return None
    lines = [line for line in map(str.strip, _plain(_JSON.sub(_of_json, said)).split("\n")) if line]
    answers = [(part, _answer(part, offered)) for line in lines for part in _split(line, offered)]
    if finish == LENGTH and not (answers and answers[0][1] is not None):
        return None
    if any(option is not None for _, option in answers):
        return _agreed(answers, offered)
    if len(lines) != 1 or _DOUBT.search(lines[0]):
        return None
    return _chosen(lines[0], _only(_named(lines[0], offered) | _labels(lines[0], offered)), offered)


def _chosen(line: str, option: int | None, offered: dict[str, tuple[int, str]]) -> int | None:
    """Returns the only option that a line names, if the line chooses it."""
    names = {index: rf"{letter}|(?i:{re.escape(label or letter)})" for letter, (index, label) in offered.items()}
    if option is None:
        return None
    marked = re.sub(rf"[(\[]?\b(?:{names[option]})\b[)\]]?", "@", " ".join(line.split()))
    chooses = _CHOOSES.search(re.sub("@(?: @)+", "@", marked))
    is_compared = not any(label.endswith(" 1") for _, label in offered.values())
    return option if chooses and not (chooses["seen"] and is_compared) else None


def _of_json(match: re.Match[str]) -> str:
    """Returns an object's answer as a separate line; text that is not JSON, or has not exactly one answer, is
    unchanged.
    """
    try:
        found = json.loads(match[0])
    except ValueError:
        return match[0]
    given = [value for key, value in found.items() if re.search(r"answer|choice|option", key, re.IGNORECASE)]
    return f"\nAnswer: {given[0]}\n" if len(given) == 1 and isinstance(given[0], str) else match[0]


_NOT_OFFERED = -1


def _offered(choices: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Maps letters to index and lower-case label."""
    options = {}
    for index, choice in enumerate(choices):
        match = _OFFERED.fullmatch(choice.strip())
        if match:
            options[match[1]] = index, _one_space(match[2])
    return options


def _plain(text: str) -> str:
    """Normalises letters and brackets; removes emphasis, fences, tags and invisible characters."""
    text = unicodedata.normalize("NFKC", _FENCE.sub("", text))
    text = "".join(sign for sign in text if sign == "\n" or unicodedata.category(sign) not in ("Cf", "Cc"))
    text = re.sub(r"\\(?:boxed|text|mathrm)\b|[{}]", "", text)
    return _TAG.sub(" ", text).translate(_MARKS).strip()


def _split(line: str, offered: dict[str, tuple[int, str]]) -> list[str]:
    """Returns a line as it is, or split into the answer at its beginning and the rest."""
    match = _HEAD.fullmatch(line)
    return [match[1], match[3]] if match and _answer(line, offered) is None else [line]


def _answer(line: str, offered: dict[str, tuple[int, str]]) -> int | None:
    """Returns the option that makes up a whole line; `_NOT_OFFERED` for a letter outside the options; None for other
    text.
    """
    match = _ANSWER.fullmatch(line)
    if match:
        lead, mark, label = match.groups()
        letter = mark.strip("()[] ")
        if mark == "a" and lead.strip() and not lead.rstrip().endswith((":", "=", "-")):
            return None  # `The answer is a` may begin a longer sentence
        if letter.isupper() or letter.upper() in offered:
            option = _option_index(letter.upper(), offered)
            right = option != _NOT_OFFERED and (not label or _one_space(label) == offered[letter.upper()][1])
            return option if right else _NOT_OFFERED
    match = _LABEL.fullmatch(line)
    return _only(_labels(match[2], offered)) if match else None


def _agreed(answers: Sequence[tuple[str, int | None]], offered: dict[str, tuple[int, str]]) -> int | None:
    """Returns the single option of all answering lines, unless another line contradicts or retracts it."""
    options = {option for _, option in answers if option is not None}
    for line, option in answers:
        if option is None:
            if _TURN.search(line):
                return None
            options |= _named(_ARTICLE.sub("", line), offered)
    return _only(options)


def _named(text: str, offered: dict[str, tuple[int, str]]) -> set[int]:
    return {_option_index(letter, offered) for letter in _LETTERS.findall(text)}


def _labels(text: str, offered: dict[str, tuple[int, str]]) -> set[int]:
    spaced = _one_space(text)
    return {option for option, label in offered.values() if label and re.search(rf"\b{re.escape(label)}\b", spaced)}


def _option_index(letter: str, offered: dict[str, tuple[int, str]]) -> int:
    return offered[letter][0] if letter in offered else _NOT_OFFERED


def _only(options: set[int]) -> int | None:
    """Returns the only member of a set, unless it is an option that was not offered."""
    return next(iter(options)) if len(options) == 1 and _NOT_OFFERED not in options else None


def _one_space(text: str) -> str:
    return " ".join(text.lower().split())
