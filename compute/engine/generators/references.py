"""Statistics of a reference: saved after a comparison, and opened in place of the reference's images later on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compute.catalog.own import suite as own_suite
from compute.engine.generators.backbones import JOIN, Backbones, subset
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import FeatureOrigin, SavedReference, read_reference, save_reference
from compute.types import BadInput, NotHere

SUFFIX = ".npz"
LONGEST = 80  # characters of a name
# What does not belong to the preprocessing: the same model gives the same features up to rounding.
ELSEWHERE = ("device", "packages")


def save(
    path: Path,
    *,
    images: Mapping[str, Any],
    texts: Mapping[str, Any],
    chosen: Backbones,
    settings: Mapping[str, Mapping[str, Any]],
    source: str,
    contents: str,
) -> list[Path]:
    """Writes `<path without ending>-<backbone>.npz` for every image backbone, and with each text backbone for cFreD.

    `images` are the reference's features (n, d) by backbone, `texts` those of its prompts (n, p), `settings` what made
    them; `source` says which images they are of, and `contents` is their digest. Raises BadInput, CannotWrite.
    """
    moments: dict[str, Moments | CrossMoments] = {
        key: Moments.of(rows, argument="reference") for key, rows in images.items() if key in chosen.image
    }
    for image in (key for key in chosen.cfred if key in images):
        for text, condition in texts.items():
            moments[subset(image, text)] = CrossMoments.of(images=images[image], condition=condition)
    written = []
    for key, each in moments.items():
        image, _, text = key.partition(JOIN)
        reference = SavedReference(
            name=_name(path, key),
            moments=each,
            images=_origin(image, settings[image]),
            condition=_origin(text, settings[text]) if text else None,
            source=source,
            contents=contents,
        )
        written.append(save_reference(path.parent, reference))
    return written


def is_saved(where: object) -> bool:
    """Whether an address is one of saved statistics."""
    return isinstance(where, SavedReference) or (isinstance(where, str | Path) and Path(where).suffix == SUFFIX)


def opened(where: str | Path | SavedReference, *, chosen: Backbones) -> dict[str, SavedReference]:
    """Saved statistics by subset: those of one file, or FILE as `--save-reference` took it, which stands for the files
    of all chosen backbones.

    Raises NotHere for no such file, BadInput for one that is no reference, is of none of the chosen backbones, or of
    other images than the others.
    """
    if isinstance(where, SavedReference):
        files = [where]
    elif Path(where).is_file():
        files = [read_reference(Path(where))]
    else:
        paths = [Path(where).with_name(f"{_name(Path(where), key)}{SUFFIX}") for key in chosen.subsets()]
        files = [read_reference(path) for path in paths if path.is_file()]
        if not files:
            raise NotHere(
                f"There is no saved reference {where}, nor {paths[0].name} or another backbone's. Save one: "
                f"python -m compute frechet ... --save-reference {where}"
            )
    if len({reference.contents for reference in files}) > 1:
        raise BadInput(
            f"The references {files[0].name} and others beside it are of different images: save them together"
        )
    by_subset: dict[str, SavedReference] = {}
    for reference in files:
        text = reference.condition.backbone if reference.condition else ""
        by_subset[subset(reference.images.backbone, text)] = reference
    for reference in files:  # one with prompts holds the moments of its images as well
        if isinstance(reference.moments, CrossMoments):
            alone = replace(reference, moments=reference.moments.images, condition=None)
            by_subset.setdefault(reference.images.backbone, alone)
    usable = (*chosen.image, *(subset(image, text) for image in chosen.cfred for text in chosen.text))
    used = {key: reference for key, reference in by_subset.items() if key in usable}
    if not used:
        first = files[0]
        raise BadInput(
            f"The reference {first.name!r} has images encoded by {first.images.backbone}, and no distance under it is "
            f"chosen: --backbones {first.images.backbone}, or save a reference with {', '.join(chosen.image)}"
        )
    return used


def check(saved: Mapping[str, SavedReference], backbone: str, settings: Mapping[str, Any]) -> None:
    """Raises BadInput where saved statistics were made with other settings of this backbone."""
    for key, reference in saved.items():
        image, _, text = key.partition(JOIN)
        for name, own_origin in ((image, reference.images), (text, reference.condition)):
            if name == backbone and own_origin is not None:
                side = "images" if own_origin is reference.images else "prompts"
                reference.check_side(side, _origin(backbone, settings))


def narrowed(chosen: Backbones, *, saved: Iterable[str]) -> Backbones:
    """The backbones without those that a saved reference leaves nothing to compute for."""
    keys = [key.partition(JOIN) for key in saved]
    images, pairs = [image for image, _, text in keys if not text], [key for key in keys if key[2]]
    return replace(
        chosen,
        image=tuple(key for key in chosen.image if key in images or "vendi" in chosen.metrics),
        cfred=tuple(key for key in chosen.cfred if key in [image for image, _, _ in pairs]),
        text=tuple(key for key in chosen.text if key in [text for _, _, text in pairs]),
        cmmd="",
    )


def _name(path: Path, key: str) -> str:
    """The name of the file of one subset; a digest ends one that is cut."""
    parts = [path.stem, *key.split(JOIN)]
    name = "-".join(map(own_suite.slug, parts))
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 9]}-{hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


def _origin(backbone: str, settings: Mapping[str, Any]) -> FeatureOrigin:
    return FeatureOrigin(backbone=backbone, preprocessing=_without_place(settings))


def _without_place(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_place(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if name not in ELSEWHERE
    }
