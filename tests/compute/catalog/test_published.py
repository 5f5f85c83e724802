"""Printed tables as runs and scores: digits kept, blanks explained, wrong cells named."""

import hashlib
import shutil
from pathlib import Path

import pytest

from compute.catalog import published, shipped
from compute.paths import PUBLISHED
from compute.types import BadInput


def test_what_is_no_printed_number_is_refused():
    assert [published.number(text) for text in ("−3.2", " 7 ", "+1")] == [-3.2, 7, 1]  # others are in the freeze
    for text in ("85,1", "1e3", "nan", "inf", "8 5", "85.1*", "0x10", "85.1±2", "%"):
        with pytest.raises(BadInput, match="number"):
            published.number(text)


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(PUBLISHED, tmp_path / "published"))


@pytest.mark.parametrize(
    "name, old, new, said",
    [
        ("unisim-table-2.csv", "85.1", "85,1x", "unisim-table-2.csv"),
        ("unisim-table-2.csv", "NIGHTS", "DAYS", "'NIGHTS'"),
        ("unisim-table-2.csv", "CLIP ViT-B/32", "CLIP Vit-B32", "aliases.csv"),
        ("columns.csv", "unisim/nights", "unisim/days", "unisim/days"),
        ("columns.csv", ",accuracy,", ",joy,", "joy"),
        ("unisim-table-2.csv", "CLIP ViT-L/14", "CLIP ViT-B/32", "twice"),
        ("tables.csv", "role", "rolle", "'role'"),
    ],
)
def test_a_wrong_cell_is_named(folder, name, old, new, said):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, f'"{new}"' if "," in new and old != ",accuracy," else new, 1), encoding="utf-8")
    with pytest.raises(Exception) as caught:
        published.load(shipped(), folder=folder)
    assert type(caught.value).__name__ in ("BadInput", "UnknownKey", "KeyError") and said in str(caught.value)


def digest(folder):
    """32 hex digits over the names and contents of the tables, whatever the ends of their lines."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.glob("*.csv")):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def test_the_newest_entry_is_of_the_figures_as_they_are():
    newest = published.history()[0]
    assert digest(PUBLISHED) == newest["digest"], (
        "the figures differ from those of the newest entry of assets/published/CHANGELOG.md: add an entry above it "
        f"that says what changed, with\n\nDigest: `{digest(PUBLISHED)}`"
    )


@pytest.mark.parametrize(
    "text",
    ["# Changes\n\n## 1.0\n\n- x\n", "# Changes\n\n## 1.0, 2026-11-20\n\nDigest: `12`\n\n- x\n"],
)
def test_an_entry_that_cannot_be_read_is_refused(tmp_path, text):
    (tmp_path / "CHANGELOG.md").write_text(text)
    with pytest.raises(BadInput, match=r"CHANGELOG\.md"):
        published.history(tmp_path / "CHANGELOG.md")
