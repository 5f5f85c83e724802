"""Frames arrive as they were sent, and nothing beyond their bounds is read or reserved."""

from __future__ import annotations

import io

import pytest

from compute.live.decoder import wire
from compute.live.inputs import LARGEST_IMAGE, PIXELS

SMALL = b"RIFF\x04\x00\x00\x00WEBP"


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
        wire.DecodeReply(kind=wire.PICTURE, width=2, height=1, pixels=b"rgbRGB", note="turned", thumbnail=SMALL),
    ],
    ids=["ready", "large", "refused", "picture"],
)
def test_a_reply_arrives_as_it_was_sent(reply: wire.DecodeReply) -> None:
    data = b"".join(reply.parts())
    assert wire.read_reply(reader(data)) == reply
    for end in range(len(data)):
        with pytest.raises(EOFError):
            wire.read_reply(reader(data[:end]))


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
