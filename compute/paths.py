"""Where the shipped files are, where own ones go, and the variables of the environment that move these.

In a checkout, `assets` is next to the packages, and own results next to it. Of the installed package `likeness`, all of
these are parts, and everything that is written goes to the user's data folder: never among the packages.
"""

import os
import sys
from pathlib import Path

PACKAGE = __package__  # what `python -m` runs: compute, of the installed package likeness.compute
IS_INSTALLED = PACKAGE != "compute"
ROOT = Path(__file__).resolve().parents[1]  # of compute, leaderboard, assets, docs; the catalogue's paths start here
IMPORTED_FROM = ROOT.parent if IS_INSTALLED else ROOT  # the folder in which Python finds this program
ASSETS = ROOT / "assets"
DOCS = ROOT / "docs"
CATALOG = ASSETS / "catalog"
SENTENCES = ASSETS / "calibration" / "sentences.csv"
PUBLISHED = ASSETS / "published"
CLAIMS = PUBLISHED / "claims"
IMPORTED = ASSETS / "imported"  # public results of others: python -m compute refresh
VERSIONS = ASSETS / "versions"  # of the shipped data, before the newest
COMPUTED = ASSETS / "computed"  # shipped run folders
PROJECTIONS = COMPUTED / "projections.csv"


def user_data() -> Path:
    """The folder of this user's data, by the system's custom.

    Sources: XDG Base Directory Specification; Apple, File System Programming Guide; Microsoft, Known Folders.
    """
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME", ""))
        if not folder.is_absolute():  # unset, or invalid as the specification has it
            folder = Path.home() / ".local" / "share"
    return folder / "likeness"


def home() -> Path | None:
    """The folder of the database and the results: LIKENESS_HOME, else the user's. None in a checkout without it."""
    named = os.environ.get("LIKENESS_HOME")
    if named:
        return Path(named).expanduser().absolute()
    return user_data() if IS_INSTALLED else None


HOME = home()
DATABASE = Path(os.environ.get("LIKENESS_DATABASE") or (HOME or ASSETS) / "likeness.duckdb")
RESULTS = Path(os.environ.get("LIKENESS_RESULTS") or (HOME or ROOT) / "results").absolute()
USER_MODELS = (HOME or ROOT) / "models.csv"  # a catalogue of the user's own models, next to the results
