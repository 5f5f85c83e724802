"""Files of a checkpoint: their location, their digests, and reading them without running code from them.

They are in a local folder, in an installed package, or in the hub's cache at the row's revision. Missing files are
fetched: sizes are known before the first download, and failures are reported as sentences.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import importlib.util
import json
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.content.items import content_key
from compute.paths import ROOT
from compute.types import BadInput, Model, NotHere
from compute.versions import install_command

if TYPE_CHECKING:
    import torch
    from huggingface_hub.hf_api import RepoSibling

COMMIT = re.compile(r"[0-9a-f]{40}")
DIGEST = "files-"  # prefix of the digest of a local folder's files; a checkpoint of the hub has its commit instead
PACKAGE = "package:"  # prefix of the name of an installed package with weights
SMALL = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")  # configurations and tokenizers in the top folder

# Groups of patterns that families share. Safetensors come first, because they cannot contain code.
CONFIG = ("config.json",)
WEIGHTS = ("model.safetensors", "model-*-of-*.safetensors", "pytorch_model.bin", "pytorch_model-*-of-*.bin")
ADAPTED = (*WEIGHTS, "adapter_model.safetensors", "adapter_model.bin")
PROCESSOR = ("preprocessor_config.json", "processor_config.json")
TOKENIZER = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
OPEN_CLIP = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
ANY = (*ADAPTED, *OPEN_CLIP)
# Early versions of the sentence-transformers library stored the files of its Transformer in a separate folder.
OLD_TRANSFORMER = "0_Transformer"
OF_MODULES = (  # settings and weights of other modules, such as 1_Pooling and 2_Dense
    f"{OLD_TRANSFORMER}/*.json",
    f"{OLD_TRANSFORMER}/*.txt",
    f"{OLD_TRANSFORMER}/*.model",
    "[1-9]_*/config.json",
    "[1-9]_*/model.safetensors",
    "[1-9]_*/pytorch_model.bin",
)
OPTIONAL = ("*",)  # any file of the folder, if a row names one
ANSWER = 10.0  # seconds that the hub has to list a repository's files


class ChangedFiles(BadInput):
    """A checkpoint named by an option whose files do not match its revision."""


@dataclass(frozen=True, kw_only=True)
class RequiredFiles:
    """The files of a checkpoint that a family reads, as name patterns. Those in `also` are optional."""

    weights: tuple[str, ...] = ANY
    needs: tuple[tuple[str, ...], ...] = ()
    also: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Returns the required groups, one file each: any name of a group is sufficient."""
        return (*self.needs, self.weights) if self.weights else self.needs

    def missing(self, names: Sequence[str]) -> list[str]:
        """Describes in words the groups without a file among `names`. All parts of a sharded checkpoint must exist."""
        missing = [" or ".join(group[:2]) for group in self.groups if not _first(names, group)]
        for name in _first(names, self.weights):
            if split := re.fullmatch(r"(?s)(.*-)(\d+)-of-(\d+)(\..+)", name):
                before, number, total, after = split.groups()
                parts = (f"{before}{part:0{len(number)}}-of-{total}{after}" for part in range(1, int(total) + 1))
                missing += [part for part in parts if part not in names]
        return missing

    def names(self, names: Iterable[str]) -> list[str]:
        """Returns the sorted files to fetch, which also identify a checkpoint: one format of weights, and all small
        files.
        """
        names = list(names)
        top = [name for name in names if "/" not in name]
        files = {name for group in self.groups for name in _first(names, group)}
        files.update(name for small in SMALL for name in fnmatch.filter(top, small))
        files.update(name for also in self.also for name in fnmatch.filter(names, also))
        return sorted(files)


def is_downloaded(row: Model, *, required: RequiredFiles) -> bool:
    """Returns whether all files of the row are in its local folder or in the hub's cache. Never uses the network."""
    try:
        folder = own_folder(row) or cached_folder(row)
    except NotHere:
        return False
    return folder is not None and not required.missing(listing(folder))


def revision(row: Model, *, required: RequiredFiles | None = None) -> str:
    """Returns the identity of these files: the pinned or cached commit, or `files-` and a digest for a local folder.

    Never uses the network. For a branch that was not fetched yet, it is the branch's name. A missing local folder
    raises NotHere.
    """
    own = own_folder(row)
    if own is not None:
        names = (required or RequiredFiles()).names(listing(own))
        return DIGEST + content_key("".join(f"{name} {digest(own / name)}\n" for name in names)).decode()
    return commit_of(row) or row.revision


def own_folder(row: Model) -> Path | None:
    """Returns the folder that `weights` names: an absolute path, a path within the repository, or `package:` and the
    name of an installed package, whose code is never run. None for a hub id. Raises NotHere if the folder is missing.
    """
    if not row.weights:
        raise BadInput(f"{row.key} has no weights")
    if row.weights.startswith(PACKAGE):
        return _package_folder(row)
    path = Path(row.weights).expanduser()
    inside = ROOT / path
    if path.is_absolute() or inside.is_dir():
        if not inside.is_dir():
            raise NotHere(f"{row.key}: there is no folder {path}")
        return inside
    if row.weights.count("/") > 1 or row.weights.startswith((".", "assets/")):
        raise NotHere(f"{row.key}: there is no folder {inside}")
    return None


def with_folders(row: Model, change: Callable[[str], str]) -> Model:
    """Applies `change` to every folder that the row names: absolute paths and paths that begin with a dot, of the row's
    checkpoint and of checkpoints in its options.
    """

    def changed(name: str) -> str:
        return change(name) if name.startswith(".") or Path(name).is_absolute() else name

    options = {
        option: {**value, "weights": changed(value["weights"])}
        if isinstance(value, Mapping) and isinstance(value.get("weights"), str)
        else value
        for option, value in row.options.items()
    }
    return replace(row, weights=changed(row.weights), options=options)


def by_name(row: Model) -> Model:
    """Returns the row as others may see it: folders are reduced to their names, without their location on this
    machine.
    """
    return with_folders(row, lambda folder: Path(folder).name)


def _package_folder(row: Model) -> Path:
    name = row.weights.removeprefix(PACKAGE)
    spec = importlib.util.find_spec(name.replace("-", "_"))  # finds a package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise NotHere(f"{row.key}: its weights are the package {name}, not installed here: {install_command(name)}")
    return Path(spec.submodule_search_locations[0])


def _first(names: Sequence[str], group: Sequence[str]) -> list[str]:
    """Returns all names that match the first pattern of a group with any match."""
    return next(filter(None, (fnmatch.filter(names, pattern) for pattern in group)), [])


def listing(folder: Path) -> list[str]:
    """Returns the sorted names of all files below a folder, except hidden ones."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def cache_home(row: Model) -> Path:
    """Returns the folder of the row's repository in the hub's cache."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{row.weights.replace('/', '--')}"


def commit_of(row: Model) -> str:
    """Returns the commit of the row's revision if it is pinned or cached; otherwise empty."""
    if COMMIT.fullmatch(row.revision):
        return row.revision
    reference = cache_home(row) / "refs" / (row.revision or "main")
    return reference.read_text(encoding="utf-8").strip() if reference.is_file() else ""


def cached_folder(row: Model) -> Path | None:
    """Returns the folder in the hub's cache for the row's revision, complete or not; None if there is none."""
    commit = commit_of(row)
    folder = cache_home(row) / "snapshots" / commit
    return folder if commit and folder.is_dir() else None


def digest(path: Path) -> str:
    """Returns the 16-byte BLAKE2b digest of a file's content, or of the names and contents of all files below a
    folder.
    """
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        return content_key("".join(f"{name} {digest(path / name)}\n" for name in names)).decode()
    stat = path.stat()
    return _remembered(path.resolve(), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=4096)
def _remembered(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, partial(hashlib.blake2b, digest_size=16)).hexdigest()


def existing(file: Path) -> Path:
    """Returns `file` as it is. Raises NotHere if it is missing."""
    if not file.is_file():
        raise NotHere(f"{file.name} is missing from {file.parent}. Fetch the whole checkpoint again")
    return file


def tensors(file: Path) -> dict[str, Any]:
    """Returns the content of a file made by torch.save, on the CPU. Raises NotHere, and BadInput for anything but
    tensors.
    """
    import torch

    try:
        return torch.load(existing(file), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise BadInput(f"{file} holds more than tensors, or is not whole; it is not loaded") from error


def under(state: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """Returns the entries whose names begin with `prefix`, with the prefix removed."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def fill(module: torch.nn.Module, state: Mapping[str, torch.Tensor], *, of: str) -> None:
    """Loads every weight of a module. Raises BadInput if one is missing, unknown or of another shape."""
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise BadInput(f"The checkpoint does not fit {of}: {one_line(error)}") from error


def architecture(folder: Path) -> str:
    """Returns the `model_type` in the folder's config.json; empty if there is none."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", "")


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds torch's random numbers within the block; afterwards its random state is restored."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def one_line(error: BaseException) -> str:
    """Returns the beginning of an error's message, at most 300 characters."""
    return " ".join(str(error).split())[:300]


def local_folder(row: Model, *, required: RequiredFiles) -> Path:
    """Returns the folder with the row's files, fetched into the hub's cache if necessary; nothing is written elsewhere.

    A branch resolves to the cached commit, so that the runs of one machine agree until it is fetched again. Raises
    NotHere, which names what is missing and how to fetch it.
    """
    own = own_folder(row)
    folder = own or cached_folder(row)
    missing = required.missing(listing(folder) if folder else [])
    if own and missing:
        raise NotHere(f"{row.key}: {own} has no {', no '.join(missing)}")
    if folder is None or missing:
        folder = _fetched(row, required=required, missing=missing)
    return folder


def checkpoint_of(row: Model, named: Mapping[str, str] | None, *, option: str, required: RequiredFiles) -> Path:
    """Returns the local folder of a second checkpoint, `{"weights": ..., "revision": ...}` in the row's `option`.

    The revision of a folder or a package is the digest of its files, as returned by `revision`. Raises NotHere if it is
    not on this machine and cannot be fetched, BadInput if the row does not name it, and ChangedFiles if its files have
    another digest.
    """
    if not named or set(named) - {"weights", "revision"} or not named.get("weights"):
        raise BadInput(
            f'{row.key}: option {option!r} names a checkpoint as {{"weights": "...", "revision": "..."}}; got {named!r}'
        )
    named_row = replace(row, weights=named["weights"], revision=named.get("revision", ""), options={})
    folder = local_folder(named_row, required=required)
    if named_row.revision.startswith(DIGEST):
        digest = revision(named_row, required=required)
        if digest != named_row.revision:
            raise ChangedFiles(
                f"{row.key}: the files of {named_row.weights} are {digest}, and its option {option!r} names "
                f"{named_row.revision}. Install that version, or change the option"
            )
    return folder


def list_files(row: Model, *, required: RequiredFiles) -> list[RepoSibling]:
    """Returns the row's files on the hub at its revision, the smallest first. Raises NotHere."""
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
    """Returns the snapshot in the hub's cache with the row's files. A branch is fetched by name, so that the cache
    records its commit. Raises NotHere; offline, the message lists what is `missing` and the command that fetches it.
    """
    from huggingface_hub import constants

    if constants.is_offline_mode():
        revision = commit_of(row) or row.revision or "main"
        raise NotHere(
            f"{row.key}: {row.weights} at {revision} lacks {', '.join(missing) or 'its files'} in the hub's cache "
            f"{constants.HF_HUB_CACHE} (HF_HOME moves it). "
            f"Fetch it: hf download {row.weights} --revision {revision}"
        )
    return _snapshot(row, [file.rfilename for file in list_files(row, required=required)])


def fetch_configuration(row: Model, *, offline: bool) -> Path:
    """Returns the snapshot in the hub's cache with the configurations and the card of the row's repository, without
    weights; the folder's name is the commit. Raises NotHere.
    """
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
    """Returns the total size in bytes of the files that are not in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache

    return sum(
        file.size
        for file in files
        if not isinstance(try_to_load_from_cache(row.weights, file.rfilename, revision=row.revision or None), str)
    )


def fetch(row: Model, files: list[RepoSibling], *, progress: Callable[[int], None]) -> None:
    """Downloads files into the hub's cache one by one; `progress` gets the number of bytes stored so far.

    Weights are the largest files and come last, because a checkpoint counts as downloaded once they are stored. An
    exception in `progress`, or an interrupt, ends the download; incomplete files are removed. Raises NotHere.
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
            """Ignores the bytes transferred; `update` counts the bytes stored."""

        def set_transfer_postfix_str(self, postfix: str, refresh: bool = False) -> None:
            """Ignores the transfer rate."""

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
    """Returns the failure as a sentence that anyone may read, without addresses or local folders."""
    from huggingface_hub import errors

    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # raised by the hub's client when the file is not local either
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
