"""Visitors' images are decoded in a few worker processes with limits; this file is both ends of their pipes.

    python -m compute.live.decoder PARENT

No image library reads a visitor's bytes in the server: what comes back is plain pixels, whose number is checked. A
request is two frames, the name and the file; a reply four: the width (0: refused), a note or the refusal, the pixels
and a thumbnail. A worker that runs out of its time is killed by the kernel, and another one started.
"""

from __future__ import annotations

import codecs
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from compute import bare_process, processes
from compute.content.items import content_key
from compute.live import inputs
from compute.live.inputs import Input
from compute.paths import IMPORTED_FROM
from compute.types import BadInput

try:
    import fcntl
except ImportError:  # no POSIX system
    fcntl = None  # type: ignore[assignment]

WORKERS = 2
MEMORY = 300_000_000  # bytes of address space of a worker beyond what it has at rest
SECONDS = 2  # of processor time for a file
LONGEST = 30.0  # seconds by the clock for a file, where the system has no limits
PATIENCE = 30.0  # seconds that a file waits for a worker
COMMAND = (sys.executable, "-S", "-m", f"{__package__}.decoder")
READY = b"ready"
SHORT = 4_000  # bytes of a note
CODECS = ("ascii", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "unicode_escape")  # of names and comments in files
BUSY = "Many images are being read at this moment. Try again in a few seconds"
UNAVAILABLE = "Images cannot be read on this host at this moment. Try again later, or tell its host: the log says why"
log = logging.getLogger(__name__)


class DecoderUnavailable(BadInput):
    """No worker is free for an image, or none can be started: nothing is wrong with it, and it may be sent again."""


class DecoderPool:
    """Decodes images in `workers` processes of the program `command`, each started when it is first needed."""

    def __init__(self, *, command: Sequence[str] = COMMAND, workers: int = WORKERS) -> None:
        self._command, self._count = tuple(command), workers
        self._free: queue.LifoQueue[DecoderProcess | None] = queue.LifoQueue()  # None: still to be started
        for _ in range(workers):
            self._free.put(None)
        # A worker is killed when the thread that started it ends, so one thread starts them all.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="decoders")

    def start(self) -> None:
        """Starts the workers ahead of the first image."""
        taken = [self._free.get() for _ in range(self._count)]
        for worker in taken:
            with suppress(DecoderUnavailable):
                worker = worker or self._started()
            self._free.put(worker)

    def image(self, data: bytes, *, name: str) -> Input:
        """Returns the bytes of one image file as an input, by the rules of `inputs.image`. Raises BadInput."""
        return self.image_with_thumbnail(data, name=name)[0]

    def image_with_thumbnail(self, data: bytes, *, name: str) -> tuple[Input, bytes]:
        """Returns the same, and its thumbnail as WebP (`inputs.thumbnail`). Raises BadInput."""
        if len(data) > inputs.LARGEST_IMAGE:
            raise BadInput(
                f"{name} has {len(data) / 1e6:.1f} MB, more than {inputs.LARGEST_IMAGE // 1_000_000} MB. "
                "Save it smaller, or as JPEG or WebP, and add it again"
            )
        try:
            worker = self._free.get(timeout=PATIENCE)
        except queue.Empty:
            raise DecoderUnavailable(BUSY) from None
        try:
            if worker is None or not worker.is_alive:
                worker = None
                worker = self._started()
            return worker.decode(data, name)
        except (OSError, EOFError, ValueError) as error:
            status, worker = worker.end(), None
            log.warning("A decoding process ended with status %s over a file of %d bytes", status, len(data))
            raise BadInput(
                f"{name} took too much time or memory to read, or broke its reader. {inputs.ADVICE}"
            ) from error
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Ends the workers, once they are free."""
        for _ in range(self._count):
            if worker := self._free.get():
                worker.end()
        self._starter.shutdown()

    def _started(self) -> DecoderProcess:
        try:
            return self._starter.submit(DecoderProcess, self._command).result()
        except (OSError, EOFError, ValueError) as error:
            log.error("No decoding process can be started (%s): %s", " ".join(self._command), error)
            raise DecoderUnavailable(UNAVAILABLE) from error


class DecoderProcess:
    """One process and its pipes. Raises OSError, EOFError or ValueError if it fails; then it must be ended."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [*command, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=IMPORTED_FROM,
            env=bare_process.environment(),
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            _receive(self._process.stdout)  # READY
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def decode(self, data: bytes, name: str) -> tuple[Input, bytes]:
        """Returns the image and its thumbnail. Raises BadInput with the worker's refusal too."""
        from PIL import Image

        timer = threading.Timer(LONGEST, self._process.kill)
        timer.start()
        try:
            _send(self._process.stdin, name.encode(errors="replace"), data)
            width, note, pixels, small = (_receive(self._process.stdout) for _ in range(4))
        finally:
            timer.cancel()
        columns = int.from_bytes(width)
        if not columns:
            raise BadInput(note.decode(errors="replace"))
        rows, rest = divmod(len(pixels), 3 * columns)
        if rest or not rows:
            raise ValueError(f"{len(pixels):,} bytes of rows of {columns:,} pixels")
        picture = Image.frombytes("RGB", (columns, rows), pixels)
        words = note.decode(errors="replace")
        return Input(modality="image", key=content_key(data), name=name, content=picture, note=words), small

    def end(self) -> int:
        """Kills it, and closes its pipes: the exit status, of a signal negative."""
        self._process.kill()
        status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()
        return status


def _send(target: BinaryIO, *frames: bytes) -> None:
    """Each frame behind its length."""
    for frame in frames:
        target.write(len(frame).to_bytes(4))
        target.write(frame)
    target.flush()


def _receive(source: BinaryIO) -> bytes:
    """Returns the next frame. Raises EOFError if the sender is gone."""
    head = source.read(4)
    size = int.from_bytes(head)
    frame = source.read(size)
    if len(head) < 4 or len(frame) < size:
        raise EOFError("the other end is gone")
    return frame


# ---- the worker


def main() -> None:
    """Serves until the input ends."""
    bare_process.end_with(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is not a reply
    _prepare()
    with Path(__file__).open("rb") as lock, suppress(EOFError, BrokenPipeError):
        alone = partial(_locked, lock) if fcntl else nullcontext
        bare_process.confine(memory=MEMORY, seconds=SECONDS)
        _send(target, READY)
        while True:
            name, data = (_receive(sys.stdin.buffer) for _ in range(2))
            bare_process.allow(SECONDS)
            _send(target, *_reply(data, name.decode(errors="replace"), alone))
            del data
            processes.return_freed()


def _prepare() -> None:
    """Loads what Pillow loads late, while files can be opened."""
    from PIL import Image, ImageCms, ImageColor, ImageFile, ImageFilter, ImageOps, ImagePalette  # noqa: F401

    warnings.simplefilter("ignore")  # nobody reads them, and showing one opens its source
    Image.init()
    for name in CODECS:
        codecs.lookup(name)
    inputs.thumbnail(Image.new("RGB", (8, 8)))


@contextmanager
def _locked(file: BinaryIO) -> Iterator[None]:
    """Waits until no other worker is in this block, so that large images take the memory of one."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _reply(data: bytes, name: str, alone: Callable[[], AbstractContextManager[None]]) -> tuple[bytes, ...]:
    try:
        image = inputs.image(data, name=name, alone=alone)
        content = image.content
        return content.width.to_bytes(4), image.note.encode()[:SHORT], content.tobytes(), inputs.thumbnail(content)
    except BadInput as error:
        return bytes(4), str(error).encode(errors="replace")[:SHORT], b"", b""


POOL = DecoderPool()

if __name__ == "__main__":
    main()
