"""Captions of scenes, each with the facts it states."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from compute.tasks.drawing.compose import Background, Scene, place, relation
from compute.tasks.drawing.lexicon import NUMBERS, OPPOSITE, TEXTURE_TITLES

_A = ("", "", "a picture of ", "an image of ", "a drawing of ")
_RELATIONS = {
    "left of": ("left of", "to the left of"),
    "right of": ("right of", "to the right of"),
    "above": ("above", "over"),
    "below": ("below", "under"),
}
PLACES = {
    "top": "at the top",
    "bottom": "at the bottom",
    "left": "on the left",
    "right": "on the right",
    "middle": "in the middle",
    "top left": "at the top left",
    "top right": "at the top right",
    "bottom left": "at the bottom left",
    "bottom right": "at the bottom right",
}


class Caption(NamedTuple):
    """A text and the facts it states; it is true of every image that has all of them."""

    text: str
    facts: frozenset[str]


def article(words: str) -> str:
    """Adds an indefinite article: a circle, an oval."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def plural(shape: str) -> str:
    """Returns a shape in the plural: circles, crosses."""
    return shape + ("es" if shape.endswith("s") else "s")


def ground(background: Background) -> str:
    """Describes the background: `red and white dots`, `a photo of a cat`, `plain blue`."""
    if background.photograph:
        return f"a photo of {background.name}"
    if background.texture == "plain":
        return f"plain {background.first}"
    return f"{background.first} and {background.second} {TEXTURE_TITLES[background.texture]}"


def ground_facts(background: Background) -> frozenset[str]:
    """Returns the facts stated by a caption that names the background."""
    if background.photograph or background.texture == "plain":
        return frozenset({f"ground {background.name}", *(() if background.photograph else {"texture plain"})})
    return frozenset({f"texture {background.texture}", f"paint {background.first}", f"paint {background.second}"})


def caption(scene: Scene, rng: Random) -> Caption:
    """Returns a true statement about the scene, of a random kind."""
    if scene.words:
        return _words(scene, rng)
    if not scene.things:
        lead = "" if scene.background.photograph else rng.choice(("", "a pattern of ", "a picture of "))
        return Caption(lead + ground(scene.background), ground_facts(scene.background))
    kinds = [_all, _corner, _with_ground, _count, _some]
    if len(scene.things) > 1:
        kinds += [*(_relation,) * 5, _count, _corner]
    return rng.choice(kinds)(scene, rng)


def _words(scene: Scene, rng: Random) -> Caption:
    words = [word for word in scene.words if word]
    if rng.random() < 0.3:
        words = rng.sample(words, min(len(words), rng.randint(1, 3)))
    lead = rng.choice(("", "text: ", "the words ", "a page that says "))
    return Caption(lead + " ".join(words), frozenset(f"word {word}" for word in words))


def _all(scene: Scene, rng: Random) -> Caption:
    """States everything in the scene, by kind and number."""
    counts = Counter(thing.name for thing in scene.things)
    parts = [article(name) if n == 1 else f"{NUMBERS[n]} {many(name)}" for name, n in counts.items()]
    rng.shuffle(parts)
    return Caption(rng.choice(_A) + " and ".join(parts), frozenset(f"{n} name {name}" for name, n in counts.items()))


def many(name: str) -> str:
    """Returns the plural of a name: `red stars` for `red star`."""
    colour, shape = name.split()
    return f"{colour} {plural(shape)}"


def _corner(scene: Scene, rng: Random) -> Caption:
    thing = rng.choice(scene.things)
    corner = place(thing)
    if not corner:
        return Caption(article(f"{thing.size} {thing.name}"), frozenset({f"size {thing.size} {thing.name}"}))
    return Caption(located(thing.name, corner), frozenset({f"place {corner} {thing.name}"}))


def located(name: str, where: str) -> str:
    """Returns a phrase such as `a red star at the top left`; `where` is a key of PLACES."""
    return f"{article(name)} {PLACES[where]}"


def counted(name: str, number: int) -> str:
    """Returns a phrase such as `three red stars`."""
    return f"{NUMBERS[number]} {name if number == 1 else many(name)}"


def _with_ground(scene: Scene, rng: Random) -> Caption:
    thing = rng.choice(scene.things)
    return Caption(
        f"{article(thing.name)} {rng.choice(('on', 'in front of'))} {ground(scene.background)}",
        ground_facts(scene.background) | {f"name {thing.name}"},
    )


def _count(scene: Scene, rng: Random) -> Caption:
    """States how many things there are of a name, of a shape, or in total."""
    thing, total = rng.choice(scene.things), len(scene.things)
    level = rng.choice(("name", "name", "shape", "things"))
    if level == "things":
        return Caption(f"{NUMBERS[total]} {'shape' if total == 1 else 'shapes'}", frozenset({f"{total} things"}))
    value = getattr(thing, level)
    n = sum(getattr(other, level) == value for other in scene.things)
    several = many(value) if level == "name" else plural(value)
    lead = rng.choice(("", "", "there are " if n > 1 else "there is "))
    return Caption(f"{lead}{NUMBERS[n]} {value if n == 1 else several}", frozenset({f"{n} {level} {value}"}))


def _some(scene: Scene, rng: Random) -> Caption:
    """States some of the things shown and ignores the others."""
    things = rng.sample(scene.things, min(len(scene.things), rng.randint(1, 2)))
    names = sorted({thing.name for thing in things}, key=[thing.name for thing in things].index)
    if len(names) == 1 and rng.random() < 0.4:
        level = rng.choice(("shape", "colour"))
        value = getattr(things[0], level)
        return Caption(
            rng.choice(_A) + article(value if level == "shape" else f"{value} shape"),
            frozenset({f"{level} {value}"}),
        )
    return Caption(
        rng.choice(_A) + " and ".join(article(name) for name in names),
        frozenset(f"name {name}" for name in names),
    )


def _relation(scene: Scene, rng: Random) -> Caption:
    first, second = rng.sample(scene.things, 2)
    how = relation(first, second)
    if not how or first.name == second.name:
        return _all(scene, rng)
    return related(first.name, how, second.name, wording=rng.randint(0, 1), turned=rng.random() < 0.3)


def related(first: str, how: str, second: str, *, wording: int = 0, turned: bool = False) -> Caption:
    """States a relation, such as `a red star left of a blue ring`, or its converse if `turned`. Each relation has two
    wordings.
    """
    facts = frozenset({f"relation {first} {how} {second}", f"relation {second} {OPPOSITE[how]} {first}"})
    if turned:
        first, how, second = second, OPPOSITE[how], first
    return Caption(f"{article(first)} {_RELATIONS[how][wording]} {article(second)}", facts)
