"""Photographs that scikit-image's package carries, as RGB images."""

from __future__ import annotations

from PIL import Image

from compute.live.examples import photo_path

FILES = {"cat": "chelsea.png", "coffee": "coffee.png", "rocket": "rocket.jpg", "astronaut": "astronaut.png"}


def photograph(name: str) -> Image.Image:
    with Image.open(photo_path(FILES[name])) as stored:
        return stored.convert("RGB")
