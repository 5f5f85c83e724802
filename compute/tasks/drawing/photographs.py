"""The free photographs that scikit-image carries, cut into backgrounds."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from PIL import Image

from compute.types import NotHere
from compute.versions import install_command

SHORT_SIDE = 192  # pixels a photograph is stored at
# Training looks at the left part of a photograph only, evaluation at the right: no pixel is in both.
PARTS = {"train": (0.0, 0.6), "test": (0.6, 1.0)}


def photo_path(name: str) -> Path:
    """The path of a photograph in scikit-image's package. Raises NotHere where it is missing."""
    package = importlib.util.find_spec("skimage")
    path = Path(package.submodule_search_locations[0]) / "data" / name if package else Path(name)
    if not path.is_file():
        raise NotHere(f"scikit-image's photograph {name} is missing: {install_command('scikit-image')}")
    return path


@cache
def photograph(name: str, part: str) -> Image.Image:
    """One part (a key of PARTS) of a photograph, RGB. Raises NotHere where scikit-image's files are missing."""
    with Image.open(photo_path(name)) as stored:
        whole = stored.convert("RGB")
    scale = SHORT_SIDE / min(whole.size)
    whole = whole.resize((round(whole.width * scale), round(whole.height * scale)), Image.Resampling.LANCZOS)
    left, right = PARTS[part]
    return whole.crop((round(left * whole.width), 0, round(right * whole.width), whole.height))


def cut(name: str, *, part: str, x: float, y: float, side: float, size: int) -> Image.Image:
    """A square of the part, `side` of its shorter edge wide, at (x, y) of what room is left; all shares in 0..1."""
    source = photograph(name, part)
    width = side * min(source.size)
    left, top = x * (source.width - width), y * (source.height - width)
    return source.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + width, top + width))
