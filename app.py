"""Opens the board: python app.py --help. A Space starts this file; an installed package starts it as `likeness`."""

from compute.processes import long_lived
from leaderboard.host import options


def main() -> None:
    """Serves where the command line, else the environment, says."""
    chosen = options.read(program="python app.py")
    print(options.STARTING, flush=True)
    with long_lived():
        from leaderboard.start import start  # slow to import: the help and a wrong option need none of it

    start(chosen)


if __name__ == "__main__":
    main()
