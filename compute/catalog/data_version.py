"""The version of the published scores: the newest entry of `assets/published/CHANGELOG.md`.

An entry records the digest of the scores as they were, so that no figure changes without a new version.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from compute.paths import PUBLISHED
from compute.types import BadInput

CHANGELOG = PUBLISHED / "CHANGELOG.md"
ENTRY = re.compile(
    r"(?P<number>\d+\.\d+), (?P<date>\d{4}-\d\d-\d\d)\n+Digest: `(?P<digest>[0-9a-f]{32})`\n+(?P<changes>.+)", re.S
)


@dataclass(frozen=True, kw_only=True)
class DataVersion:
    """One entry: a number such as `1.2`, its date, the digest of the scores, and what changed, in Markdown."""

    number: str
    date: str
    digest: str
    changes: str

    @property
    def tag(self) -> str:
        """The name of its snapshot in a data set of the hub."""
        return f"v{self.number}"


def history(path: Path = CHANGELOG) -> tuple[DataVersion, ...]:
    """Every version, the newest first. Raises BadInput for an entry that cannot be read."""
    _, *entries = path.read_text(encoding="utf-8").split("\n## ")
    versions = []
    for entry in entries:
        match = ENTRY.fullmatch(entry.strip())
        if match is None:
            raise BadInput(
                f"{path.name}: the entry {entry.partition(chr(10))[0]!r} is not `NUMBER, DATE`, a line "
                "`Digest: ...` and a list of changes"
            )
        versions.append(DataVersion(**match.groupdict()))

    return tuple(versions)


def current() -> DataVersion:
    """The version of the scores in this repository."""
    return history()[0]


def digest(folder: Path = PUBLISHED) -> str:
    """32 hex digits over the names and contents of the tables, whatever the ends of their lines."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.glob("*.csv")):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.name} {len(content)}\n".encode() + content)
    return whole.hexdigest()
