"""Files of a checkpoint: where they are, their digests, and how they are read without running code from them.

They are in an own folder, in an installed package, or in the hub's cache at the row's revision.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import math
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.io.files import write_text
from compute.paths import ROOT
from compute.types import BadInput, CannotWrite, Model, NotHere
from compute.versions import install_command

if TYPE_CHECKING:
    import torch

COMMIT = re.compile(r"[0-9a-f]{40}")
DIGEST = "files-"  # before the digest of an own folder's files, where a checkpoint of the hub has its commit
PACKAGE = "package:"  # before the name of an installed package that carries weights
SMALL = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")  # configurations and tokenizers, of the top folder
SMALL_FILE = 1 << 20  # bytes: below, reading a file takes no longer than looking its digest up

# Groups of patterns that families share; safetensors come first, for they hold no code.
CONFIG = ("config.json",)
WEIGHTS = ("model.safetensors", "model-*-of-*.safetensors", "pytorch_model.bin", "pytorch_model-*-of-*.bin")
ADAPTED = (*WEIGHTS, "adapter_model.safetensors", "adapter_model.bin")
PROCESSOR = ("preprocessor_config.json", "processor_config.json")
TOKENIZER = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
OPEN_CLIP = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
ANY = (*ADAPTED, *OPEN_CLIP)
# The sentence-transformers library kept the files of its Transformer in their own folder at first.
OLD_TRANSFORMER = "0_Transformer"
OF_MODULES = (  # settings and weights of its other modules, such as 1_Pooling and 2_Dense
    f"{OLD_TRANSFORMER}/*.json",
    f"{OLD_TRANSFORMER}/*.txt",
    f"{OLD_TRANSFORMER}/*.model",
    "[1-9]_*/config.json",
    "[1-9]_*/model.safetensors",
    "[1-9]_*/pytorch_model.bin",
)
# What a configuration states, and how much of it a checkpoint's weights can bear: a library builds the network that it
# states before it looks at a weight.
CONFIGURATIONS = ("config.json", "open_clip_config.json")
LAYERS = re.compile(r"(num_|n_)?(hidden_|encoder_|decoder_|text_|vision_)*(layers?|depths?)")
WIDTHS = re.compile(r"hidden_sizes?|width|d_model|n_embd|dim|embed_dims?")
MAX_CONFIGURATION, MAX_HEADER, MAX_LAYERS = 4 << 20, 16 << 20, 10_000
PACKED = 8  # numbers that a byte may stand for, quantised
OPTIONAL = ("*",)  # whatever is in the folder, where a row names one


class ChangedFiles(BadInput):
    """A checkpoint that an option names has other files than those of its revision."""


@dataclass(frozen=True, kw_only=True)
class RequiredFiles:
    """The files of a checkpoint that a family reads, as patterns of names; `also`: those that it can do without."""

    weights: tuple[str, ...] = ANY
    needs: tuple[tuple[str, ...], ...] = ()
    also: tuple[str, ...] = ()
    code: bool = False  # the checkpoint's own Python files too

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """What is required, a group for each file: any one name of a group will do."""
        return (*self.needs, self.weights) if self.weights else self.needs

    def missing(self, names: Sequence[str]) -> list[str]:
        """The groups without a file among `names`, in words; every part of a split checkpoint must be there."""
        missing = [" or ".join(group[:2]) for group in self.groups if not _first(names, group)]
        for name in _first(names, self.weights):
            if split := re.fullmatch(r"(?s)(.*-)(\d+)-of-(\d+)(\..+)", name):
                before, number, total, after = split.groups()
                parts = (f"{before}{part:0{len(number)}}-of-{total}{after}" for part in range(1, int(total) + 1))
                missing += [part for part in parts if part not in names]
        return missing

    def names(self, names: Iterable[str]) -> list[str]:
        """The files to fetch and to identify a checkpoint by, sorted: one format of weights, and all small files."""
        names = sorted(names)
        files = {name for group in self.groups for name in _first(names, group)}
        files.update(name for name in names if "/" not in name and any(fnmatch(name, small) for small in SMALL))
        files.update(name for name in names if any(fnmatch(name, pattern) for pattern in self.also))
        if self.code:
            files.update(name for name in names if name.endswith(".py"))
        return sorted(files)


def local_folder(row: Model, *, required: RequiredFiles) -> Path:
    """The folder with the row's files, fetched into the hub's cache if need be; nothing is written elsewhere.

    A branch means the commit that the cache knows it by, so that one machine's runs agree until it is fetched again.
    Raises NotHere naming what is missing and how to fetch it.
    """
    folder = own = own_folder(row)
    if own is not None:
        missing = required.missing(listing(own))
        if missing:
            raise NotHere(f"{row.key}: {own} has no {', no '.join(missing)}")
    else:
        folder = cached_folder(row)
        if folder is None or required.missing(listing(folder)):
            folder = _fetched(row, required=required, cached=folder)
    check_sizes(folder, required.names(listing(folder)), of=row.key)
    return folder


def check_sizes(folder: Path, names: Sequence[str], *, of: str) -> None:
    """Raises BadInput where a configuration states a network that the weights next to it cannot fill: more layers than
    there are tensors, layers of more numbers than are stored; and where a file is beyond what is read."""
    stored = [name for name in names if name.endswith((".safetensors", ".bin", ".pt"))]
    counts, most, room = [_tensors(folder / name, of=of) for name in stored], MAX_LAYERS, math.inf
    # An adapter's weights fill no network alone.
    if stored and None not in counts and not any(name.startswith("adapter_model") for name in stored):
        most = min(sum(counts), most)
        room = PACKED * sum((folder / name).stat().st_size for name in stored)
    for name in names:
        if name.rpartition("/")[2] not in CONFIGURATIONS:
            continue
        if (folder / name).stat().st_size > MAX_CONFIGURATION:
            raise BadInput(f"{of}: {name} has more than the {MAX_CONFIGURATION >> 20} MB that are read")
        try:
            stated = list(_numbers(json.loads((folder / name).read_bytes())))
        except (ValueError, RecursionError):  # the family's reader says what is wrong with it
            continue
        for key, value in stated:
            if (LAYERS.fullmatch(key) and value > most) or (WIDTHS.fullmatch(key) and value > 0 and value**2 > room):
                raise BadInput(f"{of}: {name} states {key} {value}, more than its weights can fill: not built")


def _tensors(path: Path, *, of: str) -> int | None:
    """How many tensors a safetensors file has by its header, or at most another one; None for a file that is not whole,
    which its reader refuses. Raises BadInput for a header beyond what is read."""
    if path.suffix != ".safetensors":
        return path.stat().st_size // 100  # an entry of torch.save's archive takes more bytes than these
    with open(path, "rb") as handle:
        size = int.from_bytes(handle.read(8), "little")
        if size >= path.stat().st_size:
            return None
        if size > MAX_HEADER:
            raise BadInput(f"{of}: the header of {path.name} has more than the {MAX_HEADER >> 20} MB that are read")
        try:
            return len(json.loads(handle.read(size)))
        except (ValueError, TypeError, RecursionError):
            return None


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """The whole numbers of a configuration with their names; those of a list are taken together."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _numbers(part, name)
    elif isinstance(value, list):
        whole = [part for part in value if type(part) is int]
        if whole:
            yield key, max(whole) if WIDTHS.fullmatch(key) else sum(whole)
        for part in value:
            if isinstance(part, dict):
                yield from _numbers(part)
    elif type(value) is int:
        yield key, value


def is_downloaded(row: Model, *, required: RequiredFiles) -> bool:
    """Whether the row's files are all in its own folder or in the hub's cache. Never asks the network."""
    try:
        folder = own_folder(row) or cached_folder(row)
    except NotHere:
        return False
    return folder is not None and not required.missing(listing(folder))


def revision(row: Model, *, required: RequiredFiles | None = None) -> str:
    """The identity of these files: the pinned or cached commit, or `files-` and a digest of an own folder's.

    Never asks the network; for a branch that was not fetched yet, its name. A missing own folder raises NotHere.
    """
    own = own_folder(row)
    if own is not None:
        files = hashlib.blake2b(digest_size=16)
        for name in (required or RequiredFiles()).names(listing(own)):
            files.update(f"{name} {digest(own / name)}\n".encode())
        return f"{DIGEST}{files.hexdigest()}"
    return _commit(row) or row.revision


def own_folder(row: Model) -> Path | None:
    """The folder that `weights` names: an absolute path, one within the repository, or `package:` and the name of an
    installed package, none of whose code is run; None for a hub id. Raises NotHere where it is missing."""
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
    """The row with every folder that it names changed: absolute paths, and those that begin with a dot, of the row's
    checkpoint and of those that options name."""

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
    """The row as others may see it: folders go by their names, wherever on this machine they lie."""
    return with_folders(row, lambda folder: Path(folder).name)


def _package_folder(row: Model) -> Path:
    name = row.weights.removeprefix(PACKAGE)
    spec = importlib.util.find_spec(name.replace("-", "_"))  # finds a package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise NotHere(f"{row.key}: its weights are the package {name}, not installed here: {install_command(name)}")
    return Path(spec.submodule_search_locations[0])


def _first(names: Iterable[str], group: Sequence[str]) -> list[str]:
    """All names of the first pattern of a group that any name matches."""
    names = list(names)
    for pattern in group:
        matches = [name for name in names if fnmatch(name, pattern)]
        if matches:
            return matches
    return []


def listing(folder: Path) -> list[str]:
    """The names of all files below a folder, hidden ones apart, sorted."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def cache_home(row: Model) -> Path:
    """Where the hub's cache keeps the row's repository."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{row.weights.replace('/', '--')}"


def _commit(row: Model) -> str:
    """The commit that the row's revision stands for, as far as it is pinned or cached; else empty."""
    if COMMIT.fullmatch(row.revision):
        return row.revision
    reference = cache_home(row) / "refs" / (row.revision or "main")
    return reference.read_text(encoding="utf-8").strip() if reference.is_file() else ""


def cached_folder(row: Model) -> Path | None:
    """The folder of the hub's cache with the files of the row's revision, complete or not; None where there is none."""
    commit = _commit(row)
    folder = cache_home(row) / "snapshots" / commit
    return folder if commit and folder.is_dir() else None


def _fetched(row: Model, *, required: RequiredFiles, cached: Path | None) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HFValidationError

    revision = _commit(row) or row.revision or "main"
    missing = required.missing(listing(cached) if cached else [])
    problem = (
        f"{row.key}: {row.weights} at {revision} lacks {', '.join(missing) or 'its files'} in the hub's cache "
        f"{constants.HF_HUB_CACHE} (HF_HOME moves it). "
        f"Fetch it: hf download {row.weights} --revision {revision}"
    )
    if constants.is_offline_mode():
        raise NotHere(problem)
    try:
        info = HfApi().repo_info(row.weights, revision=row.revision or None)
        names = [entry.rfilename for entry in info.siblings or []]
        missing = required.missing(names)
        if missing:
            raise NotHere(f"{row.key}: {row.weights} at {info.sha} has no {', no '.join(missing)}")
        # By branch where there is one, so that the cache records the commit it stood for.
        return Path(snapshot_download(row.weights, revision=row.revision or None, allow_patterns=required.names(names)))
    except HFValidationError as error:
        raise BadInput(f"{row.key}: {row.weights!r} is neither a folder nor a hub id") from error
    except NotHere:
        raise
    except Exception as error:  # of the hub's client and its network library
        raise NotHere(f"{problem} ({type(error).__name__}: {' '.join(str(error).split())[:200]})") from error


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
    if named_row.revision.startswith(DIGEST):
        digest = revision(named_row, required=required)
        if digest != named_row.revision:
            raise ChangedFiles(
                f"{row.key}: the files of {named_row.weights} are {digest}, and its option {option!r} names "
                f"{named_row.revision}. Install that version, or change the option"
            )
    return folder


def digest(path: Path, *, algorithm: str = "blake2b") -> str:
    """Hexadecimal digest of a file's content, or of the names and contents of all files below a folder."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        listed = "".join(f"{name} {digest(path / name, algorithm=algorithm)}\n" for name in names)
        return _of_bytes(listed.encode(), algorithm)
    stat = path.stat()
    return _remembered(path.resolve(), stat.st_size, stat.st_mtime_ns, algorithm)


@lru_cache(maxsize=4096)
def _remembered(path: Path, size: int, changed: int, algorithm: str) -> str:
    if size < SMALL_FILE:
        return read_digest(path, algorithm=algorithm)
    from huggingface_hub import constants

    home = os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness"
    note = Path(home).expanduser() / "digests" / _of_bytes(f"{path} {size} {changed} {algorithm}".encode(), "blake2b")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if (stored := note.read_text(encoding="utf-8").strip()).isalnum():
            return stored
    made = read_digest(path, algorithm=algorithm)
    with contextlib.suppress(OSError, CannotWrite):  # a machine that keeps nothing reads again
        note.parent.mkdir(parents=True, exist_ok=True)
        write_text(note, made)
    return made


def read_digest(path: Path, *, algorithm: str) -> str:
    """Hexadecimal digest of a file, by reading it; of BLAKE2b 16 bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: _hash(algorithm)).hexdigest()


def _hash(algorithm: str) -> hashlib._Hash:
    return hashlib.blake2b(digest_size=16) if algorithm == "blake2b" else hashlib.new(algorithm)


def _of_bytes(data: bytes, algorithm: str) -> str:
    made = _hash(algorithm)
    made.update(data)
    return made.hexdigest()


def existing(file: Path) -> Path:
    """`file` itself. Raises NotHere where it is missing."""
    if not file.is_file():
        raise NotHere(f"{file.name} is missing from {file.parent}. Fetch the whole checkpoint again")
    return file


def tensors(file: Path) -> dict[str, Any]:
    """The content of a file made by torch.save, on the CPU. Raises NotHere, and BadInput for anything but tensors."""
    import torch

    try:
        return torch.load(existing(file), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise BadInput(f"{file} holds more than tensors, or is not whole; it is not loaded") from error


def under(state: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """The entries whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def fill(module: torch.nn.Module, state: Mapping[str, torch.Tensor], *, of: str) -> None:
    """Loads every weight of a module. Raises BadInput where one is missing, unknown or of another shape."""
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise BadInput(f"The checkpoint does not fit {of}: {one_line(error)}") from error


def architecture(folder: Path) -> str:
    """The `model_type` that the folder's config.json names; empty for none."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", "")


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within it, torch draws weights from this seed; its own random state stays as it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def one_line(error: BaseException) -> str:
    """The beginning of an error's message, at most 300 characters."""
    return " ".join(str(error).split())[:300]
