"""Decoding of visitors' images in a few worker processes with limits. This file holds both ends of their pipes.

python -m compute.live.decoder PARENT

No image library reads a visitor's bytes in the server: workers return plain pixels, and their number is checked. A
request has two frames, the name and the file. A reply has four: the width (0: refused), a note or the refusal, the
pixels and a thumbnail. The kernel kills a worker that exceeds its time, and another one is started.
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
MEMORY = 300_000_000  # bytes of address space that a worker may add to its idle size
SECONDS = 2  # of processor time per file
LONGEST = 30.0  # seconds of wall-clock time per file, if the system has no limits
PATIENCE = 30.0  # seconds that a file waits for a worker
COMMAND = (sys.executable, "-S", "-m", f"{__package__}.decoder")
READY = b"ready"
SHORT = 4_000  # most bytes of a note
CODECS = ("ascii", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "unicode_escape")  # for names and comments in files
BUSY = "Many images are being read at this moment. Try again in a few seconds"
UNAVAILABLE = "Images cannot be read on this host at this moment. Try again later, or tell its host: the log says why"
log = logging.getLogger(__name__)


class DecoderUnavailable(BadInput):
    """No worker is free or can be started. The image itself is fine and may be sent again."""


class DecoderPool:
    """A pool of `workers` processes of the program `command` that decode images. Each is started on first use."""

    def __init__(self, *, command: Sequence[str] = COMMAND, workers: int = WORKERS) -> None:
        self._command, self._count = tuple(command), workers
        self._free: queue.LifoQueue[DecoderProcess | None] = queue.LifoQueue()  # None: not started yet
        for _ in range(workers):
            self._free.put(None)
        # A worker is killed when the thread that started it ends, so a single thread starts all workers.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="decoders")

    def start(self) -> None:
        """Starts the workers before the first image arrives."""
        taken = [self._free.get() for _ in range(self._count)]
        for worker in taken:
            with suppress(DecoderUnavailable):
                worker = worker or self._started()
            self._free.put(worker)

    def image(self, data: bytes, *, name: str) -> Input:
        """Decodes one image file into an input, by the rules of `inputs.image`. Raises BadInput."""
        return self.image_with_thumbnail(data, name=name)[0]

    def image_with_thumbnail(self, data: bytes, *, name: str) -> tuple[Input, bytes]:
        """Decodes one image file into an input and its thumbnail as WebP (`inputs.thumbnail`). Raises BadInput."""
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
        """Ends the workers when they are free."""
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
    """One process and its pipes. Raises OSError, EOFError or ValueError on failure; it must then be ended."""

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
        """Returns the image and its thumbnail. Raises BadInput if the worker refuses the image."""
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
        """Kills the process and closes its pipes. Returns the exit status, negative for a signal."""
        self._process.kill()
        status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()
        return status


def _send(target: BinaryIO, *frames: bytes) -> None:
    """Sends each frame, preceded by its length."""
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
    """Serves requests until the input ends."""
    bare_process.end_with(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server, which then ends this process
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that output printed by a library is not part of a reply
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
    """Loads what Pillow would load lazily, while files can still be opened."""
    from PIL import Image, ImageCms, ImageColor, ImageFile, ImageFilter, ImageOps, ImagePalette  # noqa: F401

    warnings.simplefilter("ignore")  # nobody reads them, and showing a warning opens its source file
    Image.init()
    for name in CODECS:
        codecs.lookup(name)
    inputs.thumbnail(Image.new("RGB", (8, 8)))


@contextmanager
def _locked(file: BinaryIO) -> Iterator[None]:
    """Waits until no other worker is in this block, so that only one large image is in memory at a time."""
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
