"""Stands in for the hub: repositories of models, in the hub's own layout of answers, on a port of this machine.

As there, large files are listed with their SHA-256, and their address sends on to another host, which takes ranges.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.answering import Handler, answering

LARGE = 100_000  # bytes from which a file is kept in the store
PART = 50_000  # bytes that go out at once
PATIENCE = 60.0  # seconds that bytes are held back at most


@dataclass(kw_only=True)
class Repository:
    """A model's files at one commit. `sizes` states other sizes than files have."""

    commit: str
    files: dict[str, bytes]
    sizes: dict[str, int] = field(default_factory=dict)

    def size(self, name: str) -> int:
        return self.sizes.get(name, len(self.files[name]))

    def digest(self, name: str) -> str:
        return hashlib.sha256(self.files[name]).hexdigest()

    def entry(self, name: str) -> dict[str, Any]:
        """What a listing says of a file."""
        large = (
            {
                "lfs": {
                    "oid": self.digest(name),
                    "sha256": self.digest(name),
                    "size": self.size(name),
                    "pointerSize": 134,
                }
            }
            if len(self.files[name]) >= LARGE
            else {}
        )
        oid = hashlib.sha1(self.files[name]).hexdigest()
        return {
            "type": "file",
            "path": name,
            "rfilename": name,
            "oid": oid,
            "blobId": oid,
            "size": self.size(name),
            **large,
        }


class Hub:
    """What it holds and how it behaves; `asked` lists the requests, `tokens` who was shown which."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.status = 200  # another one is the answer to whatever is asked
        self.held: threading.Event | None = None  # until it is set, a large file stops in its middle
        self.asked: list[str] = []
        self.tokens: dict[str, set[str]] = {"hub": set(), "store": set()}
        self.address = ""
        self.lock = threading.Lock()

    def publish(self, repository: str, folder: Path, *, commit: str, **more: Any) -> Repository:
        """A repository of the files of a folder."""
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self.repositories[repository] = Repository(commit=commit, files=files, **more)
        return self.repositories[repository]

    @property
    def fetched(self) -> list[str]:
        """From which byte on a large file was asked for, each time."""
        return [line.split()[-1] for line in self.asked if line.startswith("GET /store/")]


def handler(hub: Hub) -> type[Handler]:
    class Answers(Handler):
        def answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
            first = int(start.group(1)) if start else 0
            with hub.lock:
                hub.asked.append(f"{self.command} {path} {first}")
                hub.tokens["store" if path.startswith("/store/") else "hub"].add(self.headers.get("authorization", ""))
            if hub.status != 200:
                self.say(hub.status, {"X-Error-Code": "RepoNotFound"} if hub.status == 404 else {})
            elif path.startswith("/store/"):
                _, _, name, key = path.split("/", 3)
                self.large(hub.repositories[key], name, first)
            elif api := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(revision|tree)/(\w+)", path):
                self.listing(*api.groups())
            elif file := re.fullmatch(r"/([^/]+/[^/]+)/resolve/(\w+)/(.+)", path):
                self.file(*file.groups())
            else:
                self.say(404, {"X-Error-Code": "EntryNotFound"})

        def found(self, key: str, revision: str) -> Repository | None:
            repository = hub.repositories.get(key)
            if repository is None or revision != repository.commit:
                self.say(404, {"X-Error-Code": "RevisionNotFound" if repository else "RepoNotFound"})
                return None
            return repository

        def listing(self, key: str, kind: str, revision: str) -> None:
            repository = self.found(key, revision)
            if repository is None:
                return
            entries = [repository.entry(name) for name in repository.files]
            self.say(
                200,
                {"Content-Type": "application/json"},
                json.dumps(
                    entries
                    if kind == "tree"
                    else {"id": key, "modelId": key, "sha": repository.commit, "private": False, "siblings": entries}
                ).encode(),
            )

        def file(self, key: str, revision: str, name: str) -> None:
            repository = self.found(key, revision)
            if repository is None:
                return
            commit = {"X-Repo-Commit": repository.commit}
            if name not in repository.files:
                self.say(404, {**commit, "X-Error-Code": "EntryNotFound"})
            elif len(repository.files[name]) >= LARGE:
                self.say(
                    302,
                    {
                        **commit,
                        "X-Linked-Etag": f'"{repository.digest(name)}"',
                        "ETag": '"redirect"',
                        "X-Linked-Size": str(repository.size(name)),
                        "Location": f"http://localhost:{self.server.server_address[1]}/store/{name}/{key}",
                    },
                )
            else:
                self.say(200, {**commit, "ETag": f'"{repository.entry(name)["oid"]}"'}, repository.files[name])

        def large(self, repository: Repository, name: str, first: int) -> None:
            content = repository.files[name]
            whole, middle = len(content), len(content) // 2
            try:
                self.send_response(206 if first else 200)
                self.send_header("ETag", f'"{repository.digest(name)}"')
                self.send_header("Content-Length", str(whole - first))
                if first:
                    self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
                self.end_headers()
                for at in range(first, whole, PART):
                    if hub.held and at >= middle:
                        hub.held.wait(PATIENCE)
                    self.wfile.write(content[at : at + PART])
            except OSError:  # the other side has left
                self.close_connection = True

        def say(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                with suppress(OSError):
                    self.wfile.write(content)

    return Answers


@contextmanager
def serving() -> Iterator[Hub]:
    """A stand-in that answers until the block ends."""
    hub = Hub()
    with answering(handler(hub)) as hub.address:
        try:
            yield hub
        finally:
            if hub.held:
                hub.held.set()
