"""Opens the board: python app.py --help. A Space starts this file; an installed package starts it as `likeness`."""

from leaderboard.start import start


def main() -> None:
    """Serves where the command line, else the environment, says."""
    start(program="python app.py")


if __name__ == "__main__":
    main()
