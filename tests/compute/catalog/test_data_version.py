"""The version of the published figures: no figure changes without an entry, and the database says which it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from compute.catalog import data_version
from compute.database import store
from compute.paths import PUBLISHED
from compute.types import BadInput


def test_the_newest_entry_is_of_the_figures_as_they_are():
    newest = data_version.current()
    assert data_version.digest() == newest.digest, (
        "the figures differ from those of the newest entry of assets/published/CHANGELOG.md: add an entry above it "
        f"that says what changed, with\n\nDigest: `{data_version.digest()}`"
    )


def test_the_database_records_the_version(database):
    assert store.recorded(database, "version") == data_version.current().number


def copy(folder: Path) -> Path:
    for path in PUBLISHED.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_the_digest_sees_a_figure_and_no_end_of_line(tmp_path):
    before = data_version.digest(copy(tmp_path))
    assert before == data_version.digest()
    table = tmp_path / "unisim-table-2.csv"
    table.write_bytes(table.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert data_version.digest(tmp_path) == before
    table.write_bytes(table.read_bytes().replace(b"9", b"8", 1))
    assert data_version.digest(tmp_path) != before


@pytest.mark.parametrize(
    "text",
    ["# Changes\n\n## 1.0\n\n- x\n", "# Changes\n\n## 1.0, 2026-11-20\n\nDigest: `12`\n\n- x\n"],
)
def test_an_entry_that_cannot_be_read_is_refused(tmp_path, text):
    (tmp_path / "CHANGELOG.md").write_text(text)
    with pytest.raises(BadInput, match=r"CHANGELOG\.md"):
        data_version.history(tmp_path / "CHANGELOG.md")
