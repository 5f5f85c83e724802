"""The stored table of false verdicts: read back as written, and what the shipped one promises."""

from __future__ import annotations

from pathlib import Path

from compute.analysis.generators import false_verdicts
from compute.analysis.generators.false_verdicts import FalseVerdicts
from compute.engine.generators.backbones import METRICS, NEEDS
from compute.paths import FAULT_ERRORS


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    rows = (FalseVerdicts(metric="fd", backbone="tiny", single=0.05, study=0.02, studies=60),)
    false_verdicts.save(rows, tmp_path / "rates.json", settings={"seed": 0})
    assert false_verdicts.load(tmp_path / "rates.json") == ({"seed": 0}, rows)


def test_the_shipped_table_has_every_metric_of_the_study() -> None:
    _, rows = false_verdicts.load(FAULT_ERRORS)
    assert {row.metric for row in rows} == {*METRICS} - {*NEEDS}
    assert all(0 <= row.study <= 1 and 0 <= row.single <= 1 for row in rows)
    assert len({row.studies for row in rows}) == 1
