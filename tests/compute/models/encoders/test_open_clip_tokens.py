"""OpenCLIP's tokens in little time. Reference: the library's own tokenizer, on every text whole."""

from __future__ import annotations

import random
import time
from functools import cache

import open_clip
import pytest
from open_clip.tokenizer import HFTokenizer, SimpleTokenizer

from compute.models.encoders import open_clip_tokens
from compute.models.encoders.open_clip_tokens import merged, tokens_of
from compute.types import BadInput

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
    for text in texts(400):
        assert tokens(text) == tokenizer([text])[0].tolist(), ascii(text[:200])


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_same_tokens_for_a_long_word(script: str) -> None:
    draw, (low, high) = random.Random(1), SCRIPTS[script]
    word = "".join(chr(draw.randint(low, high)) for _ in range(1500))
    tokenizer = tokenizers()["lower"]
    assert tokens_of(tokenizer)(word) == tokenizer([word])[0].tolist()


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


LONG = {
    "letters": "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=100_000)),
    "one letter": "a" * 100_000,
    "chinese": "".join(chr(random.Random(4).randrange(0x4E00, 0x9FFF)) for _ in range(100_000)),
    "emoji": "\U0001f600" * 100_000,
    "different emoji": "".join(chr(random.Random(5).randrange(0x1F300, 0x1F6FF)) for _ in range(100_000)),
    "spaces": " " * 100_000,
    "right-to-left marks": "\u200f" * 100_000,
    "digits": "1" * 100_000,
    "words": "a cat " * 16_000,
    "accents": "e\u0301" * 50_000,
    "wrongly decoded": "Ã©" * 50_000,
}


@pytest.mark.parametrize("kind", LONG)
def test_100_000_characters_take_no_time(kind: str) -> None:
    tokens = tokens_of(tokenizers()["lower"])
    started = time.thread_time()
    assert len(tokens(LONG[kind])) == 77
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\u0301\u0316" * 50_000, "2,000 combining marks"),
        ("a" + "Ì‚Ì–" * 25_000, "2,000 combining marks"),  # marks that were decoded wrongly
        ("&#" + "9" * 99_000, "HTML character number"),
        ("&amp;#" + "9" * 5000 + ";", "HTML character number"),
    ],
    ids=["marks", "marks wrongly decoded", "number", "number twice escaped"],
)
def test_what_the_clean_up_cannot_take_is_a_sentence(text: str, sentence: str) -> None:
    started = time.thread_time()
    with pytest.raises(BadInput, match=sentence):
        tokens_of(tokenizers()["lower"])(text)
    assert time.thread_time() - started < 2


def test_only_short_words_are_stored() -> None:
    tokens = tokens_of(SimpleTokenizer())
    draw = random.Random(6)
    for _ in range(50):
        tokens("".join(draw.choices("abcdefgh", k=3000)))
    tokens("a cat")
    (own,) = (
        cell.cell_contents for cell in tokens.__closure__ if isinstance(cell.cell_contents, open_clip_tokens._Tokens)
    )
    assert own._short.cache_info().currsize == 2 and set(own._tokenizer.cache) == own._special


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
