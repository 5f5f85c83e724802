"""Generators that are drawing procedures with one known fault each, at graded strength: a truth to test metrics on.

A prompt names things; its reference image is one scene drawn to it. A generator draws another scene to the same prompt,
and then goes wrong in one way: in all images by a growing degree (blur, noise, colour), or in a growing share of the
prompts (the others). The prompts that a share covers are nested: a stronger fault keeps all of a weaker one. Strength 0
is no fault: a second draw to the same prompts. All synthetic; images are drawn when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from random import Random

import numpy as np

from compute.content.items import Column, content_key, texts
from compute.tasks.drawing import distortions, prompts
from compute.tasks.drawing.prompts import Prompt
from compute.tasks.drawing.render import Pixels, draw
from compute.tasks.drawing.scenes import Background, Scene
from compute.tasks.mini.album import lots, names, png
from compute.types import BadInput

VERSION = 1  # part of what a run records: raise it when any image changes
NAME = "generators"
PROMPTS = 256  # twice the text dimension of the bundled encoder, which cFreD needs
STRENGTHS = (1, 2, 3, 4)
SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)  # of the prompts that a fault covers, by strength
WARMTH = (0, 10, 22, 40, 64)  # grey levels by which red rises and blue falls, by strength
ONE_GROUND = ("white", "black", "cyan", "pink")  # a prompt names three colours at most
CLEAN = "clean"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to go wrong. `image(row, strength)` gives (64, 64, 3) of one prompt; `grades` says each strength."""

    key: str
    title: str
    what: str  # a clause: what is wrong with the images
    grades: tuple[str, ...]  # of the strengths 1..4
    image: Callable[[int, int], Pixels]


@dataclass(frozen=True, kw_only=True)
class Generator:
    """One fault at one strength; strength 0 is the clean generator, which has no fault."""

    fault: str  # a key of FAULTS; CLEAN at strength 0
    strength: int

    @property
    def key(self) -> str:
        """`clean`, `blur-3`."""
        return CLEAN if self.strength == 0 else f"{self.fault}-{self.strength}"

    @property
    def model_key(self) -> str:
        """The key of the generator in the catalogue."""
        return f"mini/{self.key}"

    @property
    def title(self) -> str:
        """`Drawn 0: clean`, `Drawn 3: blur`: the strength first, as narrow columns cut the end off."""
        return f"Drawn {self.strength}: {FAULTS[self.fault].title.lower() if self.strength else CLEAN}"

    @property
    def note(self) -> str:
        """What the generator does, as a sentence."""
        if self.strength == 0:
            return "Draws another scene to every prompt, without a fault."
        fault = FAULTS[self.fault]
        return f"{fault.what[0].upper()}{fault.what[1:]}: {fault.grades[self.strength - 1]}."


@cache
def all_prompts() -> tuple[Prompt, ...]:
    """PROMPTS different prompts."""
    made: dict[str, Prompt] = {}
    rng = lots(f"{NAME} prompts", 0)
    while len(made) < PROMPTS:
        prompt = prompts.prompt(rng)
        made.setdefault(prompt.text, prompt)
    return tuple(made.values())


@lru_cache(maxsize=4 * PROMPTS)
def scene(row: int, purpose: str) -> Scene:
    """The scene of a prompt for a purpose, `reference` or `clean`: the same prompt, other random numbers."""
    return prompts.drawn(all_prompts()[row], lots(f"{NAME} {purpose}", row))


def reference_image(row: int) -> Pixels:
    """(64, 64, 3): the reference of a prompt."""
    return draw(scene(row, "reference"))


def clean_image(row: int) -> Pixels:
    """(64, 64, 3): the clean generator's image of a prompt."""
    return draw(scene(row, "clean"))


@cache
def _order(fault: str) -> tuple[int, ...]:
    """Every prompt's rank in the order in which a fault of growing share reaches them."""
    order = list(range(PROMPTS))
    Random(f"mini {NAME} order {fault}").shuffle(order)
    ranks = [0] * PROMPTS
    for rank, row in enumerate(order):
        ranks[row] = rank
    return tuple(ranks)


def reached(fault: str, row: int, strength: int) -> bool:
    """Whether a fault of this strength covers the prompt."""
    return _order(fault)[row] < round(SHARES[strength] * PROMPTS)


def _distorted(kind: str, row: int, strength: int) -> Pixels:
    return distortions.distort(clean_image(row), kind=kind, strength=strength, seed=row)


def _warm(row: int, strength: int) -> Pixels:
    cast = np.array([WARMTH[strength], 0, -WARMTH[strength]])
    return np.clip(clean_image(row).astype(int) + cast, 0, 255).astype(np.uint8)


def _collapsed(row: int, strength: int) -> Pixels:
    """The prompt's things on the one background that is left."""
    return draw(_collapsed_scene(row)) if reached("modes", row, strength) else clean_image(row)


@lru_cache(maxsize=PROMPTS)
def _collapsed_scene(row: int) -> Scene:
    """On white; on the next of ONE_GROUND where a thing has that colour."""
    prompt = all_prompts()[row]
    taken = {colour for _, colour in prompt.kinds}
    colour = next(colour for colour in ONE_GROUND if colour not in taken)
    ground = Background(first=colour, second=colour)
    return prompts.drawn(prompt, lots(f"{NAME} modes", row), ground=lambda rng: ground)


def _swapped(row: int, strength: int) -> Pixels:
    """The image of the next prompt in the order, round the covered ones: the set of images stays as it was."""
    count = round(SHARES[strength] * PROMPTS)
    rank = _order("prompts")[row]
    if rank >= count:
        return clean_image(row)
    return clean_image(_order("prompts").index((rank + 1) % count))


def _fewer(row: int, strength: int) -> Pixels:
    """The clean scene with its first thing alone."""
    shown = scene(row, "clean")
    if reached("objects", row, strength):
        shown = replace(shown, things=shown.things[:1])
    return draw(shown)


def _copied(row: int, strength: int) -> Pixels:
    return reference_image(row) if reached("copies", row, strength) else clean_image(row)


_COVERED = tuple(f"{share:.0%} of the prompts" for share in SHARES[1:])
FAULTS: dict[str, Fault] = {
    fault.key: fault
    for fault in (
        Fault(
            key="blur",
            title="Blur",
            what="images are blurred",
            grades=tuple(f"a radius of {level:g} of 64 pixels" for level in distortions.LEVELS["blur"][:4]),
            image=lambda row, strength: _distorted("blur", row, strength),
        ),
        Fault(
            key="noise",
            title="Noise",
            what="images are noisy",
            grades=tuple(f"a deviation of {level:g} grey levels" for level in distortions.LEVELS["noise"][:4]),
            image=lambda row, strength: _distorted("noise", row, strength),
        ),
        Fault(
            key="colour",
            title="Colour shift",
            what="images are too warm",
            grades=tuple(f"red raised and blue lowered by {level} grey levels" for level in WARMTH[1:]),
            image=_warm,
        ),
        Fault(
            key="modes",
            title="Dropped modes",
            what="the background is always the same",
            grades=_COVERED,
            image=_collapsed,
        ),
        Fault(
            key="prompts",
            title="Swapped prompts",
            what="images belong to other prompts",
            grades=_COVERED,
            image=_swapped,
        ),
        Fault(
            key="objects",
            title="Fewer objects",
            what="all things but one are missing",
            grades=_COVERED,
            image=_fewer,
        ),
        Fault(
            key="copies",
            title="Memorised copies",
            what="images are copies of the reference",
            grades=_COVERED,
            image=_copied,
        ),
    )
}
GENERATORS: tuple[Generator, ...] = (
    Generator(fault=CLEAN, strength=0),
    *(Generator(fault=fault, strength=strength) for fault in FAULTS for strength in STRENGTHS),
)
BY_KEY: Mapping[str, Generator] = {generator.key: generator for generator in GENERATORS}


def generator(key: str) -> Generator:
    """The generator of that key. Raises BadInput."""
    if key not in BY_KEY:
        raise BadInput(f"There is no drawn generator {key!r}; there are: {', '.join(BY_KEY)}")
    return BY_KEY[key]


def text_column(*, prefix: str = "") -> Column:
    """The prompts, in order, each after the prefix."""
    return texts([prefix + prompt.text for prompt in all_prompts()], of=f"mini/{NAME}, prompt")


def reference_column() -> Column:
    """One reference image a prompt."""
    return _column(reference_image, of="reference")


def image_column(generator: Generator) -> Column:
    """One image of the generator a prompt."""
    if generator.strength == 0:
        return _column(clean_image, of=CLEAN)
    fault = FAULTS[generator.fault]
    return _column(lambda row: fault.image(row, generator.strength), of=generator.key)


def faultless_column(number: int) -> Column:
    """Another draw to the prompts without a fault: as good as the reference or the clean generator's images."""
    purpose = f"faultless {number}"
    return _column(lambda row: draw(scene(row, purpose)), of=purpose)


def item_names() -> tuple[str, ...]:
    """A name a prompt."""
    return names(PROMPTS)


def _column(image: Callable[[int], Pixels], *, of: str) -> Column:
    """Images that are drawn twice, for their content keys and when they are read, and never all in memory."""

    def read(row: int) -> bytes:
        return png(image(row))

    return Column(
        modality="image",
        keys=np.array([content_key(read(row)) for row in range(PROMPTS)], dtype="S32"),
        read=read,
        name=lambda row: f"mini/{NAME}, {of}, image {row}",
    )
