"""Frames arrive as they were sent, and nothing beyond their bounds is read or reserved."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from compute.live.decoder import wire
from compute.live.inputs import LARGEST_IMAGE, PIXELS

SMALL = b"RIFF\x04\x00\x00\x00WEBP"
PICTURE = Image.frombytes("RGB", (2, 1), b"rgbRGB")


def reader(data: bytes, *, sizes: list[int] | None = None) -> wire.Read:
    source = io.BytesIO(data)

    def read(size: int) -> bytes:
        if sizes is not None:
            sizes.append(size)
        found = source.read(size)
        if len(found) < size:
            raise EOFError
        return found

    return read


def test_a_request_arrives_as_it_was_sent() -> None:
    request = wire.DecodeRequest(data=b"file", name="caf\u00e9 \U0001f431", is_large=True, thumbnail=True)
    assert wire.read_request(reader(b"".join(request.parts()))) == request


def test_a_name_is_cut_and_its_broken_characters_replaced() -> None:
    request = wire.DecodeRequest(data=b"", name="\ud800" + "\u00e9" * 2_000)
    name = wire.read_request(reader(b"".join(request.parts()))).name
    assert name.startswith("?\u00e9") and len(name.encode()) < 1_010


@pytest.mark.parametrize(
    "reply",
    [
        wire.DecodeReply(kind=wire.READY),
        wire.DecodeReply(kind=wire.LARGE),
        wire.DecodeReply(kind=wire.REFUSED, note="It is no image"),
        wire.DecodeReply(kind=wire.PICTURE, picture=PICTURE, note="turned", thumbnail=SMALL),
    ],
    ids=["ready", "large", "refused", "picture"],
)
def test_a_reply_arrives_as_it_was_sent(reply: wire.DecodeReply) -> None:
    data = b"".join(reply.parts())
    assert wire.read_reply(reader(data)) == reply
    for end in range(len(data)):
        with pytest.raises(EOFError):
            wire.read_reply(reader(data[:end]))


@pytest.mark.parametrize("size", [(1, 1), (1, 300_000), (200_000, 3), (640, 481)])
def test_a_picture_travels_in_bands_of_rows(size: tuple[int, int]) -> None:
    """Neither side holds a second copy of a picture: no part is more than a band, or a row where that is more."""
    pixels = random.Random(1).randbytes(3 * size[0] * size[1])
    picture = Image.frombytes("RGB", size, pixels)
    head, note, thumbnail, *bands = wire.DecodeReply(kind=wire.PICTURE, picture=picture).parts()
    assert b"".join(bands) == pixels and max(map(len, bands)) <= max(wire.BAND, 3 * size[0])
    sizes: list[int] = []
    reply = wire.read_reply(reader(head + note + thumbnail + pixels, sizes=sizes))
    assert reply.picture == picture and sizes[-len(bands) :] == [len(band) for band in bands]


def head(kind: int, width: int = 0, height: int = 0, note: int = 0, thumbnail: int = 0, mark: bytes = b"LKr1") -> bytes:
    return wire.REPLY.pack(mark, kind, width, height, note, thumbnail)


@pytest.mark.parametrize(
    "data",
    [
        head(2, mark=b"HTTP"),
        head(9),
        head(2, note=wire.NOTE + 1),
        head(2, width=1, height=1),
        head(3, thumbnail=12),
        head(4),
        head(4, width=0, height=5),
        head(4, width=PIXELS, height=2),
        head(4, width=2**32 - 1, height=2**32 - 1),
        head(4, width=1, height=1, thumbnail=wire.THUMBNAIL + 1),
        head(2, note=2) + b"\xff\xff",
        head(4, width=1, height=1, thumbnail=12) + b"<svg onload=>" + b"rgb",
    ],
    ids=str,
)
def test_nonsense_is_no_reply_and_nothing_more_is_read(data: bytes) -> None:
    sizes: list[int] = []
    with pytest.raises(wire.BadFrame):
        wire.read_reply(reader(data, sizes=sizes))
    assert sum(sizes) <= len(data)


@pytest.mark.parametrize(
    "data",
    [
        wire.REQUEST.pack(b"GET ", 0, 0, 0, 0),
        wire.REQUEST.pack(wire.REQUEST_MARK, 0, 0, wire.NAME + 1, 0),
        wire.REQUEST.pack(wire.REQUEST_MARK, 0, 0, 0, LARGEST_IMAGE + 1),
    ],
    ids=["mark", "name", "data"],
)
def test_nonsense_is_no_request(data: bytes) -> None:
    with pytest.raises(wire.BadFrame):
        wire.read_request(reader(data))
