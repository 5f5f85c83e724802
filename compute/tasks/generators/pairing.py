"""Pairs the images of all generators and of the reference by prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.metrics.distribution.extrapolation import uneven_generators
from compute.tasks.generators.prompts import Prompts, checked
from compute.tasks.generators.sets import ImageSet, some
from compute.types import BadInput

REFERENCE = "reference"  # the reference's name among the sets


@dataclass(frozen=True, kw_only=True)
class PromptedSets:
    """A reference and the sets of generators, row i of each made from prompt i.

    Without prompts (`prompts` None) nothing is paired, and the sets may have unlike numbers of images. `reference` is
    None where saved statistics stand for its images.
    """

    ids: tuple[str, ...]  # of the pairs; none where nothing is paired
    prompts: Column | None
    texts: tuple[str, ...]
    reference: ImageSet | None
    generated: tuple[ImageSet, ...]
    warnings: tuple[str, ...]

    @property
    def sets(self) -> tuple[ImageSet, ...]:
        """The reference, then the generators."""
        return self.generated if self.reference is None else (self.reference, *self.generated)

    def without(self, bad: dict[bytes, str]) -> PromptedSets:
        """The same without the pairs (or images) that hold one of these contents, counted in the warnings."""
        if not bad:
            return self
        hit = {part.name: np.isin(part.images.keys, np.array(list(bad), dtype="S32")) for part in self.sets}
        lines = [
            f"{name}: {some([part.images.name(row) for row in np.flatnonzero(rows)], noun='image')} left out, as they "
            "cannot be decoded"
            for (name, rows), part in zip(hit.items(), self.sets, strict=True)
            if rows.any()
        ]
        if self.prompts is None:
            keep = {name: np.flatnonzero(~rows) for name, rows in hit.items()}
        else:
            left = np.flatnonzero(~np.logical_or.reduce(list(hit.values())))
            keep = dict.fromkeys(hit, left)
        parts = [_taken(part, keep[part.name]) for part in self.sets]
        if any(not len(part) for part in parts):
            raise BadInput("No image is left after those that cannot be decoded")
        fewer = replace(
            self,
            reference=None if self.reference is None else parts[0],
            generated=tuple(parts if self.reference is None else parts[1:]),
            warnings=(*self.warnings, *lines),
        )
        if self.prompts is None:
            return fewer
        ids, texts = (tuple(values[row] for row in left) for values in (self.ids, self.texts))
        return replace(fewer, ids=ids, prompts=self.prompts.take(left), texts=texts)


def pair(*, reference: ImageSet | None, generated: Sequence[ImageSet], prompts: Prompts | None) -> PromptedSets:
    """Pairs the sets by prompt, and counts and names what has no partner.

    An image goes by its id; the images of a source that stores prompts of its own, and whose ids the list does not
    have, go by their prompt, several of one prompt in their order. Prompts that name no images go by the images' order,
    and every set must have as many. Only pairs that all sets have are compared, so that every generator answers for
    the same prompts. Without `prompts` those that a source stores are taken; where none does, nothing is paired.
    Without `reference`, whose saved statistics are used instead, the generators are paired with each other. Raises
    BadInput for sets that share no prompt, and for unlike counts where only the order pairs them.
    """
    sets = tuple(generated) if reference is None else (reference, *generated)
    if not generated:
        raise BadInput("No generator is named: give at least one set of generated images")
    names = [*([REFERENCE] if reference is None else []), *(part.name for part in sets)]
    if len(set(names)) < len(names):
        raise BadInput(f"Two sets are named {next(name for name in names if names.count(name) > 1)!r}: name each once")
    own = [line for part in sets for line in part.warnings]
    own += [] if reference is None else _copied(reference, generated)
    if prompts is None:
        prompts = _stored(sets)
    if prompts is None:
        return PromptedSets(
            ids=(),
            prompts=None,
            texts=(),
            reference=reference,
            generated=tuple(generated),
            warnings=(*own, *uneven_generators({part.name: len(part) for part in generated})),
        )
    rows = [_rows(part, prompts) for part in sets]
    lines = []
    for part, known in zip(sets, rows, strict=True):
        lines += _unpaired(part, known, prompts)
    shared = np.flatnonzero(np.logical_and.reduce([known >= 0 for known in rows]))
    if not len(shared):
        raise BadInput(
            f"The sets share no prompt of {prompts.title}. It has {some(prompts.ids, noun='image')}, "
            + "; ".join(f"{part.name} has {some(part.ids, noun='image')}" for part in sets)
        )
    if len(shared) < len(prompts.ids):
        lines.append(
            f"{len(shared):,} of {len(prompts.ids):,} prompts have an image in every set; the others are left out"
        )
    texts = tuple(prompts.texts[row] for row in shared)
    taken = [_taken(part, known[shared]) for part, known in zip(sets, rows, strict=True)]
    return PromptedSets(
        ids=tuple(prompts.ids[row] for row in shared),
        prompts=items.texts(texts, of=prompts.title),
        texts=texts,
        reference=None if reference is None else taken[0],
        generated=tuple(taken if reference is None else taken[1:]),
        warnings=(*own, *prompts.warnings, *lines),
    )


def _stored(sets: Sequence[ImageSet]) -> Prompts | None:
    """The prompts that the first source with any stores, the reference before the generators."""
    for part in sets:
        if part.prompts is not None:
            return checked(title=f"the prompts of {part.name}", ids=part.ids, texts=part.prompts)
    return None


def _rows(part: ImageSet, prompts: Prompts) -> np.ndarray:
    """(prompts,) int64: the row of the set's image for each prompt, -1 where it has none."""
    if prompts.ordered and part.prompts is None:
        if len(part) != len(prompts.ids):
            raise BadInput(
                f"{part.name} has {len(part):,} images and {prompts.title} {len(prompts.ids):,} prompts. Prompts that "
                "name no images go by the images' order, so there must be as many; or give a table of image and prompt"
            )
        return np.arange(len(part))
    known = {key: row for row, key in enumerate(part.ids)}
    by_id = np.array([known.get(key, -1) for key in prompts.ids], dtype=np.int64)
    if (
        part.prompts is None
        or (by_id >= 0).any()
        and all(
            # Row numbers mean nothing: where ids pair them, the source's own prompts must be those of the list.
            part.prompts[row] == text
            for row, text in zip(by_id.tolist(), prompts.texts, strict=True)
            if row >= 0
        )
    ):
        return by_id
    waiting: dict[str, list[int]] = defaultdict(list)
    for row in range(len(part) - 1, -1, -1):
        waiting[part.prompts[row]].append(row)
    return np.array([waiting[text].pop() if waiting.get(text) else -1 for text in prompts.texts], dtype=np.int64)


def _unpaired(part: ImageSet, rows: np.ndarray, prompts: Prompts) -> list[str]:
    lines = []
    missing = [prompts.ids[row] for row in np.flatnonzero(rows < 0)]
    extra = sorted(set(range(len(part))) - set(rows.tolist()))
    if missing:
        lines.append(f"{part.name}: {some(missing, noun='prompt')} without an image")
    if extra:
        names = [part.images.name(row) for row in extra]
        lines.append(f"{part.name}: {some(names, noun='image')} without a prompt in {prompts.title}, left out")
    return lines


def _taken(part: ImageSet, rows: np.ndarray) -> ImageSet:
    return replace(
        part,
        ids=tuple(part.ids[row] for row in rows),
        images=part.images.take(rows),
        prompts=None if part.prompts is None else tuple(part.prompts[row] for row in rows),
    )


def _copied(reference: ImageSet, generated: Sequence[ImageSet]) -> list[str]:
    lines = []
    for part in generated:
        count = int(np.isin(part.images.keys, reference.images.keys).sum())
        if count:
            lines.append(f"{part.name}: {count:,} of {len(part):,} images are exact copies of reference images")
    return lines
