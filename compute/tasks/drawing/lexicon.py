"""What scenes are made of, by name: the words that captions use."""

from __future__ import annotations

COLOURS = {
    "red": (205, 35, 35),
    "green": (40, 150, 60),
    "blue": (40, 70, 205),
    "yellow": (240, 220, 45),
    "orange": (240, 135, 25),
    "purple": (130, 50, 165),
    "pink": (245, 150, 190),
    "cyan": (60, 205, 215),
    "white": (248, 248, 248),
    "black": (15, 15, 15),
}
SHAPES = ("circle", "square", "triangle", "star", "cross", "ring", "heart", "moon")
SIZES = {"small": 0.11, "large": 0.17}  # half the width of a shape, as a share of the image
TEXTURES = ("plain", "stripes", "bars", "slants", "checks", "dots")
TEXTURE_TITLES = {
    "stripes": "horizontal stripes",
    "bars": "vertical bars",
    "slants": "diagonal stripes",
    "checks": "checks",
    "dots": "dots",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
OPPOSITE = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}

# Short words, so that two stand side by side on a line.
WORDS = (
    "cow",
    "dog",
    "sun",
    "lake",
    "tree",
    "fish",
    "bird",
    "ship",
    "king",
    "milk",
    "rain",
    "snow",
    "wolf",
    "frog",
    "lamp",
    "book",
    "door",
    "bell",
    "gold",
    "salt",
    "wet",
    "old",
    "big",
    "sad",
    "fast",
    "cold",
    "slow",
    "soft",
    "runs",
    "eats",
    "sees",
    "has",
    "jump",
    "hide",
    "sing",
    "wait",
)
CELLS = (4, 2)  # lines of a page, words a line
INKS = ("black", "blue", "red", "purple")
PAPERS = ("white", "yellow", "pink", "cyan")

# Photographs that come with scikit-image: file, and what a caption calls it.
PHOTOGRAPHS = {
    "astronaut.png": "an astronaut",
    "chelsea.png": "a cat",
    "coffee.png": "a cup of coffee",
    "rocket.jpg": "a rocket",
    "hubble_deep_field.jpg": "galaxies",
    "retina.jpg": "a retina",
    "camera.png": "a photographer",
    "grass.png": "grass",
    "gravel.png": "gravel",
    "brick.png": "bricks",
    "coins.png": "coins",
    "ihc.png": "tissue",
}

# Distortions by name and how a caption calls the result. Strengths run from 1, barely seen, to 5.
DAMAGES = {"blur": "blurry", "noise": "noisy", "blocks": "blocky", "pixels": "pixelated", "fade": "faded"}
TONES = {"darken": "dark", "lighten": "bright", "grey": "dull", "vivid": "colorful"}
DISTORTIONS = (*DAMAGES, *TONES)
