"""Saved reference statistics: moments of a set of images under a name, with what made them.

A file is an npz without pickle: the moments, and the facts as JSON. It is read as a stranger's: sizes are checked
before anything is allocated, and statistics that cannot be moments of their own number of images are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from compute.arrays import Floats
from compute.drafts import replacing
from compute.metrics.distribution.gaussian import Factor
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, NotHere, shortened, suggestion
from compute.versions import installed

FORMAT = "likeness-reference-2"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
LARGEST = 8192  # dimensions of a backbone
MOST_FACTS = 1 << 20  # bytes of JSON
PACKAGES = ("numpy", "pillow", "torch", "torchvision", "transformers", "timm")  # what makes features
ARRAYS = ("mean", "scatter")
CONDITION_ARRAYS = ("condition_mean", "condition_scatter", "cross")


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

    def check(self, *, images: FeatureOrigin, condition: FeatureOrigin | None = None) -> None:
        """Raises BadInput, naming the first difference, where other features than these would be compared with it."""
        self.check_side("images", images)
        if condition is not None:
            self.check_side("prompts", condition)

    def check_side(self, side: Literal["images", "prompts"], other: FeatureOrigin) -> None:
        """As `check`, of one side alone."""
        own = self.images if side == "images" else self.condition
        if own is None:
            raise BadInput(f"The reference {self.name!r} holds no text statistics: save it again with the prompts")
        if own.backbone != other.backbone:
            raise BadInput(
                f"The reference {self.name!r} has {side} encoded by {own.backbone}, these are by {other.backbone}. "
                "Save a reference with this backbone, or choose the other"
            )
        mine, theirs = _plain_json(own.preprocessing), _plain_json(other.preprocessing)
        for key in sorted({*mine, *theirs}):
            if mine.get(key) != theirs.get(key):
                raise BadInput(
                    f"The reference {self.name!r} has {side} with {key} = {shortened(repr(mine.get(key)))}, these have "
                    f"{shortened(repr(theirs.get(key)))}. Distances between unlike preprocessing mean nothing: save "
                    "the reference again"
                )


def save_reference(folder: Path, reference: SavedReference) -> Path:
    """Writes `<folder>/<name>.npz`, whole or not at all. Raises BadInput for a bad name or moments, CannotWrite."""
    path = _path(folder, reference.name)
    arrays = _arrays(reference.moments)
    if (reference.condition is None) != isinstance(reference.moments, Moments):
        raise BadInput("CrossMoments need the origin of their condition, and Moments have none")
    _check_arrays(arrays, n=reference.n, path=path)
    facts = {
        "format": FORMAT,
        "name": reference.name,
        "n": reference.n,
        "source": reference.source,
        "contents": reference.contents,
        "images": _origin_facts(reference.images),
        "condition": None if reference.condition is None else _origin_facts(reference.condition),
        "packages": dict(reference.packages),
    }
    facts["digest"] = _digest(facts, arrays)
    folder.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
    with replacing(path) as draft, open(draft, "wb") as handle:
        np.savez(handle, allow_pickle=False, facts=text, **arrays)
    return path


def load_reference(folder: Path, name: str) -> SavedReference:
    """Reads `<folder>/<name>.npz`. Raises NotHere with the nearest name, BadInput for a file that is no reference."""
    path = _path(folder, name)
    if not path.is_file():
        names = saved_references(folder)
        raise NotHere(
            f"No reference {shortened(name)!r} in {folder.name}.{suggestion(name, names)} Save one: --save-reference "
            f"{name}. Saved are: {', '.join(names) or 'none'}"
        )
    return read_reference(path)


def saved_references(folder: Path) -> list[str]:
    """The names of the references in a folder."""
    return sorted(path.stem for path in folder.glob("*.npz") if NAME.fullmatch(path.stem))


def read_reference(path: Path) -> SavedReference:
    """Reads a file of saved statistics, whoever wrote it. Raises BadInput for one that is none, damaged or changed."""
    try:
        with zipfile.ZipFile(path) as archive:
            facts = _read_facts(archive, path=path)
            arrays = _read_arrays(archive, conditional=facts["condition"] is not None, path=path)
    except (OSError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError) as error:
        raise BadInput(f"{path.name} is no saved reference: {shortened(str(error))}") from error
    _check_arrays(arrays, n=facts["n"], path=path)
    if facts["digest"] != _digest({key: facts[key] for key in facts if key != "digest"}, arrays):
        raise BadInput(f"{path.name}: the digest does not fit the content, so the file was damaged or changed")
    return SavedReference(
        name=facts["name"],
        moments=_moments(arrays, n=facts["n"]),
        images=FeatureOrigin(**facts["images"]),
        condition=None if facts["condition"] is None else FeatureOrigin(**facts["condition"]),
        source=facts["source"],
        contents=facts["contents"],
        packages=facts["packages"],
    )


def _path(folder: Path, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise BadInput(
            f"A reference's name has lower-case letters, digits, dots, dashes and underscores, at most 80, got "
            f"{shortened(repr(name))}"
        )
    return folder / f"{name}.npz"


def _origin_facts(origin: FeatureOrigin) -> dict[str, Any]:
    return {"backbone": origin.backbone, "preprocessing": _plain_json(origin.preprocessing)}


def _plain_json(preprocessing: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives it back: tuples are lists, keys are text."""
    try:
        return json.loads(json.dumps(dict(preprocessing), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise BadInput(f"The preprocessing must be plain values that JSON holds: {error}") from error


def _arrays(moments: Moments | CrossMoments) -> dict[str, Floats]:
    if isinstance(moments, Moments):
        return {"mean": moments.mean, "scatter": moments.scatter}
    return {
        "mean": moments.images.mean,
        "scatter": moments.images.scatter,
        "condition_mean": moments.condition.mean,
        "condition_scatter": moments.condition.scatter,
        "cross": moments.cross,
    }


def _moments(arrays: dict[str, Floats], *, n: int) -> Moments | CrossMoments:
    images = Moments(n=n, mean=arrays["mean"], scatter=arrays["scatter"])
    if "cross" not in arrays:
        return images
    condition = Moments(n=n, mean=arrays["condition_mean"], scatter=arrays["condition_scatter"])
    return CrossMoments(images=images, condition=condition, cross=arrays["cross"])


def _digest(facts: Mapping[str, Any], arrays: Mapping[str, Floats]) -> str:
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name], dtype="<f8").tobytes())
    return digest.hexdigest()


def _read_facts(archive: zipfile.ZipFile, *, path: Path) -> dict[str, Any]:
    raw = _read_array(archive, "facts", dtype=np.uint8, largest=(MOST_FACTS,))
    facts = json.loads(raw.tobytes().decode())
    kinds = {
        "format": str,
        "name": str,
        "n": int,
        "source": str,
        "contents": str,
        "images": dict,
        "condition": (dict, type(None)),
        "packages": dict,
        "digest": str,
    }
    if not isinstance(facts, dict) or set(facts) != set(kinds) or facts["format"] != FORMAT:
        raise BadInput(f"{path.name} is no saved reference of this version ({FORMAT}): save it again")
    wrong = [key for key, kind in kinds.items() if not isinstance(facts[key], kind) or isinstance(facts[key], bool)]
    if not wrong and not NAME.fullmatch(facts["name"]):
        wrong = ["name"]
    for side in ("images", "condition"):
        origin = facts[side]
        if origin is not None and not (
            isinstance(origin, dict)
            and set(origin) == {"backbone", "preprocessing"}
            and isinstance(origin["backbone"], str)
            and isinstance(origin["preprocessing"], dict)
        ):
            wrong.append(side)
    if wrong:
        raise BadInput(f"{path.name}: the facts have a bad {wrong[0]}")
    return facts


def _read_arrays(archive: zipfile.ZipFile, *, conditional: bool, path: Path) -> dict[str, Floats]:
    names = (*ARRAYS, *CONDITION_ARRAYS) if conditional else ARRAYS
    members = sorted(archive.namelist())
    if members != sorted(f"{name}.npy" for name in ("facts", *names)):
        raise BadInput(f"{path.name}: a reference holds {', '.join(names)} and facts, this one {len(members)} members")
    return {
        name: _read_array(archive, name, dtype=np.float64, largest=(LARGEST,) * (1 if name.endswith("mean") else 2))
        for name in names
    }


def _read_array(archive: zipfile.ZipFile, name: str, *, dtype: type, largest: tuple[int, ...]) -> np.ndarray:
    """One member, refused before its data is read where it is compressed or its header tells of another size."""
    try:
        member = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise ValueError(f"it has no {name}") from None
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        raise ValueError(f"{name} is compressed")
    with archive.open(member) as handle:
        version = np.lib.format.read_magic(handle)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError(f"{name} has an unknown version")
        shape, fortran, kind = read(handle)
        if kind != np.dtype(dtype) or len(shape) != len(largest):
            raise ValueError(f"{name} has {len(shape)} dimensions of {kind}")
        if any(not 0 < size <= most for size, most in zip(shape, largest, strict=True)):
            raise ValueError(f"{name} has the shape {shape}")
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if member.file_size > count + (1 << 16):
            raise ValueError(f"{name} is longer than its shape")
        data = handle.read(count)
        if len(data) != count or handle.read(1):
            raise ValueError(f"{name} has another length than its shape")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return np.array(array, order="C")


def _check_arrays(arrays: Mapping[str, Floats], *, n: int, path: Path) -> None:
    """Raises BadInput where the arrays cannot be moments of n rows."""
    if n < 1:
        raise BadInput(f"{path.name}: a reference of {n} images")
    for prefix in ("", "condition_"):
        if f"{prefix}mean" in arrays:
            _check_moments(arrays[f"{prefix}mean"], arrays[f"{prefix}scatter"], n=n, path=path)
    if "cross" in arrays:
        shape = (len(arrays["mean"]), len(arrays["condition_mean"]))
        if arrays["cross"].shape != shape or not np.isfinite(arrays["cross"]).all():
            raise BadInput(f"{path.name}: the cross-covariance is not finite or not of shape {shape}")
        lengths = [np.sqrt(arrays[name].diagonal()) for name in ("scatter", "condition_scatter")]
        if (np.abs(arrays["cross"]) > np.outer(*lengths) * (1 + 1e-6)).any():
            raise BadInput(f"{path.name}: correlations above 1 between images and prompts")


def _check_moments(mean: Floats, scatter: Floats, *, n: int, path: Path) -> None:
    d = len(mean)
    if scatter.shape != (d, d):
        raise BadInput(f"{path.name}: a mean of {d} dimensions with a scatter of shape {scatter.shape}")
    if not (np.isfinite(mean).all() and np.isfinite(scatter).all()):
        raise BadInput(f"{path.name} holds NaN or infinity")
    largest = float(np.abs(scatter.diagonal()).max())
    if np.abs(scatter - scatter.T).max() > 1e-8 * largest:
        raise BadInput(f"{path.name}: the scatter is not symmetric")
    if largest == 0:
        return
    factor = Factor.of(scatter)
    rest = np.abs(factor.plain.T @ factor.plain - scatter).max()
    if scatter.diagonal().min() < 0 or rest > 1e-8 * largest:
        raise BadInput(f"{path.name}: the scatter is no sum of squares")
    if len(factor.matrix) > n - 1:
        raise BadInput(
            f"{path.name}: {n} images cannot have a covariance of rank {len(factor.matrix)}, so the count is wrong"
        )
