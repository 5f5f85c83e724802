"""A checkpoint's files on the hub: their sizes beforehand, and a download that resumes where it broke off.

The hub's own client starts each file anew; a large one that broke off would never arrive over a poor connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from compute.models.files import digests
from compute.models.files.weights import COMMIT, SMALL, RequiredFiles, cache_home
from compute.types import LikenessError, Model, NotHere

PART = 1 << 18  # bytes written at once: what a stop loses at most
ATTEMPTS = 5  # at a file, one after another that brought nothing
PAUSE = 1.0  # seconds between them
ANSWER = 10.0  # seconds that the hub has to list its files
PASSING = (408, 429, 500, 502, 503, 504)  # what may succeed at the next attempt


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """One file; `sha256` is empty for a small one, which is stored in git."""

    name: str
    size: int  # bytes
    sha256: str = ""


def list_files(row: Model, *, required: RequiredFiles) -> tuple[HubFile, ...]:
    """What the hub holds of the row's files at its revision, the smallest first. Raises NotHere, as a sentence."""
    from huggingface_hub import HfApi

    try:
        info = HfApi().model_info(row.weights, revision=row.revision or None, files_metadata=True, timeout=ANSWER)
    except Exception as error:  # of the hub's client and of whichever network library it stands on
        raise _readable(row, error) from error
    entries = {entry.rfilename: entry for entry in info.siblings or []}
    missing = required.missing(list(entries))
    if missing:
        raise NotHere(f"{row.weights} at {info.sha} has no {', no '.join(missing)}")
    files = [
        HubFile(
            name=name,
            size=(entry.lfs.size if entry.lfs else entry.size) or 0,
            sha256=entry.lfs.sha256 if entry.lfs else "",
        )
        for name, entry in entries.items()
        if name in required.names(entries)
    ]
    return tuple(sorted(files, key=lambda file: (file.size, file.name)))


def fetch_configuration(row: Model, *, offline: bool = False) -> Path:
    """The snapshot in the hub's cache with the configurations and the card of the row's repository, and no weights: its
    name is the commit. Raises NotHere, as a sentence."""
    from huggingface_hub import constants, snapshot_download

    if offline or constants.is_offline_mode():
        revision = f" --revision {row.revision}" if row.revision else ""
        raise NotHere(f"{row.weights} is not on this machine, and it is offline: hf download {row.weights}{revision}")
    patterns = [*SMALL, *(f"*/{name}" for name in SMALL), "README.md"]
    try:
        return Path(snapshot_download(row.weights, revision=row.revision or None, allow_patterns=patterns))
    except Exception as error:  # of the hub's client and of whichever network library it stands on
        raise _readable(row, error) from error


def missing_bytes(row: Model, files: tuple[HubFile, ...]) -> int:
    """Bytes still to download."""
    return sum(file.size - min(file.size, _stored_bytes(_blob(row, file))) for file in files)


def fetch(row: Model, files: tuple[HubFile, ...], *, progress: Callable[[int], None] = lambda count: None) -> None:
    """Downloads files into the hub's cache one after another; `progress` gets the number of bytes stored so far.

    Weights are the largest and come last, since a checkpoint counts as downloaded once they are stored. Raises NotHere,
    as a sentence; the part of a large file that arrived stays, and the next call resumes there.
    """
    from huggingface_hub import hf_hub_download

    stored = 0
    try:
        for file in files:
            progress(stored)
            if file.sha256:
                _fetch_large(row, file, lambda count, before=stored: progress(before + count))
            hf_hub_download(row.weights, file.name, revision=row.revision or None)  # a large one is linked only
            stored += file.size
        progress(stored)
    except LikenessError:
        raise
    except Exception as error:  # of the hub's client and of whichever network library it stands on
        raise _readable(row, error) from error


def _fetch_large(row: Model, file: HubFile, progress: Callable[[int], None]) -> None:
    """Completes one file's draft, and uses it if its SHA-256 is what the hub states."""
    from huggingface_hub.utils import WeakFileLock

    blob = _blob(row, file)
    draft = _draft(blob)
    lock = blob.parents[2] / ".locks" / blob.parents[1].name / f"{blob.name}.lock"  # the hub's client holds it too
    for folder in (blob.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(lock):
        if blob.exists():
            return
        with draft.open("ab") as out:
            _download(row, file, out, progress)
        if digests.read(draft, algorithm="sha256") == file.sha256:
            draft.replace(blob)
            return
        draft.unlink()
        raise NotHere(
            f"{file.name} of {row.weights} arrived damaged: its SHA-256 is not the one that the hub states. Try again"
        )


def _download(row: Model, file: HubFile, out: BinaryIO, progress: Callable[[int], None]) -> None:
    from huggingface_hub.errors import HfHubHTTPError

    failures = 0
    progress(out.tell())
    while (before := out.tell()) < file.size:
        problem = "it ended early"
        try:
            _resume(row, file, out, progress)
        except HfHubHTTPError as error:
            if error.response.status_code not in PASSING:
                raise
            problem = f"the answer was {error.response.status_code}"
        except OSError:  # of the disk, or of who is told
            raise
        except Exception as error:  # of whichever network library the hub's client stands on
            problem = type(error).__name__
        if out.tell() >= file.size:
            break
        failures = failures + 1 if out.tell() <= before else 0
        if failures == ATTEMPTS:
            raise NotHere(
                f"The connection broke off while {file.name} of {row.weights} was coming ({problem}). What "
                "has come is kept: try again later"
            )
        progress(out.tell())
        time.sleep(PAUSE)


def _resume(row: Model, file: HubFile, out: BinaryIO, progress: Callable[[int], None]) -> None:
    """Requests the rest. The network library takes the hub's token off where it is sent on to another host."""
    from huggingface_hub import constants, get_session, hf_hub_url
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    start = out.tell()
    headers = {**build_hf_headers(), "Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
    url = hf_hub_url(row.weights, file.name, revision=row.revision or None)
    with get_session().stream("GET", url, headers=headers, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT) as response:
        hf_raise_for_status(response)
        if response.status_code != 206:  # not the rest: all of it
            out.seek(0)
            out.truncate()
        for part in response.iter_bytes(PART):
            out.write(part)
            out.flush()
            progress(out.tell())


def _blob(row: Model, file: HubFile) -> Path:
    """Where the hub's cache keeps a large file's content."""
    return cache_home(row) / "blobs" / (file.sha256 or "-")


def _draft(blob: Path) -> Path:
    return blob.with_name(f"{blob.name}.incomplete")


def _stored_bytes(blob: Path) -> int:
    return next((path.stat().st_size for path in (blob, _draft(blob)) if path.exists()), 0)


def _readable(row: Model, error: Exception) -> NotHere:
    """The failure as a sentence that anyone may read: no address, no folder of this machine."""
    from huggingface_hub import errors

    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # the hub's client: there is none here either
    revision = row.revision[:7] if COMMIT.fullmatch(row.revision) else row.revision or "main"
    if isinstance(error, errors.GatedRepoError):
        return NotHere(f"{row.weights} is gated: this app's host must be granted access to it, and set HF_TOKEN")
    if isinstance(error, errors.RevisionNotFoundError):
        return NotHere(f"{row.weights} has no commit {revision} on the hub")
    if isinstance(error, errors.RepositoryNotFoundError):
        return NotHere(f"The hub has no {row.weights}, or shows it to its owners only")
    if isinstance(error, errors.HfHubHTTPError):
        return NotHere(f"The hub answers {error.response.status_code} for {row.weights} at {revision}. Try again later")
    if isinstance(error, OSError) and error.errno and not isinstance(error, ConnectionError):
        return NotHere(f"{row.weights} could not be written: {error.strerror}")
    return NotHere(f"The hub cannot be reached for {row.weights} ({type(error).__name__}). Try again later")
