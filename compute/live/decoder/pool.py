"""A few decoding processes, started ahead and replaced when they fail: the server's end.

No image library reads a visitor's bytes in the server: what comes back is plain pixels, whose size is checked.
"""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from compute.content.items import content_key
from compute.live import inputs
from compute.live.decoder import wire
from compute.live.inputs import Input
from compute.live.models import memory
from compute.paths import ROOT
from compute.types import BadInput

PROCESSES = 2
WAITING = 24  # files that wait for a process; further ones are refused
PATIENCE = 30.0  # seconds that a file waits for a process
SECONDS = 60.0  # for one file by the clock; the process has its own limit of processor time
STARTING = 60.0  # seconds until a new process must answer
PAUSE = 5.0  # seconds after a start that failed before the next one
FILES = 500  # that one process decodes
GROWN = 150_000_000  # bytes of memory at rest beyond which a process is replaced
REST = 1.0  # seconds after a file; before, memory may still be on its way back
# Bytes of freed memory that a process keeps for the next of several files, until it rests: new pages for a JPEG of 40
# megapixels take a sixth of its time. Less than limits.SLACK. IN_HEAP: blocks below are reused, as far as glibc allows.
RETAINED, IN_HEAP = 128 << 20, 32 << 20
PIPE = 1 << 20  # bytes, where the system allows it: fewer turns between the processes
COMMAND = (sys.executable, "-S", "-m", "compute.live.decoder.worker")
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PYTHONHOME")  # what Python may need to start
BUSY = "Many images are being read at this moment. Try again in a few seconds"
UNAVAILABLE = "Images cannot be read on this host at this moment. Try again later, or tell its host: the log says why"
log = logging.getLogger(__name__)


class DecoderUnavailable(BadInput):
    """No process is free for an image, or none can be started: nothing is wrong with it, and it may be sent again."""


class DecoderProcess:
    """One process of a program, which gets this process's id, and its pipes. One file at a time.

    Raises OSError, EOFError or wire.BadFrame where it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.files, self._last = 0, -REST
        self._process = subprocess.Popen(
            [*command, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            close_fds=True,
            cwd=ROOT,
            env=bare_environment(),
            start_new_session=True,
        )
        self.pid = self._process.pid
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe.fileno())
        try:
            if self._timed(lambda: wire.read_reply(self._read), STARTING).kind != wire.READY:
                raise EOFError("it did not say that it is ready")
        except BaseException:
            self.end()
            raise

    def ask(self, request: wire.DecodeRequest, *, seconds: float) -> wire.DecodeReply:
        """The reply to one file; the process is killed after `seconds`.

        Raises EOFError or OSError where it ended, wire.BadFrame where it answers nonsense; then it must be ended.
        """
        self.files += 1

        def exchange() -> wire.DecodeReply:
            for part in request.parts():
                view = memoryview(part)
                while view:
                    view = view[self._process.stdin.write(view) :]
            reply = wire.read_reply(self._read)
            if reply.kind == wire.READY or (reply.kind == wire.LARGE and request.is_large):
                raise wire.BadFrame(f"a reply of kind {reply.kind} to a file")
            return reply

        return self._timed(exchange, seconds)

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    @property
    def is_worn(self) -> bool:
        """Whether its next file is to be its last: it has decoded enough, or keeps memory."""
        rested = time.monotonic() - self._last >= REST
        return self.files + 1 >= FILES or (rested and memory.resident(self.pid) > GROWN)

    def kill(self) -> None:
        """Kills it; whoever waits for its reply gets an EOFError."""
        self._process.kill()

    def end(self) -> int:
        """Kills it, where it still runs, and closes its pipes: the exit status, of a signal negative."""
        self.kill()
        status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()
        return status

    def _timed(self, work: Callable[[], wire.DecodeReply], seconds: float) -> wire.DecodeReply:
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            return work()
        finally:
            timer.cancel()
            self._last = time.monotonic()

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = self._process.stdout.readinto(view)
            if not count:
                raise EOFError("it ended")
            view = view[count:]
        return data


@dataclass(frozen=True, kw_only=True, eq=False)
class WaitingFile:
    """A file that waits for a process."""

    owner: str
    is_large: bool  # it waits for the large share too


class DecoderPool:
    """Decodes images in `processes` processes of the program `command`. Thread-safe.

    A file waits for a free process, and the owners of files take turns; one image of more than inputs.LARGE pixels is
    decoded at a time. A process that exceeds its limits, dies or answers nonsense is replaced, and its file refused in
    a sentence.
    """

    def __init__(
        self,
        *,
        command: Sequence[str] = COMMAND,
        processes: int = PROCESSES,
        waiting: int = WAITING,
        patience: float = PATIENCE,
        seconds: float = SECONDS,
    ) -> None:
        self._command, self._most, self._waiting_most = tuple(command), processes, waiting
        self._patience, self._seconds = patience, seconds
        self._changed = threading.Condition()
        self._idle: list[DecoderProcess] = []
        self._all: set[DecoderProcess] = set()
        self._line: list[WaitingFile] = []
        self._running: Counter[str] = Counter()  # files of each owner in a process
        self._served = 0  # files of all owners
        self._turns: dict[str, int] = {}  # of each owner with a file here: `_served` when it was last served, or came
        self._large_share_taken = False
        self._failed_at: float | None = None  # when a process could not be started
        self._closed = False
        self._keeper: threading.Thread | None = None

    def start(self) -> None:
        """Has the processes started, without waiting for them."""
        with self._changed:
            if self._keeper is None and not self._closed:
                # A process ends with the thread that started it (limits.end_with), so one thread starts them all.
                self._keeper = threading.Thread(target=self._keep, daemon=True, name="decoders")
                self._keeper.start()
                atexit.register(self.close)
            if self._failed_at is not None and time.monotonic() - self._failed_at > PAUSE:
                self._failed_at = None
                self._changed.notify_all()

    def image(self, data: bytes, *, name: str, owner: str = "") -> Input:
        """The bytes of one image file as an input, by the rules of `inputs.image`. Raises BadInput.

        `owner`: who takes turns with the others; files without an owner share one turn.
        """
        return self._decode(data, name, owner, thumbnail=False)[0]

    def image_with_thumbnail(self, data: bytes, *, name: str, owner: str = "") -> tuple[Input, bytes]:
        """The same, and its thumbnail as WebP (`inputs.thumbnail`). Raises BadInput."""
        return self._decode(data, name, owner, thumbnail=True)

    def close(self) -> None:
        """Ends all processes; later files are refused. Does nothing in a process that was forked from their parent."""
        if self._keeper is None or not self._keeper.is_alive():
            self._closed = True
            return
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._keeper.join(timeout=STARTING)

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        with self._changed:
            return sorted(process.pid for process in self._all if process.is_alive)

    def _decode(self, data: bytes, name: str, owner: str, *, thumbnail: bool) -> tuple[Input, bytes]:
        inputs.check_size(data, name=name)
        request = wire.DecodeRequest(data=data, name=name, thumbnail=thumbnail)
        reply = self._reply(request, owner)
        if reply.kind == wire.LARGE:  # which shows only in the process
            reply = self._reply(replace(request, is_large=True), owner)
        if reply.kind == wire.REFUSED:
            raise BadInput(reply.note)
        image = Input(modality="image", key=content_key(data), name=name, content=reply.picture, note=reply.note)
        return image, reply.thumbnail

    def _reply(self, request: wire.DecodeRequest, owner: str) -> wire.DecodeReply:
        """The reply of a process when the file's turn comes. Raises BadInput where the process fails."""
        with self._process(WaitingFile(owner=owner, is_large=request.is_large)) as (process, has_large_share):
            began = time.monotonic()
            try:
                return process.ask(replace(request, is_large=has_large_share), seconds=self._seconds)
            except (EOFError, OSError, wire.BadFrame) as error:
                status = process.end()
                log.warning(
                    "A decoding process was replaced after %.1f s with a file of %d bytes: %s, exit status %s",
                    time.monotonic() - began,
                    len(request.data),
                    error or type(error).__name__,
                    status,
                )
                raise BadInput(
                    f"{request.name} took too much time or memory to read, or broke its reader. "
                    + inputs.advice(request.data)
                ) from error

    @contextmanager
    def _process(self, file: WaitingFile) -> Iterator[tuple[DecoderProcess, bool]]:
        """A process for a file when its turn comes, and whether the file has the large share. Raises BadInput."""
        self.start()
        with self._changed:
            if len(self._line) >= self._waiting_most:
                raise DecoderUnavailable(BUSY)
            self._line.append(file)
            self._turns.setdefault(file.owner, self._served)
            try:
                if not self._changed.wait_for(lambda: self._settled(file), self._patience):
                    raise DecoderUnavailable(BUSY)
                if not self._idle:
                    raise DecoderUnavailable(UNAVAILABLE)
                process = self._idle.pop()
                # Whoever comes while no other large image is decoded may be large.
                has_large_share = not self._large_share_taken
                self._large_share_taken = True
                self._served += 1
                self._turns[file.owner] = self._served
                self._running[file.owner] += 1
            finally:
                self._line.remove(file)
                self._changed.notify_all()
        worn, sound = process.is_worn, False
        try:
            yield process, has_large_share
            sound = not worn
        finally:
            with self._changed:
                self._large_share_taken = self._large_share_taken and not has_large_share
                self._running[file.owner] -= 1
                self._running = +self._running  # drops who has none
                here = {*self._running, *(each.owner for each in self._line)}
                self._turns = {owner: turn for owner, turn in self._turns.items() if owner in here}
            self._give_back(process, sound=sound)

    def _settled(self, file: WaitingFile) -> bool:
        """Whether there is a process for the file, or none can be expected. Only under the lock."""
        for process in [each for each in self._idle if not each.is_alive]:  # killed from outside
            self._idle.remove(process)
            self._all.discard(process)
            self._changed.notify_all()
        if self._closed or (self._failed_at is not None and not self._all):
            return True
        return bool(self._idle) and self._next() is file

    def _next(self) -> WaitingFile | None:
        """The file whose turn it is: of the owner with the fewest files in work, and of these who waited longest."""
        ready = [file for file in self._line if not (file.is_large and self._large_share_taken)]
        return min(ready, key=lambda file: (self._running[file.owner], self._turns[file.owner]), default=None)

    def _give_back(self, process: DecoderProcess, *, sound: bool) -> None:
        with self._changed:
            sound = sound and not self._closed
            if sound:
                self._idle.append(process)
            else:
                self._all.discard(process)
            self._changed.notify_all()
        if not sound:
            process.end()

    def _keep(self) -> None:
        """Starts processes while some are missing; ends them all in the end."""
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._closed or (len(self._all) < self._most and self._failed_at is None)
                )
                if self._closed:
                    break
            try:
                process = DecoderProcess(self._command)
            except (OSError, EOFError, wire.BadFrame) as error:
                log.error("No decoding process can be started (%s): %s", " ".join(self._command), error)
                with self._changed:
                    self._failed_at = time.monotonic()
                    self._changed.notify_all()
                continue
            with self._changed:
                self._all.add(process)
                self._idle.append(process)
                self._changed.notify_all()
        with self._changed:
            idle, busy = list(self._idle), self._all.difference(self._idle)
            self._idle.clear()
        for process in idle:
            process.end()
        for process in busy:  # whoever waits for it ends it
            process.kill()


def bare_environment() -> dict[str, str]:
    """The little that the program needs: none of the server's variables, which may hold keys."""
    paths = dict.fromkeys([str(ROOT), *(path for path in sys.path if path)])
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
        "GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold={IN_HEAP}:glibc.malloc.trim_threshold={RETAINED}",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }


def _widen(pipe: int) -> None:
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


POOL = DecoderPool()
