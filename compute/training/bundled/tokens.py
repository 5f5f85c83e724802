"""The bundled model's tokenizer: one token a word of its captions, bytes for everything else."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random

from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import caption, quality
from compute.tasks.drawing.lexicon import DISTORTIONS, NUMBERS
from compute.training.bundled.lessons import LESS, MORE

START, END = "<|startoftext|>", "<|endoftext|>"
LENGTH = 40  # tokens a text is cut to
SCENES = 5000  # whose captions give the words
EXTRA = (
    "how many are there where is the which what side of and shapes shape color question answer photo picture "
    "circle circles does say page with text words image drawing only a an it now"
)


def words() -> tuple[str, ...]:
    """Every word of the captions, sorted."""
    rng, vocabulary = Random("words"), set(NUMBERS)
    lines = [text for prompts in MORE for text in prompts] + [*LESS, EXTRA]
    lines += [caption(compose.scene(rng, part="train"), rng).text for _ in range(SCENES)]
    lines += [
        quality(rng, kind=kind, strength=strength).text
        for kind in ("", *DISTORTIONS)
        for strength in range(6)
        for _ in range(20)
    ]
    for line in lines:
        vocabulary |= set(re.findall(r"[a-z]+", line.lower()))
    return tuple(sorted(vocabulary))


def merges(vocabulary: tuple[str, ...]) -> list[tuple[str, str]]:
    """Byte-pair merges that make each word one token: the commonest pair first, ties in alphabetical order."""
    pieces = [[*word[:-1], word[-1] + "</w>"] for word in vocabulary]
    pairs = []
    while True:
        counts = Counter(pair for piece in pieces for pair in zip(piece, piece[1:], strict=False))
        if not counts:
            return pairs
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pairs.append(best)
        pieces = [_merged(piece, best) for piece in pieces]


def _merged(piece: list[str], pair: tuple[str, str]) -> list[str]:
    out: list[str] = []
    for part in piece:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


def byte_letters() -> list[str]:
    """The 256 printable letters that byte-level tokenizers write bytes with (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def write(folder: Path) -> int:
    """Writes vocab.json, merges.txt and tokenizer_config.json as CLIPTokenizer reads them; the number of tokens."""
    pairs = merges(words())
    letters = byte_letters()
    tokens = [*letters, *(letter + "</w>" for letter in letters), *dict.fromkeys(a + b for a, b in pairs), START, END]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: index for index, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    settings = {
        "tokenizer_class": "CLIPTokenizer",
        "model_max_length": LENGTH,
        "unk_token": END,
        "bos_token": START,
        "eos_token": END,
        "pad_token": END,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return len(tokens)
