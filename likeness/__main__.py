"""The command `likeness`, and python -m likeness.

With a word first it is a command of the compute layer: `likeness run ...` is `python -m compute run ...`. Alone, or
with options, it opens the app, as `python app.py` does.
"""

from __future__ import annotations

import sys


def main() -> None:
    words = sys.argv[1:]
    if words and not words[0].startswith("-"):
        from compute.__main__ import main as command

        command("likeness")
    else:
        from compute.processes import long_lived
        from leaderboard.host import options

        chosen = options.read(program="likeness", epilog=_commands() if {"-h", "--help"} & set(words) else None)
        print(options.STARTING, flush=True)
        with long_lived():
            from leaderboard.start import start

        start(chosen)


def _commands() -> str:
    """Every command with what it does, one line each."""
    from compute.__main__ import COMMANDS

    lines = (f"  {name:20}  {line}" for name, line in sorted(COMMANDS.items()))
    return "\n".join(("commands, each with its own --help:", *lines))


if __name__ == "__main__":
    main()
