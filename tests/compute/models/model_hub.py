"""Stands in for the hub: repositories, in the hub's own layout of answers, on a port of this machine.

As there, large files are listed with their SHA-256, and their address sends on to another host.
"""

import hashlib
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
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

    def digest(self, name):
        return hashlib.sha256(self.files[name]).hexdigest()

    def entry(self, name):
        """What a listing says of a file."""
        digest, oid = self.digest(name), hashlib.sha1(self.files[name]).hexdigest()
        size = self.sizes.get(name, len(self.files[name]))
        entry = {"type": "file", "path": name, "rfilename": name, "oid": oid, "blobId": oid, "size": size}
        lfs = {"oid": digest, "sha256": digest, "size": size, "pointerSize": 134}
        return {**entry, "lfs": lfs} if len(self.files[name]) >= LARGE else entry


class Hub:
    """What it holds and how it behaves; `asked` lists the requests, `tokens` who was shown which."""

    def __init__(self):
        self.repositories = {}
        self.status = 200  # another one is the answer to whatever is asked
        self.held = None  # until it is set, a large file stops in its middle
        self.asked = []
        self.tokens = {"hub": set(), "store": set()}
        self.address = ""
        self.lock = threading.Lock()

    def publish(self, repository, folder, *, commit, **more):
        """A repository of the files of a folder."""
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self.repositories[repository] = Repository(commit=commit, files=files, **more)
        return self.repositories[repository]

    @property
    def fetched(self):
        """Each time that a large file was asked for."""
        return [line for line in self.asked if line.startswith("GET /store/")]


def handler(hub):
    class Answers(Handler):
        def answer(self):
            path = unquote(urlsplit(self.path).path)
            with hub.lock:
                hub.asked.append(f"{self.command} {path}")
                hub.tokens["store" if path.startswith("/store/") else "hub"].add(self.headers.get("authorization", ""))
            pattern = r"(/api/models|/store)?(?:/datasets)?/([^/]+/[^/]+)(?:/(revision|tree|resolve)/(\w+)/?(.*))?"
            where, key, kind, revision, name = re.fullmatch(pattern, path).groups()
            repository = hub.repositories.get(key)
            if hub.status != 200 or repository is None:
                self.say(404 if hub.status == 200 else hub.status, error="RepoNotFound")
            elif revision not in (None, "main", commit := repository.commit):
                self.say(404, error="RevisionNotFound")
            elif where == "/store":
                self.say(200, repository.files[name], etag=f'"{repository.digest(name)}"')
            elif kind != "resolve":
                files = [repository.entry(each) for each in repository.files]
                model = {"id": key, "modelId": key, "sha": commit, "private": False, "siblings": files}
                self.say(200, json.dumps(files if kind == "tree" else model).encode(), content_type="application/json")
            elif name not in repository.files:
                self.say(404, error="EntryNotFound", x_repo_commit=commit)
            elif len(repository.files[name]) >= LARGE:
                self.say(
                    302,
                    x_repo_commit=commit,
                    x_linked_etag=f'"{repository.digest(name)}"',
                    etag='"redirect"',
                    x_linked_size=repository.entry(name)["size"],
                    location=f"http://localhost:{self.server.server_address[1]}/store{path}",
                )
            else:
                etag = f'"{repository.entry(name)["oid"]}"'
                self.say(200, repository.files[name], x_repo_commit=commit, etag=etag)

        def say(self, status, content=b"", *, error="", **headers):
            self.send_response(status)
            given = {**headers, "content_length": len(content), **({"x_error_code": error} if error else {})}
            for name, value in given.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.end_headers()
            try:
                for at in range(0, len(content) if self.command == "GET" else 0, PART):
                    if hub.held and at and at >= len(content) // 2:
                        hub.held.wait(PATIENCE)
                    self.wfile.write(content[at : at + PART])
            except OSError:  # the other side has left
                self.close_connection = True

    return Answers


@contextmanager
def serving():
    """A stand-in that answers until the block ends."""
    hub = Hub()
    with answering(handler(hub)) as hub.address:
        try:
            yield hub
        finally:
            if hub.held:
                hub.held.set()
