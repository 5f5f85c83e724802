"""Versions of installed packages: the exact ones, to be recorded, and the part of them that identifies a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

MISSING = "missing"


def installed(packages: Iterable[str]) -> dict[str, str]:
    """The exact version of each package, MISSING for one that is not installed."""
    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = MISSING
    return versions


def minor(versions: Mapping[str, str]) -> dict[str, str]:
    """Each version as major.minor: a patch release mends faults, and a run made with another one is the same run."""
    return {name: match[0] if (match := re.match(r"\d+(\.\d+)?", full)) else full for name, full in versions.items()}


def exact(settings: Mapping[str, Any]) -> dict[str, str]:
    """The installed versions of all packages that settings name under `packages`, however deep."""
    named: set[str] = set()
    for key, value in settings.items():
        if isinstance(value, Mapping):
            named.update(value if key == "packages" else exact(value))
    return installed(sorted(named))
