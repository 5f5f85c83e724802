"""Where a checkpoint's files lie: a folder of one's own, or the hub's cache, filled at the row's revision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

from compute.paths import ROOT
from compute.types import BadInput, Model, NotHere

COMMIT = re.compile(r"[0-9a-f]{40}")
SMALL = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")  # configurations and tokenizers, of the top folder

# Groups of patterns that families share; safetensors come first, for they hold no code.
CONFIG = ("config.json",)
WEIGHTS = ("model.safetensors", "model-*-of-*.safetensors", "pytorch_model.bin", "pytorch_model-*-of-*.bin")
ADAPTED = (*WEIGHTS, "adapter_model.safetensors", "adapter_model.bin")
PROCESSOR = ("preprocessor_config.json", "processor_config.json")
TOKENIZER = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
OPEN_CLIP = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
ANY = (*ADAPTED, *OPEN_CLIP)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What of a checkpoint a family reads, as patterns of file names."""

    weights: tuple[str, ...] = ANY
    needs: tuple[tuple[str, ...], ...] = ()
    code: bool = False  # the checkpoint's own Python files too

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return (*self.needs, self.weights) if self.weights else self.needs

    def missing(self, names: Sequence[str]) -> list[str]:
        """What is not among `names`, in words; the parts of a split checkpoint are counted."""
        found = [" or ".join(group[:2]) for group in self.groups if not _first(names, group)]
        for name in _first(names, self.weights):
            found += [part for part in _parts(name) if part not in names]
        return found

    def names(self, names: Iterable[str]) -> list[str]:
        """The files to fetch and to tell two checkpoints by, sorted: one format of weights, and all small files."""
        names = sorted(names)
        kept = {name for group in self.groups for name in _first(names, group)}
        kept.update(name for name in names if "/" not in name and any(fnmatch(name, small) for small in SMALL))
        if self.code:
            kept.update(name for name in names if name.endswith(".py"))
        return sorted(kept)


def local_folder(row: Model, *, wanted: Wanted | None = None, root: Path | None = None) -> Path:
    """The folder with the row's files, fetched into the hub's cache if need be; nothing is written elsewhere.

    A branch means the commit that the cache knows it by, so that one machine's runs agree until it is fetched again.
    Raises NotHere naming what is missing and how to fetch it.
    """
    wanted = wanted or Wanted()
    own = own_folder(row, root=root)
    if own is not None:
        missing = wanted.missing(_listing(own))
        if missing:
            raise NotHere(f"{row.key}: {own} has no {', no '.join(missing)}")
        return own
    found = _cached(row)
    if found is not None and not wanted.missing(_listing(found)):
        return found
    return _fetched(row, wanted=wanted, cached=found)


def present(row: Model, *, wanted: Wanted, root: Path | None = None) -> bool:
    """Whether the row's files are all in its own folder or in the hub's cache. Never asks the network."""
    try:
        folder = own_folder(row, root=root) or _cached(row)
    except NotHere:
        return False
    return folder is not None and not wanted.missing(_listing(folder))


def revision(row: Model, *, wanted: Wanted | None = None, root: Path | None = None) -> str:
    """What tells these files from others: the pinned or cached commit, or `files-` and a digest of an own folder's.

    Never asks the network; for a branch that was not fetched yet, its name. A missing own folder raises NotHere.
    """
    own = own_folder(row, root=root)
    if own is not None:
        digest = hashlib.blake2b(digest_size=16)
        for name in (wanted or Wanted()).names(_listing(own)):
            stat = (own / name).stat()
            digest.update(f"{name} {_digest(own / name, stat.st_size, stat.st_mtime_ns)}\n".encode())
        return f"files-{digest.hexdigest()}"
    return _commit(row) or row.revision


def own_folder(row: Model, *, root: Path | None = None) -> Path | None:
    """The folder that `weights` names by an absolute path or one within the repository; None for a hub id."""
    if not row.weights:
        raise BadInput(f"{row.key} names no weights")
    path = Path(row.weights).expanduser()
    inside = (root or ROOT) / path
    if path.is_absolute() or inside.is_dir():
        if not inside.is_dir():
            raise NotHere(f"{row.key}: there is no folder {path}")
        return inside
    if row.weights.count("/") > 1 or row.weights.startswith((".", "assets/")):
        raise NotHere(f"{row.key}: there is no folder {inside}")
    return None


def _first(names: Iterable[str], group: Sequence[str]) -> list[str]:
    """All names of the first pattern of a group that any name matches."""
    names = list(names)
    for pattern in group:
        found = [name for name in names if fnmatch(name, pattern)]
        if found:
            return found
    return []


def _parts(name: str) -> list[str]:
    """All parts of the split file that `name` is one of."""
    split = re.fullmatch(r"(.*-)(\d+)-of-(\d+)(\..+)", name)
    if split is None:
        return []
    before, number, total, after = split.groups()
    return [f"{before}{part:0{len(number)}}-of-{total}{after}" for part in range(1, int(total) + 1)]


def _listing(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


@lru_cache(maxsize=4096)
def _digest(path: Path, size: int, changed: int) -> str:
    """Digest of a file's content, read once a process for the same size and time of change."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


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


def _cached(row: Model) -> Path | None:
    commit = _commit(row)
    folder = cache_home(row) / "snapshots" / commit
    return folder if commit and folder.is_dir() else None


def _fetched(row: Model, *, wanted: Wanted, cached: Path | None) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HFValidationError

    asked = _commit(row) or row.revision or "main"
    lacking = wanted.missing(_listing(cached) if cached else [])
    problem = (
        f"{row.key}: {row.weights} at {asked} lacks {', '.join(lacking) or 'its files'} in the hub's cache "
        f"{constants.HF_HUB_CACHE} (HF_HOME moves it). "
        f"Fetch it: hf download {row.weights} --revision {asked}"
    )
    if constants.is_offline_mode():
        raise NotHere(problem)
    try:
        info = HfApi().repo_info(row.weights, revision=row.revision or None)
        there = [entry.rfilename for entry in info.siblings or []]
        absent = wanted.missing(there)
        if absent:
            raise NotHere(f"{row.key}: {row.weights} at {info.sha} has no {', no '.join(absent)}")
        # Asked for by branch where there is one, so that the cache remembers which commit it stood for.
        return Path(snapshot_download(row.weights, revision=row.revision or None, allow_patterns=wanted.names(there)))
    except HFValidationError as error:
        raise BadInput(f"{row.key}: {row.weights!r} is neither a folder nor a hub id") from error
    except NotHere:
        raise
    except Exception as error:  # of the hub's client and of whichever network library it stands on
        raise NotHere(f"{problem} ({type(error).__name__}: {' '.join(str(error).split())[:200]})") from error
