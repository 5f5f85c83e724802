"""Installed packages: their exact versions, to be recorded, what of them identifies a run, and which are missing."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

MISSING = "missing"
OWN = "likeness"  # this program, as it is installed


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


def install_command() -> str:
    """The command that installs everything that runs models, for an installed program or a checkout."""
    is_own = installed([OWN])[OWN] != MISSING
    return f'pip install "{OWN}[compute]"' if is_own else "pip install -r requirements.txt"


def without_package(error: ModuleNotFoundError) -> str:
    """Which package was to be imported and is not installed, and the remedy, in sentences; empty where the package is
    there and a module of it is missing, which is a fault of the program."""
    name = (error.name or "").partition(".")[0]
    if not name or importlib.util.find_spec(name) is not None:
        return ""
    return f"The package {name} is not installed. Install what runs models: {install_command()}"
