"""Saved statistics of a reference, which later replace its images."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.catalog.own import suite as own_suite
from compute.engine.generators.features import JOIN, Backbones, subset
from compute.io.files import replacing
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.tasks.image_sets import REFERENCE
from compute.types import BadInput, NotHere, shortened

if TYPE_CHECKING:
    from compute.engine.generators.features import SetFeatures

FORMAT = "likeness-reference-2"  # of saved statistics
SUFFIX = ".npz"  # of a file, and of an address for several files
LONGEST = 80  # characters of a name
# Not part of the preprocessing: the same model gives the same features up to rounding.
ELSEWHERE = ("device", "packages")


# Fields of a file besides its moments.
FACTS = ("name", "images", "condition", "source", "contents")


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedReference:
    """Named statistics of a reference set: `moments` of its images, or CrossMoments with `condition`, the text side.

    `images` and `condition` describe how the features were made: the key of the `backbone`, and its `preprocessing`
    (revision, size, resampling, dtype ...). `source` describes the images in words; `contents` is their digest.
    """

    name: str
    moments: Moments
    images: Mapping[str, Any]
    condition: Mapping[str, Any] | None = None
    source: str = ""
    contents: str = ""

    @property
    def subset(self) -> str:
        """The backbones of scores against this reference."""
        return subset(self.images["backbone"], self.condition["backbone"] if self.condition else "")

    def write(self, folder: Path) -> Path:
        """Writes `<folder>/<name>.npz` atomically: the moments, and the facts as JSON. Raises CannotWrite."""
        moments, arrays = self.moments, {}
        if isinstance(moments, CrossMoments):
            arrays = {"condition_mean": moments.condition.mean, "condition_scatter": moments.condition.scatter}
            arrays["cross"], moments = moments.cross, moments.images
        facts = {"format": FORMAT, "n": moments.n} | {name: getattr(self, name) for name in FACTS}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}{SUFFIX}"
        text = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
        with replacing(path) as draft, open(draft, "wb") as handle:
            np.savez(handle, allow_pickle=False, facts=text, mean=moments.mean, scatter=moments.scatter, **arrays)
        return path

    @classmethod
    def read(cls, path: Path) -> SavedReference:
        """Reads a file of saved statistics without unpickling. Raises BadInput for any other or a damaged file."""
        try:
            with np.load(path, allow_pickle=False) as file:
                facts, arrays = json.loads(file["facts"].tobytes()), dict(file)
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is not {FORMAT}: save it again")
            n, mean, scatter = facts["n"], arrays["mean"], arrays["scatter"]
            moments = Moments(n=n, mean=mean, scatter=scatter)
            if facts["condition"]:
                cross, other = arrays["cross"], arrays["condition_scatter"]
                moments = CrossMoments(
                    n=n,
                    mean=np.concatenate([mean, arrays["condition_mean"]]),
                    scatter=np.block([[scatter, cross], [cross.T, other]]),
                    width=len(mean),
                )
            if not (np.isfinite(moments.mean).all() and np.isfinite(moments.scatter).all()):
                raise ValueError("it holds NaN or infinity")
            made = cls(moments=moments, **{name: facts[name] for name in FACTS})
            for origin in filter(None, (made.images, made.condition)):
                dict(origin["preprocessing"], backbone=origin["backbone"])  # raises if something is missing
            return made
        except (OSError, EOFError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path.name} is not a saved reference: {shortened(str(error))}") from error

    def check(self, backbone: str, settings: Mapping[str, Any]) -> None:
        """Raises BadInput with the first difference if its features of this backbone have other settings."""
        for side, origin in (("images", self.images), ("prompts", self.condition)):
            if not origin or origin["backbone"] != backbone:
                continue
            mine, theirs = (json.loads(json.dumps(each)) for each in (origin["preprocessing"], without_place(settings)))
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    raise BadInput(
                        f"The reference {self.name!r} has {side} with {key} = {shortened(repr(mine.get(key)))}, these "
                        f"have {shortened(repr(theirs.get(key)))}. Distances between different preprocessing mean "
                        "nothing: save the reference again"
                    )


def save(path: Path, features: SetFeatures, *, chosen: Backbones, source: str, contents: str) -> list[Path]:
    """Writes `<path without suffix>-<backbone>.npz` for every image backbone, and with each text backbone for cFreD.

    `source` describes the reference's images, `contents` is their digest. Raises BadInput, CannotWrite.
    """
    written, rows = [], features.images[REFERENCE]
    for key in chosen.distances:
        image, _, text = key.partition(JOIN)
        if image not in rows or (text and text not in features.texts):
            continue
        made = {"images": rows[image], "argument": "reference"}
        origins = [
            {"backbone": name, "preprocessing": without_place(features.settings[name])} for name in key.split(JOIN)
        ]
        reference = SavedReference(
            name=_file_name(path, key),
            moments=CrossMoments.of(**made, condition=features.texts[text]) if text else Moments.of(**made),
            images=origins[0],
            condition=origins[1] if text else None,
            source=source,
            contents=contents,
        )
        written.append(reference.write(path.parent))
    return written


def opened(where: str | Path | SavedReference, *, chosen: Backbones) -> dict[str, SavedReference]:
    """Returns saved statistics by subset: those of one file or, for the FILE given to `--save-reference`, those of all
    chosen backbones.

    Raises NotHere for a missing file, and BadInput for a file that is not a reference, has none of the chosen
    backbones, or has other images than the rest.
    """
    if isinstance(where, SavedReference):
        files = [where]
    elif Path(where).is_file():
        files = [SavedReference.read(Path(where))]
    else:
        paths = [Path(where).with_name(f"{_file_name(Path(where), key)}{SUFFIX}") for key in chosen.distances]
        files = [SavedReference.read(path) for path in paths if path.is_file()]
        if not files:
            raise NotHere(
                f"There is no saved reference {where}, nor {paths[0].name} or another backbone's. Save one: python -m "
                f"compute frechet ... --save-reference {where}"
            )
    first = files[0]
    if len({reference.contents for reference in files}) > 1:
        raise BadInput(f"The references {first.name} and others next to it are of different images: save them together")
    # A reference with prompts also contains the moments of its images.
    crossed = [reference for reference in files if isinstance(reference.moments, CrossMoments)]
    alone = [replace(reference, moments=reference.moments.images, condition=None) for reference in crossed]
    used = {reference.subset: reference for reference in (*alone, *files) if reference.subset in chosen.distances}
    if not used:
        raise BadInput(
            f"The reference {first.name!r} has images encoded by {first.subset}, and no distance under it is "
            f"chosen: --backbones {first.subset.replace(JOIN, ',')}, or save a reference with {', '.join(chosen.image)}"
        )
    return used


def _file_name(path: Path, key: str) -> str:
    """Returns the file name of one subset; a truncated name ends in a digest."""
    parts = [path.stem, *key.split(JOIN)]
    name = "-".join(map(own_suite.slug, parts))
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 9]}-{hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


def without_place(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of features without what differs between machines."""
    return {
        name: without_place(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if name not in ELSEWHERE
    }
