"""A checkpoint's files, fetched from the hub if need be: sizes before the first is, and failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from compute.models.files import weights
from compute.models.files.weights import COMMIT, SMALL, ChangedFiles, RequiredFiles
from compute.types import BadInput, Model, NotHere

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

ANSWER = 10.0  # seconds that the hub has to list its files


def local_folder(row: Model, *, required: RequiredFiles) -> Path:
    """The folder with the row's files, fetched into the hub's cache if need be; nothing is written elsewhere.

    A branch means the commit that the cache knows it by, so that one machine's runs agree until it is fetched again.
    Raises NotHere naming what is missing and how to fetch it.
    """
    own = weights.own_folder(row)
    folder = own or weights.cached_folder(row)
    missing = required.missing(weights.listing(folder) if folder else [])
    if own and missing:
        raise NotHere(f"{row.key}: {own} has no {', no '.join(missing)}")
    if folder is None or missing:
        folder = _fetched(row, required=required, missing=missing)
    return folder


def checkpoint_of(row: Model, named: Mapping[str, str] | None, *, option: str, required: RequiredFiles) -> Path:
    """The local folder of a second checkpoint, `{"weights": ..., "revision": ...}` in the row's `option`.

    The revision of a folder or a package is the digest of its files, as `weights.revision` has it.
    Raises NotHere where it is not on this machine and cannot be fetched, BadInput where the row does not name it, and
    ChangedFiles where its files have another digest.
    """
    if not named or set(named) - {"weights", "revision"} or not named.get("weights"):
        raise BadInput(
            f'{row.key}: option {option!r} names a checkpoint as {{"weights": "...", "revision": "..."}}; got {named!r}'
        )
    named_row = replace(row, weights=named["weights"], revision=named.get("revision", ""), options={})
    folder = local_folder(named_row, required=required)
    if named_row.revision.startswith(weights.DIGEST):
        digest = weights.revision(named_row, required=required)
        if digest != named_row.revision:
            raise ChangedFiles(
                f"{row.key}: the files of {named_row.weights} are {digest}, and its option {option!r} names "
                f"{named_row.revision}. Install that version, or change the option"
            )
    return folder


def list_files(row: Model, *, required: RequiredFiles) -> list[RepoSibling]:
    """What the hub holds of the row's files at its revision, the smallest first. Raises NotHere, as a sentence."""
    from huggingface_hub import HfApi

    with _readable_errors(row):
        info = HfApi().model_info(row.weights, revision=row.revision or None, files_metadata=True, timeout=ANSWER)
    names = [file.rfilename for file in info.siblings]
    missing = required.missing(names)
    if missing:
        raise NotHere(f"{row.weights} at {info.sha} has no {', no '.join(missing)}")
    wanted = required.names(names)
    return sorted((file for file in info.siblings if file.rfilename in wanted), key=lambda file: file.size)


def _fetched(row: Model, *, required: RequiredFiles, missing: list[str]) -> Path:
    """The snapshot in the hub's cache with the row's files, by branch where there is one, so that the cache records the
    commit it stood for. Raises NotHere: offline with what is `missing` and the command that fetches it."""
    from huggingface_hub import constants

    if constants.is_offline_mode():
        revision = weights.commit_of(row) or row.revision or "main"
        raise NotHere(
            f"{row.key}: {row.weights} at {revision} lacks {', '.join(missing) or 'its files'} in the hub's cache "
            f"{constants.HF_HUB_CACHE} (HF_HOME moves it). "
            f"Fetch it: hf download {row.weights} --revision {revision}"
        )
    return _snapshot(row, [file.rfilename for file in list_files(row, required=required)])


def fetch_configuration(row: Model, *, offline: bool = False) -> Path:
    """The snapshot in the hub's cache with the configurations and the card of the row's repository, and no weights: its
    name is the commit. Raises NotHere, as a sentence."""
    from huggingface_hub import constants

    if offline or constants.is_offline_mode():
        revision = f" --revision {row.revision}" if row.revision else ""
        raise NotHere(f"{row.weights} is not on this machine, and it is offline: hf download {row.weights}{revision}")
    return _snapshot(row, [*SMALL, *(f"*/{name}" for name in SMALL), "README.md"])


def _snapshot(row: Model, patterns: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    with _readable_errors(row):
        return Path(snapshot_download(row.weights, revision=row.revision or None, allow_patterns=patterns))


def missing_bytes(row: Model, files: list[RepoSibling]) -> int:
    """Bytes of the files that are not in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache

    return sum(
        file.size
        for file in files
        if not isinstance(try_to_load_from_cache(row.weights, file.rfilename, revision=row.revision or None), str)
    )


def fetch(row: Model, files: list[RepoSibling], *, progress: Callable[[int], None]) -> None:
    """Downloads files into the hub's cache one after another; `progress` gets the number of bytes stored so far.

    Weights are the largest and come last, since a checkpoint counts as downloaded once they are stored. What `progress`
    raises, or an interrupt, ends it; of a file that is not whole nothing stays. Raises NotHere, as a sentence.
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import tqdm

    stored = sum(file.size for file in files) - missing_bytes(row, files)

    class Counted(tqdm):
        def update(self, n: float | None = 1) -> None:
            nonlocal stored
            stored += n
            progress(stored)

        def update_transfer(self, n: float | None = 1) -> None:
            """What the network brought; `update` has what is stored of it."""

        def set_transfer_postfix_str(self, postfix: str, refresh: bool = False) -> None:
            """Its rate."""

    progress(stored)
    with _readable_errors(row):
        for file in files:
            hf_hub_download(row.weights, file.rfilename, revision=row.revision or None, tqdm_class=Counted)


@contextmanager
def _readable_errors(row: Model) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # of the hub's client and its network library
        raise _readable(row, error) from error


def _readable(row: Model, error: Exception) -> NotHere:
    """The failure as a sentence that anyone may read: no address, no folder of this machine."""
    from huggingface_hub import errors

    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # the hub's client: there is none here either
    revision = row.revision[:7] if COMMIT.fullmatch(row.revision) else row.revision or "main"
    if isinstance(error, errors.HFValidationError):
        return NotHere(f"{row.weights!r} is neither a folder nor a hub id")
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
