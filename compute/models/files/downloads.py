"""Files published at an address and not on the hub: fetched once into torch's cache, never into the working folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from compute.types import BadInput, NotHere


@dataclass(frozen=True, kw_only=True)
class Published:
    """A file that a model needs from an address, or an archive to be unpacked."""

    url: str
    sha256: str = ""
    archive: bool = False

    @property
    def path(self) -> Path:
        """Where the file, or the archive's folder, lies once it has come."""
        path = Path(urlsplit(self.url).path)
        return cache() / unquote(path.stem if self.archive else path.name)

    def fetch(self) -> Path:
        """Its place, fetched if need be. Raises as `fetched`."""
        return (unpacked if self.archive else fetched)(self.url, sha256=self.sha256)


def cache() -> Path:
    """Where torch keeps such files; told without importing it, which takes seconds."""
    home = os.environ.get("TORCH_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "torch"
    return Path(home).expanduser() / "hub" / "checkpoints"


def fetched(url: str, *, sha256: str = "") -> Path:
    """The file at `url`, from torch's cache or downloaded into it. `sha256`: first digits of the file's hash, checked.

    Raises NotHere without network, BadInput where the content is another.
    """
    import torch
    from huggingface_hub import constants

    target = Published(url=url).path
    if not target.is_file():
        missing = f"{target.name} is not on this machine. Fetch it: curl -L --create-dirs -o {target} {url}"
        if constants.HF_HUB_OFFLINE:
            raise NotHere(missing)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(url, str(target), progress=sys.stderr.isatty())
        except OSError as error:
            raise NotHere(f"{missing} ({error})") from error
    if sha256 and not _digest(target).startswith(sha256):
        raise BadInput(
            f"{target} is not the file published at {url}: its SHA-256 does not begin with {sha256}. "
            "Delete it and run again"
        )
    return target


def unpacked(url: str, *, sha256: str = "") -> Path:
    """The folder that the archive at `url` holds, unpacked beside it. Raises as `fetched`."""
    folder = Published(url=url, archive=True).path
    if folder.is_dir():
        return folder
    archive = fetched(url, sha256=sha256)
    draft = Path(tempfile.mkdtemp(dir=archive.parent))
    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(draft)
        os.replace(draft, folder)
    except zipfile.BadZipFile as error:
        raise BadInput(f"{archive} is no whole archive. Delete it and run again") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
