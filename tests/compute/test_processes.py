"""What a start makes is never searched for garbage."""

from tests.serving import ended


def test_what_a_start_makes_is_never_searched_for_garbage():
    program = """
import gc
from compute import processes

with processes.long_lived():
    assert not gc.isenabled()
    lasting = [[] for _ in range(1000)]
assert gc.isenabled() and gc.get_freeze_count() > 1000
try:
    with processes.long_lived():
        raise OSError
except OSError:
    assert gc.isenabled()
"""
    assert ended("-c", program).returncode == 0
