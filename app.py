"""Opens the board: builds the database when it is missing or out of date, then serves the app."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine while browsing

from compute import store  # noqa: E402
from compute.build import build, is_stale  # noqa: E402
from compute.types import LikenessError  # noqa: E402


def main() -> None:
    """Serves on GRADIO_SERVER_NAME and GRADIO_SERVER_PORT, or where Gradio usually does."""
    try:
        if is_stale():
            print(f"Building {store.DATABASE.name} ...", flush=True)
            build()
        from leaderboard import ui

        blocks, launch = ui.build()
    except LikenessError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(1)
    blocks.launch(**launch)


if __name__ == "__main__":
    main()
