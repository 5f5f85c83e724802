"""The command `likeness`: starts the app, or runs a command of the compute layer.

`likeness` alone, or with options, is what `python app.py` is; `likeness run ...` is `python -m compute run ...`.
"""

from __future__ import annotations

import sys

COMMANDS = (
    "A command of the compute layer follows the name itself, such as likeness run --help. The commands: "
    "python -m compute --help"
)


def main() -> None:
    """`likeness`: a first word that is no option names a command of the compute layer."""
    if sys.argv[1:] and not sys.argv[1].startswith("-"):
        from compute.__main__ import app

        app(prog_name="likeness")
    else:
        from leaderboard.start import start

        start(program="likeness", epilog=COMMANDS)
