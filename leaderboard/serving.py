"""`leaderboard.serve`: the app with a user's model on its board, from a script or a notebook."""

from __future__ import annotations

import os
import sys
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from compute.interface.evaluated import Evaluation
from compute.progress import in_notebook
from compute.types import BadInput

if TYPE_CHECKING:
    import gradio as gr

    from leaderboard.data.database import Database

HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True, eq=False)
class ServedBoard:
    """An app that runs in this process. `address` opens the evaluated model's row on its suite's board."""

    address: str
    blocks: gr.Blocks
    db: Database

    def stop(self) -> None:
        """Ends the app, frees its port and closes the database."""
        self.blocks.close(verbose=False)
        self.db.close()

    def __repr__(self) -> str:
        return f"ServedBoard({self.address})"


def serve(
    scores: Evaluation, *, port: int | None = None, open_browser: bool = True, block: bool | None = None
) -> ServedBoard:
    """Serves the board with the evaluated model in its position among all other rows, selected.

    The database is made next to the evaluation's results; nothing shipped is changed. It is brought up to date before,
    so that later evaluations in the same folder are shown too. `port`: by default the first free one from 7860. `block`
    waits until it is interrupted, by default outside of a notebook; without it the app runs on in this process until
    `stop`. It answers this machine alone. Raises BadInput if there is nothing to show or the port is taken.
    """
    if not isinstance(scores, Evaluation):
        raise BadInput(f"{type(scores).__name__} cannot be served: give what compute.evaluate returns")
    if not scores.runs:
        raise BadInput(f"{scores.model.key} has no score on {scores.suite.key}: there is nothing to show")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine while browsing
    from leaderboard import server
    from leaderboard.data.database import Database
    from leaderboard.pages.board.page import BOARD
    from leaderboard.web.access import access

    db = Database(scores.database())
    blocks, launch = server.build(db, access=access(listens_on=HOST))
    try:
        server.start(blocks, launch | {"server_name": HOST, "server_port": port, "inline": False})
    except OSError as error:
        db.close()
        raise BadInput(f"Port {port} is taken by another program: name another one, or none for a free one") from error
    served = ServedBoard(address=f"{blocks.local_url}{BOARD.key}?{_query(scores)}", blocks=blocks, db=db)
    if open_browser:
        webbrowser.open(served.address)
    if in_notebook(sys.stderr) if block is None else not block:
        return served
    print(f"{scores.model.title} on the board of {scores.suite.title}: {served.address}\nCtrl-C ends it", flush=True)
    try:
        blocks.block_thread()
    finally:
        served.stop()
    return served


def _query(scores: Evaluation) -> str:
    """Returns the board's state: the suite, every origin, and the model's row selected (see pages/board/state.js)."""
    row = f"{scores.model.key}~computed"
    return urlencode({"suite": scores.suite.key, "origin": "all", "select": row}, quote_via=quote, safe="/~")
