"""What several tests of the command line share."""

from __future__ import annotations

from typer.testing import Result

from compute.types import LikenessError


def assert_refused(result: Result, error: type[LikenessError], *words: str) -> None:
    """A command ended with exit code 1 and one line that holds the words, because of this error."""
    assert result.exit_code == 1 and isinstance(result.exception.__context__.__cause__, error), result.output
    last = result.output.splitlines()[-1]
    assert last.startswith("Error: ") and all(word in result.output for word in words), result.output
