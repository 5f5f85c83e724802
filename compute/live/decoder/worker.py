"""A decoding process: reads image files from its standard input and answers with pixels, one after another.

    python -m compute.live.decoder.worker PARENT

It ends when its input does, or when the process PARENT ends.
"""

from __future__ import annotations

import codecs
import os
import select
import signal
import sys
import warnings
from contextlib import suppress
from typing import BinaryIO

# Most are here because Pillow imports them late, when no file can be opened any more.
from PIL import Image, ImageCms, ImageColor, ImageFile, ImageFilter, ImageOps, ImagePalette  # noqa: F401

from compute.content import decoding, ppm  # noqa: F401
from compute.live import inputs
from compute.live.decoder import limits, wire
from compute.live.models import memory
from compute.types import BadInput

CODECS = ("ascii", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "unicode_escape")  # of names and comments in files
AVIF_THREADS = 2
REST = 0.5  # seconds without a file, after which freed memory is returned: the next of several files uses it again


def main() -> None:
    """Serves until the input ends."""
    limits.end_with(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    source = os.fdopen(0, "rb", buffering=0)
    target = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints is no reply
    _prepare()
    bounds = limits.FileLimits()
    with suppress(EOFError, BrokenPipeError):
        _send(target, wire.DecodeReply(kind=wire.READY))
        while True:
            if not select.select([source], (), (), REST)[0]:
                memory.return_freed()
            request = wire.read_request(lambda size: _read(source, size))
            bounds.renew(is_large=request.is_large)
            _send(target, answer(request))
            del request


def answer(request: wire.DecodeRequest) -> wire.DecodeReply:
    """The file's pixels, or why there are none; LARGE where it needs more memory than its share."""
    try:
        most = None if request.is_large else inputs.LARGE
        image = inputs.image(bytes(request.data), name=request.name, most=most)
        thumbnail = inputs.thumbnail(image.content) if request.thumbnail else b""
    except inputs.LargeImage:
        return wire.DecodeReply(kind=wire.LARGE)
    except (BadInput, MemoryError) as error:
        spent = isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)
        if spent and not request.is_large:
            return wire.DecodeReply(kind=wire.LARGE)
        sentence = inputs.no_memory(request.name) if isinstance(error, MemoryError) else str(error)
        return wire.DecodeReply(kind=wire.REFUSED, note=sentence)
    return wire.DecodeReply(kind=wire.PICTURE, picture=image.content, note=image.note, thumbnail=thumbnail)


def _prepare() -> None:
    """Loads what is loaded late, while files can be opened."""
    warnings.simplefilter("ignore")  # nobody reads them, and showing one opens its source
    Image.init()
    for name in CODECS:
        codecs.lookup(name)
    with suppress(ImportError):
        from PIL import AvifImagePlugin

        AvifImagePlugin.DEFAULT_MAX_THREADS = AVIF_THREADS
    inputs.thumbnail(decoding.rgb(Image.new("L", (8, 8))))


def _read(source: BinaryIO, size: int) -> bytearray:
    """Exactly so many bytes. Raises EOFError."""
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = source.readinto(view)
        if not count:
            raise EOFError
        view = view[count:]
    return data


def _send(target: BinaryIO, reply: wire.DecodeReply) -> None:
    for part in reply.parts():
        view = memoryview(part)
        while view:
            view = view[target.write(view) :]


if __name__ == "__main__":
    main()
