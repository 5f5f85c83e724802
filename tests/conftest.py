"""What the tests share: a database built once from the repository's own files, and a place for small ones."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped figures as a database; no imports, no computed runs."""
    from compute.database.build import build

    folder = tmp_path_factory.mktemp("database")
    return build(folder / "likeness.duckdb", results=folder / "results").path


@pytest.fixture(scope="session")
def result_files() -> Path:
    """The real public result files, where the checkout stands beside them."""
    folder = SHARED / "data" / "mteb-results"
    if not folder.is_dir():
        pytest.skip("the public result files are not beside this checkout; tests with small files cover the same code")
    return folder
