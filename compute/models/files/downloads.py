"""Files published at a URL rather than on the hub. They are downloaded once into torch's cache, never into the working
folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from compute.types import BadInput, NotHere


@dataclass(frozen=True, kw_only=True)
class Published:
    """A file that a model needs from a URL, or an archive to be unpacked."""

    url: str
    sha256: str = ""  # the first digits of the file's hash
    size: int | None = None  # bytes, if the publisher states it
    archive: bool = False

    @property
    def path(self) -> Path:
        """Returns the path of the file, or of the archive's folder, once downloaded."""
        path = Path(urlsplit(self.url).path)
        return cache() / unquote(path.stem if self.archive else path.name)

    def fetch(self) -> Path:
        """Returns `path`, downloaded into torch's cache if necessary. An archive is unpacked next to its file.

        Raises NotHere without a network, BadInput if the content differs or is not a complete archive.
        """
        return self._unpacked() if self.archive else self._downloaded()

    def _downloaded(self) -> Path:
        import torch
        from huggingface_hub import constants

        target = self.path
        if not target.is_file():
            missing = f"{target.name} is not on this machine. Fetch it: curl -L --create-dirs -o {target} {self.url}"
            if constants.HF_HUB_OFFLINE:
                raise NotHere(missing)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                torch.hub.download_url_to_file(self.url, str(target), self.sha256, progress=sys.stderr.isatty())
            except OSError as error:
                raise NotHere(f"{missing} ({error})") from error
            except RuntimeError as error:
                raise BadInput(f"What is at {self.url} is not {target.name}: {error}. Run again") from error
        return target

    def _unpacked(self) -> Path:
        folder = self.path
        if folder.is_dir():
            return folder
        archive = replace(self, archive=False).fetch()
        with tempfile.TemporaryDirectory(dir=archive.parent) as draft:
            try:
                shutil.unpack_archive(archive, draft, "zip")
            except (zipfile.BadZipFile, shutil.ReadError) as error:
                raise BadInput(f"{archive} is not a complete archive. Delete it and run again") from error
            Path(draft).chmod(0o755)
            with contextlib.suppress(OSError):  # another process has unpacked it in the meantime
                os.rename(draft, folder)
        return folder


def cache() -> Path:
    """Returns torch's folder for such files without importing torch, which takes seconds."""
    home = os.environ.get("TORCH_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "torch"
    return Path(home).expanduser() / "hub" / "checkpoints"
