"""The database as a file of a data set of the hub (LIKENESS_DATA): fetched at start, renewed while the app runs."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import random
import re
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from compute.types import BadInput, DatabaseError, LikenessError, NotHere
from leaderboard.data import suite_queries
from leaderboard.data.database import Database

FILE = "likeness.duckdb"  # what compute/publishing.py uploads
MINUTES = 30.0  # between two looks at the hub, unless LIKENESS_REFRESH says otherwise
SOON = 60.0  # seconds until the next try while nothing could be fetched yet; doubled each time
PATIENCE = 120.0  # seconds that a start waits for the first copy
ANSWER = 10.0  # seconds that the hub has to say what it holds
JITTER = 0.1  # share by which waits differ, so that copies of the app do not ask all at once
KEPT = 2  # files: the one in use, and the one that requests under way may still read
NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}")
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Held:
    """What the hub holds: the file's ETag, which of a large file is its SHA-256, and the commit it is of."""

    etag: str
    commit: str


def asked() -> Data | None:
    """The data set that LIKENESS_DATA names, None where it names none. Raises BadInput for what cannot be meant."""
    from huggingface_hub import constants

    repo = os.environ.get("LIKENESS_DATA", "").strip()
    if not repo:
        return None
    if not NAME.fullmatch(repo):
        raise BadInput(f"LIKENESS_DATA is {repo!r}, which is no name of a data set: give it as USER/NAME")
    minutes = os.environ.get("LIKENESS_REFRESH", "").strip() or str(MINUTES)
    if not re.fullmatch(r"\d+(\.\d+)?", minutes):
        raise BadInput(f"LIKENESS_REFRESH is {minutes!r}, not a number of minutes (0: only at the start)")
    return Data(
        repo, folder=cache() / repo.replace("/", "--"), every=60 * float(minutes), offline=constants.is_offline_mode()
    )


def cache() -> Path:
    """Where copies are kept: LIKENESS_CACHE, else `likeness` in the hub's own folder (HF_HOME).

    Where that cannot be written, a temporary folder that goes when the program ends.
    """
    from huggingface_hub import constants

    folder = Path(os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness").expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        made = Path(tempfile.mkdtemp(prefix="likeness-"))
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        log.warning(
            "%s cannot be written (%s): what is fetched is kept in %s until the program ends. LIKENESS_CACHE "
            "names another folder",
            folder,
            error.strerror or error,
            made,
        )
        return made


def check(path: Path, *, etag: str = "") -> None:
    """Raises DatabaseError unless the file is a whole database of this version with the benchmarks and scores."""
    from compute.catalog import shipped

    if SHA256.fullmatch(etag):
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != etag:
                raise DatabaseError("it did not arrive whole, since its SHA-256 is not the one that the hub states")
    db = Database(path)
    try:
        there = set(suite_queries.benchmarks(db)["key"])
        counts = {
            "suites": len(suite_queries.suites(db)),
            **suite_queries.counts(db).iloc[0][["models", "tasks", "scores"]],
        }
    except Exception as error:  # of DuckDB: a table that is not there, a block that cannot be read
        raise DatabaseError(f"it cannot be read ({type(error).__name__})") from error
    finally:
        db.close()
    lacking = [f"benchmark {one.key!r}" for one in shipped().benchmarks if one.key not in there]
    lacking += [noun for noun, count in counts.items() if not count]
    if lacking:
        raise DatabaseError(f"it has no {lacking[0]}")


class Data:
    """Copies of one data set's database: which one is in use, and what became of the last look at the hub.

    `folder` is its own, `every` the seconds between two looks (0: none after the first). `offline`: never asks.
    """

    def __init__(self, repo: str, *, folder: Path, every: float = 60 * MINUTES, offline: bool = False) -> None:
        self.repo, self.folder, self.every, self.offline = repo, folder, every, offline
        self.path: Path | None = None  # the copy in use
        self.since: datetime | None = None  # when it was fetched
        self.commit = ""  # of the copy, once the hub has said it
        self.problem = ""  # of the last look, as a sentence
        self._etag = ""  # of the copy
        self._refused: dict[str, str] = {}  # why, by ETag
        self._db: Database | None = None
        self._then: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._looked, self._end = threading.Event(), threading.Event()

    @property
    def status(self) -> str:
        """Which copy is shown and since when, and what stands in the way of a newer one: public, in plain words."""
        if self.path is None or self.since is None:
            shown = f"The figures that come with the program; those of the data set {self.repo} are not here yet."
        else:
            commit = f", commit {self.commit[:7]}" if self.commit else ""
            shown = (
                f"The data set {self.repo}{commit}, content {self._etag[:7]}, fetched {self.since:%Y-%m-%d %H:%M} UTC."
            )
        return f"{shown} {'It is not renewed: the app runs offline.' if self.offline else self.problem}".strip()

    def start(self) -> Path | None:
        """The copy that is here, else one fetched now; None, with the reason on the log, where neither can be had.

        Waits no longer than PATIENCE; what arrives later is swapped in by `keep`.
        """
        for path in self._copies():
            try:
                check(path, etag=path.stem)
            except LikenessError as error:
                log.warning("The copy %s cannot be used: %s", path, error)
            else:
                self._use(path)
                break
        if not self.offline:
            threading.Thread(target=self._renew, daemon=True, name="hosting").start()
            if self.path is None:
                print(f"Fetching the data set {self.repo} ...", flush=True)
                self._looked.wait(PATIENCE)
        if self.path is None:
            reason = (
                "the app runs offline and has no copy of it"
                if self.offline
                else self.problem or f"the hub takes over {PATIENCE:.0f} seconds; it is shown as soon as it is here"
            )
            log.warning(
                "The data set %s is not shown: %s. Shown are the figures that come with the program",
                self.repo,
                reason.rstrip("."),
            )
        return self.path

    def keep(self, db: Database, *, then: Callable[[], None] = lambda: None) -> None:
        """Swaps every newer copy into `db` from now on; `then` is called after it, in the thread that fetches."""
        with self._lock:
            self._db, self._then = db, then
            if self.path not in (None, db.path):  # fetched after `start` gave up waiting
                db.swap(self.path)

    def close(self) -> None:
        """Ends the looks at the hub."""
        self._end.set()

    def look(self) -> bool:
        """Asks the hub once what it holds, and takes it where it is new and passes its checks; whether it did.

        Raises nothing: what stands in the way is in `problem`, and the copy in use stays.
        """
        try:
            held = self._held()
            if held.etag == self._etag:
                self.commit, self.problem = held.commit, ""
                return False
            if held.etag in self._refused:
                self.problem = self._refused[held.etag]
                return False
            self._take(held)
        except LikenessError as error:
            self.problem = str(error)
            log.warning("%s", error)
            return False
        except Exception as error:  # of the hub's client and of whichever network library it stands on
            self.problem = f"The last look at the hub failed ({type(error).__name__}); the next one comes by itself."
            log.warning(
                "The hub could not be asked for %s: %s: %s",
                self.repo,
                type(error).__name__,
                " ".join(str(error).split())[:300],
            )
            return False
        try:
            self._then()
        except Exception:
            log.exception("What follows a renewal failed")
        return True

    def _renew(self) -> None:
        wait = SOON
        while not self._end.is_set():
            self.look()
            self._looked.set()
            if not self.every:
                return
            seconds = self.every if self.path else min(wait, self.every)
            self._end.wait(seconds * random.uniform(1 - JITTER, 1 + JITTER))
            wait *= 2

    def _held(self) -> Held:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

        try:
            found = get_hf_file_metadata(hf_hub_url(self.repo, FILE, repo_type="dataset"), timeout=ANSWER)
        except RepositoryNotFoundError as error:  # gated ones too
            raise NotHere(
                f"The hub has no data set {self.repo} that this app may read. For a private one, HF_TOKEN is "
                "a token that may."
            ) from error
        except EntryNotFoundError as error:
            raise NotHere(
                f"The data set {self.repo} holds no {FILE}. Publish it: python -m compute publish --repo {self.repo}"
            ) from error
        if not found.etag or not found.commit_hash:
            raise NotHere("What answers at the hub's address (HF_ENDPOINT) does not say which file it holds.")
        return Held(etag=re.sub(r"[^\w.-]", "_", found.etag)[:100], commit=found.commit_hash)

    def _take(self, held: Held) -> None:
        """Fetches into a draft, checks, moves into place, swaps. A file that fails its checks is not fetched again."""
        from huggingface_hub import hf_hub_download

        place = self.folder / f"{held.etag}.duckdb"
        if not _whole(place, etag=held.etag):  # another program with the same cache may have fetched it already
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder, prefix="draft-", ignore_cleanup_errors=True) as draft:
                found = Path(
                    hf_hub_download(self.repo, FILE, repo_type="dataset", revision=held.commit, local_dir=draft)
                )
                try:
                    check(found, etag=held.etag)
                except LikenessError as error:
                    what = str(error).partition(". ")[0]  # the remedy after it is for a database built here
                    reason = (
                        f"The newest file of {self.repo} (commit {held.commit[:7]}) is not used: {what}. Publish "
                        f"it again: python -m compute publish --repo {self.repo}"
                    )
                    self._refused[held.etag] = reason
                    raise DatabaseError(reason) from error
                os.replace(found, place)
        os.utime(place)  # the newest of several copies is the one to start with
        with self._lock:
            if self._db is not None:
                self._db.swap(place)
            self._use(place)
            self.commit, self.problem = held.commit, ""
        log.info("The data set %s is shown as of commit %s", self.repo, held.commit)
        for old in self._copies()[KEPT:]:
            old.unlink(missing_ok=True)

    def _use(self, path: Path) -> None:
        self._etag, self.since = path.stem, datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        self.path = path

    def _copies(self) -> list[Path]:
        """What was fetched into the folder, newest first."""
        return sorted(self.folder.glob("*.duckdb"), key=lambda path: path.stat().st_mtime, reverse=True)


def _whole(path: Path, *, etag: str) -> bool:
    try:
        check(path, etag=etag)
    except (LikenessError, OSError):
        return False
    return True
