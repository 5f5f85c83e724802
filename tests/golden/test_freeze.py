"""What people and programs get is what it was; see `freeze.py`."""

import pytest

from tests.golden import freeze


@pytest.mark.parametrize("name", freeze.DATABASES)
def test_nothing_changed(name, database):
    """Meant? `python -m tests.golden.freeze --write`, in the commit that explains it."""
    now = freeze.of_database(name, freeze.SECTIONS, first=database, every=name == "shipped")
    found = [line for section in now for line in freeze.compared(name, section, now[section])]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:100])
