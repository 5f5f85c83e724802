"""Reference: the catalogue, which names the procedure and the metrics of every task."""

from __future__ import annotations

import pytest

from compute.catalog import catalog
from compute.procedures import PROCEDURES, procedure
from compute.types import BadInput


def test_every_task_of_unisim_mieb_and_pairbench_has_its_procedure() -> None:
    named = {task.procedure for task in catalog.shipped().tasks if task.benchmark in ("unisim", "mieb", "pairbench")}
    assert named <= {one.key for one in PROCEDURES}
    assert len({one.key for one in PROCEDURES}) == len(PROCEDURES) == 10


def test_an_unknown_key_is_answered_with_the_known() -> None:
    with pytest.raises(BadInput, match="'retreival'; there are: choice, "):
        procedure("retreival")
