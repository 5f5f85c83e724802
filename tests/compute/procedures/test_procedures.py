"""Reference: the catalogue, which names the procedure and the metrics of every task."""

from __future__ import annotations

from pathlib import Path

import pytest

from compute.catalog import catalog
from compute.procedures import PROCEDURES, procedure
from compute.types import ABILITIES, BadInput

ROOT = Path(__file__).resolve().parents[3]


def test_every_task_of_unisim_mieb_and_pairbench_has_its_procedure() -> None:
    named = {task.procedure for task in catalog.shipped().tasks if task.benchmark in ("unisim", "mieb", "pairbench")}
    assert named <= {one.key for one in PROCEDURES}
    assert len({one.key for one in PROCEDURES}) == len(PROCEDURES) == 10


@pytest.mark.parametrize("one", PROCEDURES, ids=lambda one: one.key)
def test_a_row_says_what_it_needs_and_what_can_be_chosen(one) -> None:
    assert procedure(one.key) is one
    assert one.needs and all(need and need <= set(ABILITIES) for need in one.needs)
    assert all(len(set(values)) == len(values) for values in one.options.values())


def test_an_unknown_key_is_answered_with_the_known() -> None:
    with pytest.raises(BadInput, match="'retreival'; there are: choice, "):
        procedure("retreival")
