"""OpenCLIP's tokens in little time. Reference: the library's own tokenizer, on every text whole."""

from __future__ import annotations

import random
from functools import cache

import open_clip
import pytest
from open_clip.tokenizer import HFTokenizer, SimpleTokenizer

from compute.models.encoders.open_clip_tokens import merged, tokens_of

# First and last letter of scripts with words apart, without, from right to left, with marks, and of signs.
SCRIPTS = {
    "latin": (0x61, 0x7A),
    "accents": (0xC0, 0x17F),
    "greek": (0x391, 0x3C9),
    "cyrillic": (0x410, 0x44F),
    "hebrew": (0x5D0, 0x5EA),
    "arabic": (0x620, 0x64A),
    "devanagari": (0x905, 0x94D),
    "thai": (0x0E01, 0x0E3A),
    "tibetan": (0x0F40, 0x0FBC),
    "kana": (0x3041, 0x30FF),
    "chinese": (0x4E00, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "marks": (0x300, 0x36F),
    "digits": (0x30, 0x39),
    "signs": (0x21, 0x2F),
    "emoji": (0x1F600, 0x1F64F),
    "math": (0x1D400, 0x1D7FF),
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


def test_words_are_merged_as_by_the_library_whatever_the_order_of_the_merges() -> None:
    """The library's steps on merges that no training gives: a later one may make what an earlier one joins."""
    draw = random.Random(2)
    for _ in range(300):
        parts = ["a", "b", "c", "a</w>", "b</w>", "c</w>"]
        merges = {}
        for rank in range(40):
            pair = draw.choice(parts), draw.choice(parts)
            if "</w>" not in pair[0]:
                merges.setdefault(pair, rank)
                parts.append("".join(pair))
        merges = dict(zip(draw.sample(list(merges), len(merges)), range(len(merges)), strict=True))
        library = SimpleTokenizer.__new__(SimpleTokenizer)
        library.bpe_ranks, library.cache = merges, {}
        for _ in range(10):
            word = "".join(draw.choices("abc", k=draw.choice((1, 2, 5, 40))))
            assert " ".join(merged(word, merges)) == library.bpe(word), (word, merges)


def test_other_tokenizers_of_the_library_are_called_as_they_are() -> None:
    calls = []

    class Own(HFTokenizer):
        def __init__(self) -> None:
            pass

        def __call__(self, texts: list[str], context_length: int | None = None):  # noqa: ANN204
            calls.append(texts)
            return tokenizers()["short"](texts)

    assert tokens_of(Own())("a cat") == open_clip.tokenize(["a cat"], context_length=8)[0].tolist()
    assert calls == [["a cat"]]
