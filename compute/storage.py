"""Storage by address: whole objects below `s3://bucket/folder` or another URL that fsspec knows.

A local folder has drafts, locks and files that grow. An object store has none of these, and needs none here: a write
puts a whole object, which is there or not, and what several workers write under one name is the same. Objects are read
through a local folder, where they are stored under their names and mapped into memory like any other file.

Rights come from the environment, as each service's own tools have it (AWS_ACCESS_KEY_ID, HF_TOKEN, ...).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from compute import drafts
from compute.types import BadInput, CannotWrite, LikenessError, NotHere

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://")
EXTRAS = {"s3": "s3fs", "s3a": "s3fs"}  # scheme -> the package that an extra of the same name brings
RIGHTS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and AWS_ENDPOINT_URL for a server that is "
    "not Amazon's",
    "hf": "set HF_TOKEN to a token with write access, or log in: hf auth login",
}
SERVICES = ("aiobotocore", "aiohttp", "botocore", "httpx", "httpx2", "huggingface_hub", "s3fs")  # raise of their own
CHECK = "check its name, the connection and the rights"


def is_url(location: Path | str) -> bool:
    """Whether a location is an address, not a path."""
    return isinstance(location, str) and bool(ADDRESS.match(location))


@dataclass(frozen=True)
class RemoteFolder:
    """Objects below an address. Names are relative to it, with `/`. May be sent to another process."""

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if not ADDRESS.match(self.url) or not (parts.netloc or parts.path.strip("/")):
            raise BadInput(f"{self.url!r} is no address of a folder: write it like s3://bucket/folder")
        if "@" in parts.netloc or parts.query or parts.fragment:  # not repeated: they may hold a secret
            raise BadInput(f"An address takes no keys or parameters: for {parts.scheme}, {_rights(parts.scheme)}")
        if parts.scheme in ("file", "local"):
            raise BadInput(f"{self.url} is a folder of this machine: name its path, {parts.path or '/'}")

    @property
    def scheme(self) -> str:
        """`s3`, `hf`, ..."""
        return urlsplit(self.url).scheme

    def below(self, name: str) -> RemoteFolder:
        """A folder within it."""
        return RemoteFolder(f"{self.url.rstrip('/')}/{name}")

    def names(self, *, under: str = "") -> dict[str, str]:
        """Every object's name below the folder or one within it, with a token that differs once it is overwritten."""
        files, root = self._files()
        inside = self._object(under).rstrip("/")
        with self._told("read"):
            files.invalidate_cache()
            try:
                found = files.find(inside, detail=True)
            except FileNotFoundError:
                self._check_bucket(files, root)
                return {}
            if not found:
                self._check_bucket(files, root)
        names = {
            str(PurePosixPath(name).relative_to(root)): _token(entry)
            for name, entry in sorted(found.items())
            if entry.get("type") == "file" and name.startswith(f"{inside}/")
        }
        for name in names:
            self._check_name(name)
        return names

    def get(self, name: str, path: Path) -> None:
        """Stores an object as a local file, whole or not at all. Raises NotHere where there is none."""
        files, source = self._files()[0], self._object(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with drafts.replacing(path) as draft, self._told("read"):
            try:
                files.get_file(source, str(draft))
            except FileNotFoundError as error:
                raise NotHere(f"{self.url} has no {name}") from error

    def put(self, path: Path, name: str) -> None:
        """Writes a local file as one object, which replaces another of its name."""
        files, target = self._files()[0], self._object(name)
        with self._told("written"):
            files.put_file(str(path), target)

    def remove(self, name: str) -> None:
        """Removes an object, if it exists."""
        files, target = self._files()[0], self._object(name)
        with self._told("written"):
            try:
                files.rm_file(target)
            except FileNotFoundError:
                return

    def _object(self, name: str) -> str:
        """The full path of an object. Raises BadInput for a name that leads out of the folder."""
        self._check_name(name)
        return f"{self._files()[1]}/{name}"

    def _check_name(self, name: str) -> None:
        """Whoever may write to a bucket names its objects, and some servers take any name: the local file of one must
        lie in the folder that it is fetched into."""
        if name.startswith("/") or ".." in name.split("/"):
            raise BadInput(
                f"{self.url} has an object whose name leads out of the folder, {name!r}: nothing was fetched. Remove "
                "that object, and find out who wrote it"
            )

    def _files(self) -> tuple[Any, str]:
        """The file system of fsspec, and the path there."""
        return _file_system(self.url)

    def _check_bucket(self, files: Any, root: str) -> None:
        """Raises FileNotFoundError where the bucket or repository itself is missing; a folder within may be."""
        top = "/".join(root.split("/")[: 3 if self.scheme == "hf" else 1])
        if self.scheme != "memory" and not files.exists(top):
            raise FileNotFoundError(top)

    @contextmanager
    def _told(self, verb: str) -> Iterator[None]:
        """Turns what libraries raise into a sentence that says what to do."""
        try:
            yield
        except LikenessError:
            raise
        except FileNotFoundError as error:
            raise NotHere(
                f"{self.url}: there is no such bucket or repository. Create it first, or {CHECK}: "
                f"{_rights(self.scheme)}"
            ) from error
        except PermissionError as error:
            raise CannotWrite(
                f"{self.url} cannot be {verb}: no right to. For {self.scheme}, {_rights(self.scheme)}"
            ) from error
        except Exception as error:  # of whichever library serves the scheme: each has its own
            kind = type(error).__name__
            refused = getattr(getattr(error, "response", None), "status_code", None) in (401, 403)
            if refused or kind in ("NoCredentialsError", "PartialCredentialsError", "LocalTokenNotFoundError"):
                raise CannotWrite(
                    f"{self.url} cannot be {verb}: no credentials, or none with that right. For {self.scheme}, "
                    f"{_rights(self.scheme)}"
                ) from error
            if kind in ("RepositoryNotFoundError", "BucketNotFoundError", "GatedRepoError"):
                raise NotHere(
                    f"{self.url}: there is no such bucket or repository, or no right to see it. For {self.scheme}, "
                    f"{_rights(self.scheme)}"
                ) from error
            if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in SERVICES:
                reason = " ".join(str(error).split())[:200]
                raise CannotWrite(
                    f"{self.url} cannot be {verb} ({kind}: {reason}). {CHECK.capitalize()}, then run the same command "
                    "again: what is stored stays"
                ) from error
            raise


@cache
def _file_system(url: str) -> tuple[Any, str]:
    import fsspec

    scheme = urlsplit(url).scheme
    try:
        files, root = fsspec.core.url_to_fs(url.rstrip("/"), skip_instance_cache=False)
    except ImportError as error:
        package = EXTRAS.get(scheme)
        extra = f"pip install {package} (the extra s3)" if package else " ".join(str(error).split())[:200]
        raise NotHere(
            f"Addresses that begin with {scheme}:// need a package that is missing. Install it: {extra}"
        ) from error
    except ValueError as error:
        raise BadInput(
            f"{url}: nothing here reads addresses that begin with {scheme}://. Use s3:// or hf://"
        ) from error
    return files, root.rstrip("/")


def _rights(scheme: str) -> str:
    return RIGHTS.get(scheme.rstrip("a") if scheme == "s3a" else scheme, "its rights come from the environment")


def _token(entry: dict[str, Any]) -> str:
    """What changes when an object is overwritten: the service's digest, else its size and time."""
    for name in ("ETag", "etag", "xet_hash", "blob_id", "md5"):
        if entry.get(name):
            return str(entry[name])
    times = (entry.get(name) for name in ("LastModified", "mtime", "uploaded_at", "created"))
    return f"{entry.get('size')} {next((time for time in times if time), '')}"
