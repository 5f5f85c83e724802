"""Saved reference statistics: moments of a set of images under a name, with what made them.

A file is an npz without pickle: the moments, and the facts as JSON.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from compute.drafts import replacing
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, shortened
from compute.versions import installed

FORMAT = "likeness-reference-2"
PACKAGES = ("numpy", "pillow", "torch", "torchvision", "transformers", "timm")  # what makes features


@dataclass(frozen=True, kw_only=True)
class FeatureOrigin:
    """What made features: the key of the backbone, and its preprocessing (revision, size, resampling, dtype ...)."""

    backbone: str
    preprocessing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedReference:
    """Named statistics of a reference set: `moments` of its images, or CrossMoments with `condition`, the text side.

    `source` tells in words which images they are, `contents` is a digest of the images themselves; `packages` maps
    packages to versions.
    """

    name: str
    moments: Moments | CrossMoments
    images: FeatureOrigin
    condition: FeatureOrigin | None = None
    source: str = ""
    contents: str = ""
    packages: Mapping[str, str] = field(default_factory=lambda: installed(PACKAGES))

    @property
    def n(self) -> int:
        """Images of the reference."""
        return self.moments.n

    def check_side(self, side: Literal["images", "prompts"], other: FeatureOrigin) -> None:
        """Raises BadInput, naming the first difference, where features of another origin would be compared with it."""
        own = self.images if side == "images" else self.condition
        if own.backbone != other.backbone:
            raise BadInput(
                f"The reference {self.name!r} has {side} encoded by {own.backbone}, these are by {other.backbone}. "
                "Save a reference with this backbone, or choose the other"
            )
        mine, theirs = _as_json(own.preprocessing), _as_json(other.preprocessing)
        for key in sorted({*mine, *theirs}):
            if mine.get(key) != theirs.get(key):
                raise BadInput(
                    f"The reference {self.name!r} has {side} with {key} = {shortened(repr(mine.get(key)))}, these have "
                    f"{shortened(repr(theirs.get(key)))}. Distances between different preprocessing mean nothing: save "
                    "the reference again"
                )


def save_reference(folder: Path, reference: SavedReference) -> Path:
    """Writes `<folder>/<name>.npz`, whole or not at all. Raises CannotWrite."""
    facts = {
        "format": FORMAT,
        "name": reference.name,
        "n": reference.n,
        "source": reference.source,
        "contents": reference.contents,
        "images": asdict(reference.images),
        "condition": None if reference.condition is None else asdict(reference.condition),
        "packages": dict(reference.packages),
    }
    moments = reference.moments
    if isinstance(moments, Moments):
        arrays = {"mean": moments.mean, "scatter": moments.scatter}
    else:
        arrays = {
            "mean": moments.images.mean,
            "scatter": moments.images.scatter,
            "condition_mean": moments.condition.mean,
            "condition_scatter": moments.condition.scatter,
            "cross": moments.cross,
        }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{reference.name}.npz"
    text = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
    with replacing(path) as draft, open(draft, "wb") as handle:
        np.savez(handle, allow_pickle=False, facts=text, **arrays)
    return path


def read_reference(path: Path) -> SavedReference:
    """Reads a file of saved statistics. Raises BadInput for one that is none, or is damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            facts = json.loads(file["facts"].tobytes())
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is not {FORMAT}: save it again")
            n = facts["n"]
            moments: Moments | CrossMoments = Moments(n=n, mean=file["mean"], scatter=file["scatter"])
            if facts["condition"]:
                condition = Moments(n=n, mean=file["condition_mean"], scatter=file["condition_scatter"])
                moments = CrossMoments(images=moments, condition=condition, cross=file["cross"])
            arrays = [file[name] for name in file.files if name != "facts"]
            if not all(np.isfinite(array).all() for array in arrays):
                raise ValueError("it holds NaN or infinity")
        return SavedReference(
            moments=moments,
            images=FeatureOrigin(**facts["images"]),
            condition=FeatureOrigin(**facts["condition"]) if facts["condition"] else None,
            **{name: facts[name] for name in ("name", "source", "contents", "packages")},
        )
    except (OSError, EOFError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path.name} is not a saved reference: {shortened(str(error))}") from error


def _as_json(preprocessing: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives it back: tuples are lists, keys are text."""
    return json.loads(json.dumps(dict(preprocessing)))
