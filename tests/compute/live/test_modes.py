"""Which mode fits what was dropped, and who can answer."""

from __future__ import annotations

import pytest

from compute.catalog import shipped
from compute.live import modes
from compute.types import BadInput

I, T = "image", "text"  # noqa: E741


@pytest.mark.parametrize(
    ("kinds", "mode"),
    [
        ((), ""),
        ((T,), ""),
        ((I,), "quality"),
        ((I, I), "pair"),
        ((I, T), "pair"),
        ((T, T), "pair"),
        ((I, I, I), "choice"),
        ((I, T, T), "choice"),
        ((T, I, I), "choice"),
        ((T, T, T), "choice"),
        ((I, I, T), ""),
        ((I,) * 9, "choice"),
        ((I,) * 10, ""),
    ],
)
def test_the_mode_follows_from_what_was_dropped(kinds: tuple[str, ...], mode: str) -> None:
    assert modes.natural(kinds) == mode
    assert bool(modes.needs(kinds)) == (mode == "")


def test_a_mode_says_what_it_takes() -> None:
    assert modes.problem("odd", (I, I)) == "It takes at least 3 inputs"
    assert modes.problem("odd", (I, I, T)) == "It takes images only"
    assert modes.problem("odd", (I,) * 9) == "It takes at most 8 inputs"
    assert modes.problem("choice", (I, I, T)) == "The alternatives must be all images or all texts"
    assert modes.problem("quality", (I,)) == ""
    with pytest.raises(BadInput, match="no mode 'guess'; there are: pair, choice, odd, quality"):
        modes.problem("guess", (I,))


ROWS = {row.key: row for row in shipped().models}


@pytest.mark.parametrize(
    ("key", "mode", "kinds", "able"),
    [
        ("tiny", "pair", (I, T), True),
        ("tiny", "pair", (T, T), True),
        ("tiny", "quality", (I,), True),
        ("ssim", "pair", (I, I), True),
        ("ssim", "pair", (I, T), False),
        ("ssim", "quality", (I, I), False),
        ("ssim", "odd", (I, I, I), True),
        ("colour-histogram", "quality", (I,), False),
        ("thudm/imagereward", "choice", (T, I, I), True),
        ("thudm/imagereward", "choice", (I, I, I), True),
        ("thudm/imagereward", "choice", (I, T, T), True),
        ("thudm/imagereward", "pair", (T, T), False),
        ("dreamsim-open-clip-vitb32", "quality", (I,), False),
        ("dreamsim-open-clip-vitb32", "pair", (I, T), False),
        ("aesthetic", "quality", (I,), True),
        ("aesthetic", "pair", (I, I), False),
        ("gpt-4o-2024-11-20", "choice", (I, T, T), True),
        ("gpt-4o-2024-11-20", "quality", (I,), False),
        ("gpt-4o-2024-11-20", "pair", (T, T), False),
        ("gpt-4o-2024-11-20", "quality", (I, I), True),
        ("facebook/dinov2-small", "odd", (I, I, I), True),
        ("facebook/dinov2-small", "pair", (I, T), False),
        ("google/t5-v1_1-base", "pair", (T, T), True),
        ("google/t5-v1_1-base", "pair", (I, I), False),
    ],
)
def test_who_can_answer(key: str, mode: str, kinds: tuple[str, ...], able: bool) -> None:
    assert (modes.cannot(ROWS[key], mode, kinds) == "") == able
