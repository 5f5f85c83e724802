"""What the server and a decoding process send each other through pipes: fixed headers, and bodies of bounded lengths.

A request is a file with its name, a reply pixels with a note or a sentence of refusal. Either side trusts no length of
the other: it is checked before anything is read or reserved.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compute.live.inputs import LARGEST_IMAGE, PIXELS

if TYPE_CHECKING:
    from PIL import Image

REQUEST, REPLY = struct.Struct("<4sBBHI"), struct.Struct("<4sBxxxIIII")
REQUEST_MARK, REPLY_MARK = b"LKq1", b"LKr1"
READY, REFUSED, LARGE, PICTURE = 1, 2, 3, 4  # kinds of replies; LARGE: send it again with is_large
NAME, NOTE, THUMBNAIL = 1_000, 4_000, 400_000  # bytes at most; a thumbnail of 256 x 256 pixels has 196,608 uncompressed
WEBP = b"RIFF", b"WEBP"  # at the start of a thumbnail, and 8 bytes further on
BAND = 200_000  # bytes of pixels that are copied at once: they stay in the processor's cache, and fit the pipe

Read = Callable[[int], bytes | bytearray]  # exactly so many bytes; raises EOFError


class BadFrame(Exception):
    """What arrived is no frame of this protocol, or beyond its bounds."""


@dataclass(frozen=True, kw_only=True)
class DecodeRequest:
    """One image file to decode."""

    data: bytes | bytearray
    name: str  # for sentences
    is_large: bool = False  # may have more than inputs.LARGE pixels, and take more memory and time
    thumbnail: bool = False

    def parts(self) -> tuple[bytes, ...]:
        """What to send, in its order."""
        name = self.name.encode(errors="replace")[:NAME]
        head = REQUEST.pack(REQUEST_MARK, self.is_large, self.thumbnail, len(name), len(self.data))
        return head, name, self.data


@dataclass(frozen=True, kw_only=True)
class DecodeReply:
    """The answer to one request: of a PICTURE all fields, of REFUSED the note alone, which is the sentence."""

    kind: int
    picture: Image.Image | None = None  # RGB
    note: str = ""
    thumbnail: bytes = b""  # WebP, where it was requested

    def parts(self) -> Iterator[bytes]:
        """What to send, in its order: of a picture's pixels some rows at a time, a byte a channel.

        While a part is on its way the next one is made, and the receiver copies the one before.
        """
        note = self.note.encode(errors="replace")[:NOTE]
        width, height = self.picture.size if self.picture else (0, 0)
        yield REPLY.pack(REPLY_MARK, self.kind, width, height, len(note), len(self.thumbnail))
        yield note
        yield self.thumbnail
        if self.picture:
            for top, bottom in _bands(width, height):
                yield self.picture.crop((0, top, width, bottom)).tobytes()


def read_request(read: Read) -> DecodeRequest:
    """The next request. Raises EOFError where the sender is gone, BadFrame for anything else."""
    mark, is_large, thumbnail, name, data = REQUEST.unpack(read(REQUEST.size))
    if mark != REQUEST_MARK or name > NAME or data > LARGEST_IMAGE:
        raise BadFrame("a request beyond its bounds")
    text = bytes(read(name)).decode(errors="replace")
    return DecodeRequest(name=text, data=read(data), is_large=bool(is_large), thumbnail=bool(thumbnail))


def read_reply(read: Read) -> DecodeReply:
    """The next reply. Raises EOFError where the sender is gone, BadFrame for anything else."""
    mark, kind, width, height, note, thumbnail = REPLY.unpack(read(REPLY.size))
    if mark != REPLY_MARK or kind not in (READY, PICTURE, REFUSED, LARGE) or note > NOTE or thumbnail > THUMBNAIL:
        raise BadFrame("a reply beyond its bounds")
    if (kind == PICTURE) != (0 < width * height <= PIXELS) or (kind != PICTURE and (width or height or thumbnail)):
        raise BadFrame(f"a reply of kind {kind} with {width} x {height} pixels")
    try:
        words = bytes(read(note)).decode()
    except UnicodeDecodeError as error:
        raise BadFrame("a note that is no text") from error
    small = bytes(read(thumbnail))
    if small and (small[:4], small[8:12]) != WEBP:
        raise BadFrame("a thumbnail that is no WebP")
    picture = _read_picture(read, width, height) if kind == PICTURE else None
    return DecodeReply(kind=kind, note=words, thumbnail=small, picture=picture)


def _read_picture(read: Read, width: int, height: int) -> Image.Image:
    """The pixels, copied into an image as they come."""
    from PIL import Image

    picture = Image.new("RGB", (width, height))
    for top, bottom in _bands(width, height):
        rows = (width, bottom - top)
        picture.paste(Image.frombytes("RGB", rows, read(3 * width * (bottom - top))), (0, top))
    return picture


def _bands(width: int, height: int) -> Iterator[tuple[int, int]]:
    """First row and end of each band of a picture."""
    rows = max(1, BAND // (3 * width))
    for top in range(0, height, rows):
        yield top, min(top + rows, height)
