"""This program's name and version, the versions of installed packages, and how to install missing ones."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from compute.types import NotHere

MISSING = "missing"
VERSION = "0.1.0"  # of this program; pyproject.toml reads it here
DISTRIBUTION = "likeness-bench"  # its name on PyPI, where `likeness` is another project
EXTRAS = {  # the extra that installs a package: "" for none; packages not listed come with `compute`
    "dreamsim": "perceptual",
    "lpips": "perceptual",
    "mcp": "",
    "peft": "training",
    "ray": "ray",
    "s3fs": "s3",
    "scikit-image": "",
}


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Returns the exact version of each package, MISSING for one that is not installed."""
    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = MISSING
    return versions


def minor(versions: Mapping[str, str]) -> dict[str, str]:
    """Shortens each version to major.minor: patch releases only fix bugs, so a run made with another patch release is
    the same run.
    """
    return {name: match[0] if (match := re.match(r"\d+(\.\d+)?", full)) else full for name, full in versions.items()}


def exact(settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns the installed versions of all packages listed under `packages` in settings, at any depth."""
    named: set[str] = set()
    for key, value in settings.items():
        if isinstance(value, Mapping):
            named.update(value if key == "packages" else exact(value))
    return installed(sorted(named))


def install_command(*packages: str) -> str:
    """Returns the command that installs these packages with the program, by its extras, for an installed program or a
    checkout. Without packages, it installs everything that runs models.
    """
    extras = ",".join(sorted({EXTRAS.get(name, "compute") for name in packages or ("torch",)} - {""}))
    program = DISTRIBUTION if installed([DISTRIBUTION])[DISTRIBUTION] != MISSING else "."
    wanted = f"{program}[{extras}]" if extras else program
    return f'pip install {"-e " if program == "." else ""}"{wanted}"'


def without_package(error: ModuleNotFoundError) -> str:
    """Returns which package is not installed, and the remedy, in sentences. Empty if the package is installed but a
    module of it is missing, which is a bug of the program.
    """
    name = (error.name or "").partition(".")[0]
    if not name or importlib.util.find_spec(name) is not None:
        return ""
    return f"The package {name} is not installed: {install_command(name)}"


@contextmanager
def naming_packages() -> Iterator[None]:
    """Raises NotHere for a missing package, with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if problem := without_package(error):
            raise NotHere(problem) from error
        raise
