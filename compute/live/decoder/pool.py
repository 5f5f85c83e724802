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
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

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
PIPE = 1 << 20  # bytes, where the system allows it: fewer turns between the processes
COMMAND = (sys.executable, "-S", "-m", "compute.live.decoder.worker")
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PYTHONHOME")  # what Python may need to start
SAVE = "Save it as PNG, JPEG or WebP and add it again"
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
            env=_environment(),
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


class DecoderPool:
    """Decodes images in `processes` processes of the program `command`. Thread-safe.

    A file waits for a free process; one image of more than inputs.LARGE pixels is decoded at a time. A process that
    exceeds its limits, dies or answers nonsense is replaced, and its file refused in a sentence.
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
        self._waiting = 0
        self._failed_at: float | None = None  # when a process could not be started
        self._closed = False
        self._keeper: threading.Thread | None = None
        self._one_large = threading.Lock()

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

    def image(self, data: bytes, *, name: str) -> Input:
        """The bytes of one image file as an input, by the rules of `inputs.image`. Raises BadInput."""
        return self._decode(data, name, thumbnail=False)[0]

    def image_with_thumbnail(self, data: bytes, *, name: str) -> tuple[Input, bytes]:
        """The same, and its thumbnail as WebP (`inputs.thumbnail`). Raises BadInput."""
        return self._decode(data, name, thumbnail=True)

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

    def _decode(self, data: bytes, name: str, *, thumbnail: bool) -> tuple[Input, bytes]:
        inputs.check_size(data, name=name)
        request = wire.DecodeRequest(data=data, name=name, thumbnail=thumbnail)
        # Whoever comes while no other large image is decoded may be large; the size shows only in the process.
        reply = self._large_reply(request, patience=0.0) or self._reply(request)
        if reply.kind == wire.LARGE:
            reply = self._large_reply(request, patience=self._patience)
            if reply is None:
                raise DecoderUnavailable(BUSY)
        if reply.kind == wire.REFUSED:
            raise BadInput(reply.note)
        image = Input(modality="image", key=content_key(data), name=name, content=reply.picture, note=reply.note)
        return image, reply.thumbnail

    def _large_reply(self, request: wire.DecodeRequest, *, patience: float) -> wire.DecodeReply | None:
        """The reply where the image may be large; None where another one is decoded for longer than `patience`."""
        if not self._one_large.acquire(timeout=patience):
            return None
        try:
            return self._reply(replace(request, is_large=True))
        finally:
            self._one_large.release()

    def _reply(self, request: wire.DecodeRequest) -> wire.DecodeReply:
        process, began = self._take(), time.monotonic()
        worn, sound = process.is_worn, False
        try:
            reply = process.ask(request, seconds=self._seconds)
            sound = not worn
            return reply
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
                f"{request.name} took too much time or memory to read, or broke its reader. {SAVE}"
            ) from error
        finally:
            self._give_back(process, sound=sound)

    def _take(self) -> DecoderProcess:
        """An idle process, when there is one. Raises BadInput."""
        self.start()
        with self._changed:
            if self._waiting >= self._waiting_most:
                raise DecoderUnavailable(BUSY)
            self._waiting += 1
            try:
                if not self._changed.wait_for(self._settled, self._patience):
                    raise DecoderUnavailable(BUSY)
            finally:
                self._waiting -= 1
            if not self._idle:
                raise DecoderUnavailable(UNAVAILABLE)
            return self._idle.pop()

    def _settled(self) -> bool:
        """Whether there is an idle process, or none can be expected. Only under the lock."""
        for process in [each for each in self._idle if not each.is_alive]:  # killed from outside
            self._idle.remove(process)
            self._all.discard(process)
            self._changed.notify_all()
        return bool(self._idle) or self._closed or (self._failed_at is not None and not self._all)

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


def _environment() -> dict[str, str]:
    """The little that the program needs: none of the server's variables, which may hold keys."""
    paths = dict.fromkeys([str(ROOT), *(path for path in sys.path if path)])
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
        # Memory comes in pages of 2 MB where the system has them: one of 4 kB costs as much as 500 pixels to decode.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }


def _widen(pipe: int) -> None:
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


POOL = DecoderPool()
