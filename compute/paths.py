"""Where the repository's own files are, and the variables of the environment that move the database and the results."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets"
CATALOG = ASSETS / "catalog"
PUBLISHED = ASSETS / "published"
COMPUTED = ASSETS / "computed"  # shipped run folders
PROJECTIONS = COMPUTED / "projections.csv"
DATABASE = Path(os.environ.get("LIKENESS_DATABASE") or ASSETS / "likeness.duckdb")
RESULTS = Path(os.environ.get("LIKENESS_RESULTS") or ROOT / "results").absolute()
