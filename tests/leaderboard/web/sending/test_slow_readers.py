"""A hundred visitors who fetch everything and read nothing cost hardly any memory, and it is given back."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.leaderboard.web.uvicorn_server import ask

ROOT = Path(__file__).resolve().parents[4]
READERS = 100
# The app's routes and its sending, in a process of their own whose memory can be measured.
PROGRAM = """
import sys
from pathlib import Path
import gradio as gr
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from compute.live.models.memory import limit_malloc_arenas
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live.panel import Panel
from leaderboard.page import Site
from leaderboard.server import routes
from leaderboard.web.sending.pacing import PacedSending

limit_malloc_arenas()
db = Database(Path(sys.argv[1]))
suite_cache = SuiteCache(db)
site = Site(db=db, suite_cache=suite_cache, blocks=gr.Blocks(), assets="", panel=Panel(suite_cache))
app = Starlette(routes=routes(site), middleware=[Middleware(PacedSending)])


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off")).run()
"""


def resident(process: subprocess.Popen) -> float:
    """MB of memory that a process has now."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="memory and several addresses of one machine as Linux has them")
@pytest.mark.parametrize(
    ("path", "size"),
    [("/export/everything?format=json", 3_000_000), ("/export/everything?format=duckdb", 10_000_000)],
    ids=["json", "duckdb"],
)
def test_memory_stays_level_and_comes_back(database: Path, path: str, size: int) -> None:
    """Before, each reader cost the whole file: 800 MB for the JSON, 2 GB and more for the database."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(database)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(process.stdout.readline())
        first = ask(port, path, buffer=1_000_000)  # imports, and the first file of all, are not the readers' cost
        length = int(re.search(rb"content-length: (\d+)", first.recv(2000))[1])
        first.close()
        before = resident(process)
        readers = [ask(port, path, address=f"127.0.3.{number + 1}") for number in range(READERS)]
        assert {reader.recv(15) for reader in readers} == {b"HTTP/1.1 200 OK"}
        time.sleep(1)
        during = resident(process)
        for reader in readers:
            reader.close()
        time.sleep(10)
        after = resident(process)
        print(f"{path}: {before:.0f} MB before, {during:.0f} during, {after:.0f} 10 s after")
        assert length > size and during - before < 40 and after - before < 30
    finally:
        process.kill()
        process.wait()
