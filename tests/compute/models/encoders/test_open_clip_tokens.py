"""OpenCLIP's tokens in little time. Reference: the library's own tokenizer, on every text whole."""

from __future__ import annotations

import random
from functools import cache

import pytest
from open_clip.tokenizer import SimpleTokenizer

from compute.models.encoders.open_clip_tokens import tokens_of

# First and last letter of scripts with words apart, without, from right to left, with marks, and of signs.
SCRIPTS = {
    "latin": (0x61, 0x7A),
    "greek": (0x391, 0x3C9),
    "arabic": (0x620, 0x64A),
    "thai": (0x0E01, 0x0E3A),
    "chinese": (0x4E00, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "marks": (0x300, 0x36F),
    "digits": (0x30, 0x39),
    "signs": (0x21, 0x2F),
    "emoji": (0x1F600, 0x1F64F),
    "any": (0x80, 0xD7FF),
}
WORDS = [
    *("a", "photograph", "of", "the", "cat's", "mat,", "isn't", "it", "<end_of_text>", "<START_OF_TEXT>"),
    *("&amp;lt;", "&#x27;", "â€œquotedâ€\x9d", "ﬁsh"),
]


@cache
def tokenizers() -> dict[str, SimpleTokenizer]:
    made = {clean: SimpleTokenizer(clean=clean) for clean in ("lower", "canonicalize", "whitespace")}
    return made | {
        "short": SimpleTokenizer(context_length=8),
        "special": SimpleTokenizer(additional_special_tokens=["<mask>"]),
    }


def texts(count: int) -> list[str]:
    draw = random.Random(0)
    out = ["", " ", "\n", "a", *WORDS, " ".join(WORDS), "<mask> a <mask>"]
    while len(out) < count:
        pieces = []
        for _ in range(draw.choice((1, 3, 30))):
            low, high = draw.choice(list(SCRIPTS.values()))
            letters = "".join(chr(draw.randint(low, high)) for _ in range(draw.choice((1, 4, 12, 150))))
            pieces.append(draw.choice((letters, letters, draw.choice(WORDS), letters * 3, letters.upper())))
        out.append(draw.choice(("", " ", "  ", "\t", "-")).join(pieces))
    return out


@pytest.mark.parametrize("kind", ["lower", "canonicalize", "whitespace", "short", "special"])
def test_the_same_tokens_for_texts_of_all_scripts(kind: str) -> None:
    tokenizer = tokenizers()[kind]
    tokens = tokens_of(tokenizer)
    for text in texts(120):
        assert tokens(text) == tokenizer([text])[0].tolist(), ascii(text[:200])


def test_the_same_tokens_for_a_long_word() -> None:
    draw, tokenizer = random.Random(1), tokenizers()["lower"]
    for low, high in SCRIPTS.values():
        word = "".join(chr(draw.randint(low, high)) for _ in range(1500))
        assert tokens_of(tokenizer)(word) == tokenizer([word])[0].tolist(), hex(low)
    assert len(tokens_of(tokenizer)("a" * 100_000)) == 77, "which the library takes a minute for"
