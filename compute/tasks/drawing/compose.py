"""Scenes as data: positions, and all facts that a caption may state. Scenes are random or slightly changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from compute.tasks.drawing.lexicon import CELLS, COLOURS, INKS, PAPERS, PHOTOGRAPHS, SHAPES, SIZES, TEXTURES, WORDS

APART = 0.12  # share of the image by which two centres must differ to state a relation
EIGHTHS = 8  # number of parts that all scenes are divided into; one is reserved for evaluation
COLOUR_NAMES, _PHOTOGRAPHS = tuple(COLOURS), tuple(PHOTOGRAPHS)
GRID = tuple(eighth / 8 for eighth in range(1, 8))  # possible centres of things; a grid, so that little data suffices
TRIES = 60  # attempts to find a free position before a scene is restarted


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A coloured shape; (x, y) is its centre as shares of the image."""

    shape: str
    colour: str
    size: str
    x: float
    y: float

    @property
    def name(self) -> str:
        """Returns its name in captions."""
        return f"{self.colour} {self.shape}"


@dataclass(frozen=True, kw_only=True)
class Background:
    """A texture of two colours, or a crop of a photograph: `crop` is x, y and side as `render.crop` takes them."""

    texture: str = "plain"
    first: str = "white"
    second: str = "white"
    photograph: str = ""
    part: str = "train"
    crop: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def name(self) -> str:
        """Returns its name in captions."""
        if self.photograph:
            return PHOTOGRAPHS[self.photograph]
        return self.first if self.texture == "plain" else f"{self.texture} {self.first} {self.second}"


@dataclass(frozen=True)
class Scene:
    """A background with things on it, or with words in the cells of a page (row by row, empty for none)."""

    background: Background
    things: tuple[Thing, ...] = ()
    words: tuple[str, ...] = ()
    ink: str = "black"

    def description(self) -> str:
        """Describes the scene without exact positions: sorted things with their ninth of the image, or the set of
        words.
        """
        if self.words:
            return "words " + " ".join(sorted(word for word in self.words if word))
        things = sorted(f"{thing.size} {thing.name} {int(thing.x * 3)}{int(thing.y * 3)}" for thing in self.things)
        where = " {:.1f} {:.1f} {:.1f}".format(*self.background.crop) if self.background.photograph else ""
        return f"{self.background.name}{where}: {', '.join(things)}"

    def held_out(self) -> bool:
        """Returns whether scenes with this description are reserved for evaluation: a hash selects one of EIGHTHS
        parts.
        """
        return hashlib.blake2b(self.description().encode(), digest_size=4).digest()[0] % EIGHTHS == 0


def relation(first: Thing, second: Thing) -> str:
    """Returns where `first` is relative to `second`: the direction that differs most, or empty if it is unclear."""
    across, down = first.x - second.x, first.y - second.y
    if max(abs(across), abs(down)) < APART or abs(abs(across) - abs(down)) < APART / 2:
        return ""
    if abs(across) > abs(down):
        return "left of" if across < 0 else "right of"
    return "above" if down < 0 else "below"


def place(thing: Thing) -> str:
    """Returns which corner or middle of the image a thing is in; empty near a border between two."""
    rows, columns = _third(thing.y, "top", "bottom"), _third(thing.x, "left", "right")
    return "" if None in (rows, columns) else (f"{rows} {columns}".strip() or "middle")


def _third(value: float, low: str, high: str) -> str | None:
    if value < 0.33:
        return low
    if value > 0.67:
        return high
    return "" if 0.4 < value < 0.6 else None


def facts(scene: Scene) -> frozenset[str]:
    """Returns every statement about the scene that captions can contain. A caption is true if all its facts are among
    them.
    """
    statements = {f"ground {scene.background.name}"}
    if scene.background.photograph:
        statements.add("ground photograph")
    else:
        statements |= {f"texture {scene.background.texture}", f"paint {scene.background.first}"}
        if scene.background.texture != "plain":
            statements.add(f"paint {scene.background.second}")
    for level in ("name", "shape", "colour"):
        counts = Counter(getattr(thing, level) for thing in scene.things)
        statements |= {f"{level} {value}" for value in counts} | {f"{n} {level} {value}" for value, n in counts.items()}
    statements.add(f"{len(scene.things)} things")
    for thing in scene.things:
        statements.add(f"size {thing.size} {thing.name}")
        if place(thing):
            statements.add(f"place {place(thing)} {thing.name}")
        statements |= {
            f"relation {thing.name} {relation(thing, other)} {other.name}"
            for other in scene.things
            if other is not thing and relation(thing, other)
        }
    statements |= {f"word {word}" for word in scene.words if word}
    return frozenset(statements)


def differing(first: Scene, second: Scene) -> int:
    """Returns how many facts hold for exactly one of two scenes."""
    return len(facts(first) ^ facts(second))


def background(rng: Random, *, part: str, photographs: float = 0.3, textures: float = 0.25) -> Background:
    """Returns a plain background or, with the given probabilities, a crop of a photograph or a texture of two
    colours.
    """
    lot = rng.random()
    if lot < photographs:
        return photograph(rng, part=part)
    first, second = rng.sample(COLOUR_NAMES, 2)
    if lot < photographs + textures:
        return Background(texture=rng.choice(TEXTURES[1:]), first=first, second=second, part=part)
    return Background(first=first, second=first, part=part)


def photograph(rng: Random, *, part: str, name: str = "") -> Background:
    """Returns a random crop of a photograph."""
    crop = (round(rng.random(), 3), round(rng.random(), 3), round(rng.uniform(0.5, 0.95), 3))
    return Background(photograph=name or rng.choice(_PHOTOGRAPHS), part=part, crop=crop)


def free_colours(ground: Background) -> list[str]:
    """Returns the colours that stand out from the background."""
    if ground.photograph:
        return list(COLOUR_NAMES)
    return [colour for colour in COLOUR_NAMES if colour not in (ground.first, ground.second)]


def names(rng: Random, ground: Background, count: int) -> list[tuple[str, str]]:
    """Returns `count` different pairs of shape and colour."""
    colours, pairs = free_colours(ground), []
    while len(pairs) < count:
        pair = (rng.choice(SHAPES), rng.choice(colours))
        if pair not in pairs:
            pairs.append(pair)
    return pairs


def placed(rng: Random, kinds: list[tuple[str, str]], *, size: str = "") -> tuple[Thing, ...]:
    """Places things so that they do not touch. Each has the given size or a random one, smaller if there are many."""
    while True:
        things = []
        for shape, colour in kinds:
            own = size or ("small" if len(kinds) > 3 or rng.random() < 0.4 else "large")
            spot = _spot(rng, things, own)
            if spot is None:
                break
            things.append(Thing(shape=shape, colour=colour, size=own, x=spot[0], y=spot[1]))
        if len(things) == len(kinds):
            return tuple(things)
        size = "small"


def _spot(rng: Random, others: list[Thing], size: str) -> tuple[float, float] | None:
    radius = SIZES[size]
    for _ in range(TRIES):
        x, y = (rng.choice([at for at in GRID if radius <= at <= 1 - radius]) for _ in range(2))
        if all((x - other.x) ** 2 + (y - other.y) ** 2 > (radius + SIZES[other.size] + 0.02) ** 2 for other in others):
            return x, y
    return None


def furnished(rng: Random, ground: Background, count: int, *, size: str = "") -> Scene:
    """Returns a scene of `count` different things on a background."""
    return Scene(ground, placed(rng, names(rng, ground, count), size=size))


def single(rng: Random, *, part: str) -> Scene:
    """Returns a scene with one thing."""
    return furnished(rng, background(rng, part=part), 1)


def pair(rng: Random, *, part: str) -> Scene:
    """Returns a scene of two different things."""
    return furnished(rng, background(rng, part=part), 2)


def several(rng: Random, *, part: str) -> Scene:
    """Returns a scene of three or four different things."""
    return furnished(rng, background(rng, part=part), rng.randint(3, 4))


def counted(rng: Random, *, part: str) -> Scene:
    """Returns a scene with one to six things of one kind, sometimes with one of another kind."""
    ground = background(rng, part=part, photographs=0.15)
    kind, other = names(rng, ground, 2)
    count = rng.randint(1, 6)
    kinds = [kind] * count + ([other] if count < 5 and rng.random() < 0.3 else [])
    return Scene(ground, placed(rng, kinds, size="small" if count > 3 else ""))


def view(rng: Random, *, part: str, name: str = "") -> Scene:
    """Returns a photograph, with the given or a random name, and nothing else."""
    return Scene(photograph(rng, part=part, name=name))


def pattern(rng: Random, *, part: str) -> Scene:
    """Returns a texture and nothing else."""
    return Scene(background(rng, part=part, photographs=0.0, textures=1.0))


def written(rng: Random, *, part: str, count: int = 0) -> Scene:
    """Returns a page with `count` words or, by default, one, two, four or a full page."""
    total = CELLS[0] * CELLS[1]
    count = count or rng.choice((1, 2, 4, 4, total))
    start = 0 if count > 4 else 2 * rng.randint(0, (total - count) // 2)
    paper = rng.choice(PAPERS)
    words = ("",) * start + tuple(rng.sample(WORDS, count))
    return Scene(Background(first=paper, second=paper, part=part), words=words, ink=rng.choice(INKS))


KINDS: tuple[tuple[Callable[..., Scene], float], ...] = (
    (single, 0.1),
    (pair, 0.3),
    (several, 0.12),
    (counted, 0.16),
    (view, 0.09),
    (pattern, 0.05),
    (written, 0.18),
)


def scene(rng: Random, *, part: str, kind: Callable[..., Scene] | None = None) -> Scene:
    """Returns a scene of the given or a random kind that belongs to `part`: training never draws a held-out
    description.
    """
    kinds, weights = zip(*KINDS, strict=True)
    chosen = kind or rng.choices(kinds, weights)[0]
    while True:
        drawn = chosen(rng, part=part)
        if drawn.held_out() == (part == "test"):
            return drawn


def edited(scene: Scene, rng: Random) -> Scene:
    """Returns the scene with one change that a caption can express: another colour, shape, number, position, word or
    background.

    A scene remains held out or not, as before the change.
    """
    held_out = scene.held_out()
    while True:
        changed = _changed(scene, rng)
        if changed.held_out() == held_out and changed != scene:
            return changed


def _changed(scene: Scene, rng: Random) -> Scene:
    if scene.words:
        return _other_word(scene, rng)
    changes: list[Callable[[Scene, Random], Scene]] = [_other_ground]
    if scene.things:
        changes = [
            *(partial(_restyled, level=level) for level in ("colour", "shape")),
            _added,
            _other_ground,
            _moved,
            _moved,
        ]
        if len(scene.things) > 1:
            changes += [_removed, *(_swapped,) * 4, *(partial(_swapped, levels=("colour",)),) * 3]
    return rng.choice(changes)(scene, rng)


def _with(scene: Scene, at: int, thing: Thing) -> Scene:
    return replace(scene, things=scene.things[:at] + (thing,) + scene.things[at + 1 :])


def _restyled(scene: Scene, rng: Random, *, level: str) -> Scene:
    """Gives one thing another shape, or another colour that stands out."""
    at = rng.randrange(len(scene.things))
    known = SHAPES if level == "shape" else free_colours(scene.background)
    others = [each for each in known if each != getattr(scene.things[at], level)]
    return _with(scene, at, replace(scene.things[at], **{level: rng.choice(others)}))


def _added(scene: Scene, rng: Random) -> Scene:
    spot = _spot(rng, list(scene.things), "small")
    if spot is None or len(scene.things) > 5:
        return _removed(scene, rng)
    return replace(scene, things=(*scene.things, replace(rng.choice(scene.things), size="small", x=spot[0], y=spot[1])))


def _moved(scene: Scene, rng: Random) -> Scene:
    """Moves one thing."""
    at = rng.randrange(len(scene.things))
    spot = _spot(rng, [thing for row, thing in enumerate(scene.things) if row != at], scene.things[at].size)
    return scene if spot is None else _with(scene, at, replace(scene.things[at], x=spot[0], y=spot[1]))


def _removed(scene: Scene, rng: Random) -> Scene:
    at = rng.randrange(len(scene.things))
    return replace(scene, things=scene.things[:at] + scene.things[at + 1 :])


def traded(first: Thing, second: Thing, *levels: str) -> tuple[Thing, Thing]:
    """Exchanges shapes, colours, or both between two things."""
    return tuple(
        replace(thing, **{level: getattr(other, level) for level in levels})
        for thing, other in ((first, second), (second, first))
    )


def _swapped(scene: Scene, rng: Random, *, levels: tuple[str, ...] = ("shape", "colour")) -> Scene:
    """Exchanges the positions of two things, or only the attributes in `levels`."""
    first, second = rng.sample(range(len(scene.things)), 2)
    things = list(scene.things)
    things[first], things[second] = traded(things[first], things[second], *levels)
    return replace(scene, things=tuple(things))


def _other_ground(scene: Scene, rng: Random) -> Scene:
    taken = {thing.colour for thing in scene.things}
    while True:
        ground = background(rng, part=scene.background.part, photographs=0.5, textures=0.3)
        if ground.name != scene.background.name and (ground.photograph or not {ground.first, ground.second} & taken):
            return replace(scene, background=ground)


def _other_word(scene: Scene, rng: Random) -> Scene:
    at = rng.choice([position for position, word in enumerate(scene.words) if word])
    word = rng.choice([word for word in WORDS if word not in scene.words])
    return replace(scene, words=scene.words[:at] + (word,) + scene.words[at + 1 :])


def sentence(rng: Random, *, part: str) -> Scene:
    """Returns a text of four words."""
    return scene(rng, part=part, kind=partial(written, count=4))


def sharing(scene: Scene, shared: int, rng: Random, *, part: str) -> Scene:
    """Returns another text of four words that shares `shared` words with the first; order, position and colours are
    independent.
    """
    ours = [word for word in scene.words if word]
    while True:
        other = sentence(rng, part=part)
        chosen = rng.sample(ours, shared) + [word for word in other.words if word and word not in ours]
        if len(chosen) >= 4:
            blank = ("",) * other.words.index(next(word for word in other.words if word))
            variant = Scene(other.background, ink=other.ink, words=blank + tuple(rng.sample(chosen[:4], 4)))
            if variant.held_out() == (part == "test"):
                return variant
