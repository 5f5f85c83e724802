"""Where the repository's own files are, and the variables of the environment that move the database and the results."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets"
CATALOG = ASSETS / "catalog"
SENTENCES = ASSETS / "calibration" / "sentences.csv"
PUBLISHED = ASSETS / "published"
COMPUTED = ASSETS / "computed"  # shipped run folders
PROJECTIONS = COMPUTED / "projections.csv"
FAULT_ERRORS = ASSETS / "fault_errors.json"  # false verdicts, simulated: python -m compute coverage --faults
COVERAGE = ASSETS / "coverage.json"  # of the intervals, simulated: python -m compute coverage
DATABASE = Path(os.environ.get("LIKENESS_DATABASE") or ASSETS / "likeness.duckdb")
RESULTS = Path(os.environ.get("LIKENESS_RESULTS") or ROOT / "results").absolute()
