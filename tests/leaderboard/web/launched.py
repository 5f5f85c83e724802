"""An app that is launched as for visitors, with a secret file on its disk."""

import http.client
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import gradio as gr
import pytest

SECRET = "what-no-visitor-may-read"


@dataclass(frozen=True)
class Served:
    """A launched app, Gradio's temporary folder, and a file beside it."""

    url: str
    temporary: Path
    secret: Path
    blocks: gr.Blocks

    def files(self):
        return [path for path in self.temporary.rglob("*") if path.is_file()]

    def raw(self, path):
        """GET of exactly this path, as no browser would write it."""
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
        try:
            connection.putrequest("GET", path, skip_accept_encoding=True)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextmanager
def launched(database, folder, *, rate="0"):
    """The app within the block, without what it makes ahead; Gradio's temporary files go to the folder."""
    from leaderboard import server

    secret = folder / "secret.txt"
    secret.write_text(SECRET)
    with pytest.MonkeyPatch.context() as building:
        building.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        building.setenv("LIKENESS_RATE", rate)
        blocks, launch = server.build(database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "temporary"))
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        try:
            yield Served(url, folder / "temporary", secret, blocks)
        finally:
            blocks.close(verbose=False)
