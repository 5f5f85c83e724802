"""The database as a file of a data set on the hub (LIKENESS_DATA): fetched at start and updated while the app runs.

Files are stored in a cache of the hub's own library, by their ETag: it locks between processes and moves whole files.
In addition, a file is checked before it is shown, one that fails is not fetched again, and only the last two stay on
disk.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from compute.types import BadInput, DatabaseError, LikenessError, NotHere
from leaderboard.data.database import Database, private_folder
from leaderboard.host.rebuilt import check_contents

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

FILE = "likeness.duckdb"  # what compute/database/publish.py uploads
MINUTES = 30.0  # between two checks of the hub, unless LIKENESS_REFRESH says otherwise
SOON = 60.0  # seconds until the next try while nothing could be fetched yet; doubled each time
PATIENCE = 120.0  # seconds that a start waits for the first file
TIMEOUT = 10.0  # seconds that the hub has to state what it stores
STORED = 2  # files: the current one, and the one that running requests may still read
NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
log = logging.getLogger(__name__)


def from_environment() -> HubData | None:
    """Returns the data set in LIKENESS_DATA, None if it is not set. Raises BadInput for an invalid value."""
    from huggingface_hub import constants

    repo = os.environ.get("LIKENESS_DATA", "").strip()
    if not repo:
        return None
    if not NAME.fullmatch(repo):
        raise BadInput(f"LIKENESS_DATA is {repo!r}, which is not the name of a data set: write it as USER/NAME")
    minutes = os.environ.get("LIKENESS_REFRESH", "").strip() or str(MINUTES)
    if not re.fullmatch(r"\d+(\.\d+)?", minutes):
        raise BadInput(f"LIKENESS_REFRESH is {minutes!r}, not a number of minutes (0: only at the start)")
    return HubData(repo, folder=cache(), every=60 * float(minutes), offline=constants.is_offline_mode())


def cache() -> Path:
    """Returns the folder for fetched files: LIKENESS_CACHE, else `likeness` in the hub's own folder (HF_HOME).

    Where that cannot be written, a temporary folder that is deleted when the program ends.
    """
    from huggingface_hub import constants

    folder = Path(os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness").expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        temporary = private_folder()
        log.warning(
            "%s cannot be written (%s): what is fetched is stored in %s until the program ends. LIKENESS_CACHE "
            "names another folder",
            folder,
            error.strerror or error,
            temporary,
        )
        return temporary


def check(path: Path) -> None:
    """Raises DatabaseError unless the file is a complete database of this version with benchmarks and scores."""
    db = Database(path)
    try:
        check_contents(db)
    finally:
        db.close()


class HubData:
    """One data set's database: which file is shown, and the result of the last check of the hub.

    `folder` is a cache in the hub's layout, `every` the seconds between two checks (0: none after the first).
    `offline`: the hub is never contacted.
    """

    def __init__(self, repo: str, *, folder: Path, every: float = 60 * MINUTES, offline: bool = False) -> None:
        self.repo, self.folder, self.every, self.offline = repo, folder, every, offline
        self.path: Path | None = None  # the file that is shown
        self.since: datetime | None = None  # when it was fetched
        self.commit = ""  # of the file, once the hub has stated it
        self.problem = ""  # of the last check, as a sentence
        self._etag = ""  # of the file
        self._refused: dict[str, str] = {}  # why, by ETag
        self._db: Database | None = None
        self._lock = threading.Lock()
        self._checked, self._end = threading.Event(), threading.Event()

    @property
    def status(self) -> str:
        """Returns which file is shown and since when, and why there is no newer one, in plain words for the public."""
        if self.path is None or self.since is None:
            shown = f"The scores that come with the program; those of the data set {self.repo} are not loaded yet."
        else:
            commit = f", commit {self.commit[:7]}" if self.commit else ""
            shown = (
                f"The data set {self.repo}{commit}, content {self._etag[:7]}, fetched {self.since:%Y-%m-%d %H:%M} UTC."
            )
        return f"{shown} {'It is not renewed: the app runs offline.' if self.offline else self.problem}".strip()

    def start(self) -> Path | None:
        """Returns the stored file, else one fetched now; None, with the reason in the log, if neither is available.

        Waits no longer than PATIENCE; what arrives later is swapped in by `renew`.
        """
        for path in self._stored():
            try:
                check(path)
            except LikenessError as error:
                log.warning("The stored file %s cannot be used: %s", path, error)
                self._delete({path})  # else a damaged file stays the one that the hub library finds
            else:
                self._use(path)
                break
        if not self.offline:
            threading.Thread(target=self._check_regularly, daemon=True, name="hosting").start()
            if self.path is None:
                print(f"Fetching the data set {self.repo} ...", flush=True)
                self._checked.wait(PATIENCE)
        if self.path is None:
            reason = (
                "the app runs offline and has no copy of it"
                if self.offline
                else self.problem or f"the hub takes over {PATIENCE:.0f} seconds; it will be shown once it arrives"
            )
            log.warning(
                "The data set %s is not shown: %s. The scores that come with the program are shown",
                self.repo,
                reason.rstrip("."),
            )
        return self.path

    def renew(self, db: Database) -> None:
        """Swaps every newer file into `db` from now on."""
        with self._lock:
            self._db = db
            if self.path not in (None, db.path):  # fetched after `start` gave up waiting
                db.swap(self.path)

    def close(self) -> None:
        """Ends the checks of the hub."""
        self._end.set()

    def refresh(self) -> bool:
        """Checks the hub once, and shows its file if it is new and valid. Returns whether it did.

        Raises nothing: what went wrong is in `problem`, and the file that was shown stays.
        """
        try:
            version = self._hub_version()
            if version.etag == self._etag:
                self.commit, self.problem = version.commit_hash, ""
                return False
            if version.etag in self._refused:
                self.problem = self._refused[version.etag]
                return False
            self._show(self._fetch(version), version)
        except LikenessError as error:
            self.problem = str(error)
            log.warning("%s", error)
            return False
        except Exception as error:  # of the hub's client and its network library
            self.problem = f"The last check of the hub failed ({type(error).__name__}); the next one is automatic."
            log.warning(
                "The hub could not be reached for %s: %s: %s",
                self.repo,
                type(error).__name__,
                " ".join(str(error).split())[:300],
            )
            return False
        return True

    def _check_regularly(self) -> None:
        wait = SOON
        while not self._end.is_set():
            self.refresh()
            self._checked.set()
            if not self.every:
                return
            self._end.wait(self.every if self.path else min(wait, self.every))
            wait *= 2

    def _hub_version(self) -> HfFileMetadata:
        """Returns what the hub stores: the file's ETag and its commit."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

        try:
            # Not left to hf_hub_download: that answers a failure with the stored file, and nobody would learn of it.
            metadata = get_hf_file_metadata(hf_hub_url(self.repo, FILE, repo_type="dataset"), timeout=TIMEOUT)
        except RepositoryNotFoundError as error:  # gated ones too
            raise NotHere(
                f"The hub has no data set {self.repo} that this app may read. For a private one, set HF_TOKEN to "
                "a token with access."
            ) from error
        except EntryNotFoundError as error:
            raise NotHere(
                f"The data set {self.repo} has no {FILE}. Publish it: likeness publish --repo {self.repo}"
            ) from error
        if not metadata.etag or not metadata.commit_hash:
            raise NotHere("The server at HF_ENDPOINT does not state which file it has.")
        return metadata

    def _fetch(self, version: HfFileMetadata) -> Path:
        """Returns the file of this version, checked. Raises DatabaseError once per version: it is not fetched again."""
        from huggingface_hub import hf_hub_download

        pointer = hf_hub_download(
            self.repo, FILE, repo_type="dataset", revision=version.commit_hash, cache_dir=self.folder
        )
        path = _content(Path(pointer))
        try:
            check(path)
        except LikenessError as error:
            fault = str(error).partition(". ")[0]  # the remedy after it is for a database built here
            reason = (
                f"The newest file of {self.repo} (commit {version.commit_hash[:7]}) is not used: {fault}. Publish "
                f"it again: likeness publish --repo {self.repo}"
            )
            self._refused[version.etag] = reason
            self._delete({path})
            raise DatabaseError(reason) from error
        return path

    def _show(self, path: Path, version: HfFileMetadata) -> None:
        os.utime(path)  # the newest of several files is the one to start with
        with self._lock:
            if self._db is not None:
                self._db.swap(path)
            self._use(path)
            self._etag, self.commit, self.problem = version.etag, version.commit_hash, ""
        log.info("The data set %s is shown as of commit %s", self.repo, version.commit_hash)
        self._delete(set(self._stored()[STORED:]))

    def _use(self, path: Path) -> None:
        self._etag, self.since = path.name, datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        self.path = path

    def _pointers(self) -> list[Path]:
        """Returns the file of every commit in the cache: a link to content that several commits may share."""
        from huggingface_hub.file_download import repo_folder_name

        name = repo_folder_name(repo_id=self.repo, repo_type="dataset")
        return list((self.folder / name / "snapshots").glob(f"*/{FILE}"))

    def _stored(self) -> list[Path]:
        """Returns the stored files, newest first."""
        paths = {_content(pointer) for pointer in self._pointers()}
        return sorted(filter(Path.exists, paths), key=lambda path: path.stat().st_mtime, reverse=True)

    def _delete(self, paths: set[Path]) -> None:
        for pointer in self._pointers():
            if _content(pointer) in paths:
                shutil.rmtree(pointer.parent, ignore_errors=True)
        for path in paths:
            path.unlink(missing_ok=True)


def _content(pointer: Path) -> Path:
    """Returns the file that a link of the cache points to, named by its ETag; the file itself if links are not
    supported.
    """
    return Path(os.path.normpath(pointer.parent / pointer.readlink())) if pointer.is_symlink() else pointer
