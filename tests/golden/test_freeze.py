"""What people and programs get is what it was; see `freeze.py`."""

import pytest

from tests.golden import freeze


@pytest.mark.parametrize("database", freeze.DATABASES)
def test_nothing_changed(database):
    """Of the second and third database, what differs from the first. Meant? `python -m tests.golden.freeze --write`, in
    the commit that explains it."""
    own = {key for section in ("pages", "payloads") for key in freeze.stored(section)}
    wanted = None if database == "shipped" else lambda key: f"{database} {key}" in own
    now = freeze.of_database(database, freeze.SECTIONS, wanted=wanted)
    found = [line for section in now for line in freeze.compared(database, section, now[section])]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:100])
