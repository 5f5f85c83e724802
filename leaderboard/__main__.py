"""python -m leaderboard: what `likeness` does."""

from leaderboard.command import main

if __name__ == "__main__":
    main()
