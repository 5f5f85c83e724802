"""OpenCLIP's tokenizers with the same tokens in little time, however long a word is.

The library's own byte-pair encoding passes over a whole word for each of its merges: 100,000 letters without a space
take a minute. Here a merge touches only the pairs next to it, and words after the last token that counts are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any

CACHED = 20_000  # words whose tokens are stored
SHORT = 40  # characters of such a word


def tokens_of(tokenizer: Any) -> Callable[[str], list[int]]:
    """A function from a text to its tokens, padded to the tokenizer's context length: what the library's own gives."""
    from open_clip.tokenizer import SimpleTokenizer

    plain = isinstance(tokenizer, SimpleTokenizer) and tokenizer.reduction_fn is None
    return _Tokens(tokenizer) if plain else lambda text: tokenizer([text])[0].tolist()


class _Tokens:
    """The tokens of a SimpleTokenizer's texts."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._special = {tokenizer.decoder[token] for token in tokenizer.all_special_ids}
        self._short = lru_cache(CACHED)(self._ids)

    def __call__(self, text: str) -> list[int]:
        own = self._tokenizer
        ids = [own.sot_token_id]
        for word in own.pat.finditer(own.clean_fn(text)):
            if len(ids) >= own.context_length:
                break
            ids += self._short(word[0]) if len(word[0]) <= SHORT else self._ids(word[0])
        ids = [*ids[: own.context_length - 1], own.eot_token_id]
        return ids + [0] * (own.context_length - len(ids))

    def _ids(self, word: str) -> tuple[int, ...]:
        own = self._tokenizer
        letters = "".join(own.byte_encoder[byte] for byte in word.encode("utf-8"))
        parts = [letters] if letters in self._special else merged(letters, own.bpe_ranks)
        return tuple(own.encoder[part] for part in parts)


def merged(word: str, ranks: dict[tuple[str, str], int]) -> Sequence[str]:
    """The parts of a word by byte-pair encoding (Sennrich et al. 2016, section 3.2): of all pairs of neighbours the one
    of the lowest rank is joined wherever it stands, from left to right, then the next. The last letter ends the word.
    """
    parts: list[str] = [*word[:-1], f"{word[-1]}</w>"]
    before, after = list(range(-1, len(parts) - 1)), list(range(1, len(parts) + 1))  # indices of a part's neighbours
    positions: dict[int, list[int]] = defaultdict(list)  # where the left part of a pair stands, by the pair's rank
    for at, pair in enumerate(zip(parts, parts[1:], strict=False)):
        if pair in ranks:
            positions[ranks[pair]].append(at)
    heap = sorted(positions)
    while heap:
        rank = heappop(heap)
        new = set()  # parts that this rank made
        for at in sorted(positions.pop(rank)):
            right = after[at]
            if right == len(parts) or ranks.get((parts[at], parts[right])) != rank:
                continue  # one of the two is part of another by now
            parts[at] += parts[right]
            parts[right] = ""
            after[at] = after[right]
            if after[at] < len(parts):
                before[after[at]] = at
            new.add(at)
        for at in new:
            for left in {before[at], at} - {-1}:
                right = after[left]
                other = ranks.get((parts[left], parts[right])) if right < len(parts) else None
                if other is not None:
                    if other not in positions:
                        heappush(heap, other)
                    positions[other].append(left)
    return [part for part in parts if part]
