"""Stands in for the hub: one file of one data set, in the hub's own layout of answers, on a port of this machine.

As there, a file's address answers with its commit, its SHA-256 and its size, and sends on to another host for them.
"""

import hashlib
from contextlib import contextmanager

from tests.answering import Handler, answering

REPO, FILE = "someone/likeness", "likeness.duckdb"


class Hub:
    """What it holds and how it behaves; `asked` lists the requests, `tokens` who was shown which."""

    def __init__(self):
        self.content, self.commit = b"", "0" * 40
        self.error = ""  # RepoNotFound, EntryNotFound: as the hub says it
        self.wait = None  # until it is set, bytes are held back
        self.asked = []
        self.tokens = {"hub": set(), "store": set()}
        self.address = ""

    def publish(self, content, *, commit):
        """Another commit with other content."""
        self.content, self.commit, self.asked = content, commit * 40, []

    @property
    def fetched(self):
        """How often the bytes were asked for."""
        return sum(line.startswith("GET /store/") for line in self.asked)


def handler(hub):
    class Answers(Handler):
        def answer(self):
            if self.path.startswith("/api/"):  # what the library asks on its own account
                self.say(404, {})
                return
            hub.asked.append(f"{self.command} {self.path}")
            store = self.path.startswith("/store/")
            hub.tokens["store" if store else "hub"].add(self.headers.get("authorization", ""))
            digest = hashlib.sha256(hub.content).hexdigest()
            if store:
                self.file(digest)
            elif hub.error:
                self.say(404, {"X-Error-Code": hub.error, "X-Error-Message": "Not here"})
            elif self.path in (f"/datasets/{REPO}/resolve/{revision}/{FILE}" for revision in ("main", hub.commit)):
                self.say(
                    302,
                    {
                        "X-Repo-Commit": hub.commit,
                        "X-Linked-Etag": f'"{digest}"',
                        "ETag": '"redirect"',
                        "X-Linked-Size": str(len(hub.content)),
                        "Location": f"http://localhost:{self.server.server_address[1]}/store/{digest}",
                    },
                )
            else:
                self.say(404, {"X-Error-Code": "EntryNotFound"})

        def file(self, digest):
            if hub.wait:
                hub.wait.wait(30)
            self.send_response(200)
            self.send_header("ETag", f'"{digest}"')
            self.send_header("Content-Length", str(len(hub.content)))
            self.end_headers()
            self.wfile.write(hub.content)

        def say(self, status, headers):
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

    return Answers


@contextmanager
def serving():
    """A stand-in that answers until the block ends."""
    hub = Hub()
    with answering(handler(hub)) as hub.address:
        yield hub


def point_at(hub, monkeypatch):
    """Makes the hub's library in this process ask the stand-in, as HF_ENDPOINT does for one that starts."""
    from huggingface_hub import constants

    address = f"{hub.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_URL_HOSTS", frozenset({"127.0.0.1"}))
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setattr("huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", address, raising=False)
