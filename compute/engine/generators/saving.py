"""Saves the statistics of a comparison's reference under a name, a file a backbone or pair of backbones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.catalog import own
from compute.engine.generators.backbones import JOIN, Backbones
from compute.engine.generators.features import SetFeatures
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import FeatureOrigin, SavedReference, save_reference


def save(
    path: Path, *, features: SetFeatures, chosen: Backbones, settings: Mapping[str, Mapping[str, Any]], source: str
) -> list[Path]:
    """Writes `<path without ending>-<backbone>.npz` for every image backbone, and with each text backbone for cFreD.

    `settings` by backbone say what made the features; `source` which images they are of. Raises BadInput for a name
    that no reference can have, CannotWrite.
    """
    base = own.slug(path.stem)
    written = []

    def add(key: str, moments: Moments | CrossMoments, image: str, text: str = "") -> None:
        reference = SavedReference(
            name=f"{base[:20]}-{own.slug(key.replace(JOIN, '-'))[-55:].strip('-.')}",
            moments=moments,
            images=FeatureOrigin(backbone=image, preprocessing=settings[image]),
            condition=FeatureOrigin(backbone=text, preprocessing=settings[text]) if text else None,
            source=source,
        )
        written.append(save_reference(path.parent, reference))

    for key, sets in features.images.items():
        if key in chosen.image:
            add(key, Moments.of(sets[features.reference], argument="reference"), key)
    for image in chosen.cfred:
        for text, condition in features.texts.items():
            if image in features.images:
                images = features.images[image][features.reference]
                add(f"{image}{JOIN}{text}", CrossMoments.of(images=images, condition=condition), image, text)
    return written
