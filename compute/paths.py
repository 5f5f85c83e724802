"""Paths of the shipped files and of the user's files, and the environment variables that change them.

In a checkout, `assets` is next to the packages, and the user's results are next to `assets`. In the installed package
`likeness`, all shipped files are part of the package, and everything written goes to the user's data folder, never into
site-packages.
"""

import os
import sys
from pathlib import Path

PACKAGE = __package__  # the name that `python -m` runs: compute, or likeness.compute when installed
IS_INSTALLED = PACKAGE != "compute"
ROOT = Path(__file__).resolve().parents[1]  # holds compute, leaderboard, assets, docs; the catalogue's paths start here
IMPORTED_FROM = ROOT.parent if IS_INSTALLED else ROOT  # the folder from which Python imports this program
ASSETS = ROOT / "assets"
DOCS = ROOT / "docs"
CATALOG = ASSETS / "catalog"
SENTENCES = ASSETS / "calibration" / "sentences.csv"
PUBLISHED = ASSETS / "published"
CLAIMS = PUBLISHED / "claims"
IMPORTED = ASSETS / "imported"  # public results of others: python -m compute refresh
VERSIONS = ASSETS / "versions"  # earlier versions of the shipped data
COMPUTED = ASSETS / "computed"  # shipped run folders
PROJECTIONS = COMPUTED / "projections.csv"


def user_data() -> Path:
    """Returns the folder of this user's data, by the convention of the system.

    Sources: XDG Base Directory Specification; Apple, File System Programming Guide; Microsoft, Known Folders.
    """
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME", ""))
        if not folder.is_absolute():  # unset, or invalid by the specification
            folder = Path.home() / ".local" / "share"
    return folder / "likeness"


def home() -> Path | None:
    """Returns the folder of the database and the results: LIKENESS_HOME, else the user's data folder. None in a
    checkout if LIKENESS_HOME is unset.
    """
    named = os.environ.get("LIKENESS_HOME")
    if named:
        return Path(named).expanduser().absolute()
    return user_data() if IS_INSTALLED else None


HOME = home()
DATABASE = Path(os.environ.get("LIKENESS_DATABASE") or (HOME or ASSETS) / "likeness.duckdb")
RESULTS = Path(os.environ.get("LIKENESS_RESULTS") or (HOME or ROOT) / "results").absolute()
USER_MODELS = (HOME or ROOT) / "models.csv"  # a catalogue of the user's own models, next to the results
