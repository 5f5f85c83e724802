"""Building blocks of scenes, by name: the words used in captions."""

from __future__ import annotations

from compute.io.files import words_beside

_FILE = words_beside(__file__)
SHAPES, TEXTURES, NUMBERS, WORDS, INKS, PAPERS = (
    tuple(_FILE[name]) for name in ("shapes", "textures", "numbers", "words", "inks", "papers")
)
SIZES, TEXTURE_TITLES, OPPOSITE, PHOTOGRAPHS, DAMAGES, TONES = (
    _FILE[name] for name in ("sizes", "texture-titles", "opposite", "photographs", "damages", "tones")
)
COLOURS = {name: tuple(shades) for name, shades in _FILE["colours"].items()}
DISTORTIONS = (*DAMAGES, *TONES)
CELLS = (4, 2)  # lines per page, words per line
