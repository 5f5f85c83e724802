"""The whole app, launched once for each file of tests that asks for it."""

from tests.leaderboard.web.conftest import app  # noqa: F401
