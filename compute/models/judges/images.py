"""Images of questions, made ready once each: one image stands in many pairs, in both orders and under two conditions.

To read an image may be to make it (PairBench draws its transformed ones), and to encode it takes longer than to send
it. What is ready goes to a file rather than to memory, so that ten thousand pairs take no more memory than ten.
"""

from __future__ import annotations

import base64
import io
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from compute.content import decoding
from compute.content.messages import Picture, Question
from compute.content.temporary_file import TemporaryFile

SENT_AS_IS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}  # where decoding changes nothing; all else as PNG
MAKERS = min(4, os.cpu_count() or 1)  # images made at once: one that is decoded may take 200 MB


class ReadyImages:
    """Bytes that `make` gave for an image, by its content key; thread-safe.

    They lie in a nameless file in `folder`, which ends with the process however that ends, or without a folder in
    memory. When the file is full it starts anew, so questions in the order of `grouped` meet most images once.
    `made` counts the calls of `make`.
    """

    def __init__(self, make: Callable[[Picture], bytes], *, folder: Path | None, room: int | None = None) -> None:
        self.made = 0
        self._make, self._file = make, TemporaryFile(folder, room=room)
        self._making: dict[bytes, Future[bytes]] = {}
        self._lock = threading.Lock()
        self._makers = threading.BoundedSemaphore(MAKERS)

    def of(self, picture: Picture) -> bytes:
        """The image made ready. Threads that want one that is being made wait for it. Raises what `make` raises."""
        with self._lock:
            stored = self._file.get(picture.key)
            if stored is not None:
                return stored
            making = self._making.get(picture.key)
            if making is None:
                ours = self._making[picture.key] = Future()
        if making is not None:
            return making.result()
        try:
            with self._makers:
                data = self._make(picture)
        except BaseException as error:
            with self._lock:
                del self._making[picture.key]
            ours.set_exception(error)
            raise
        with self._lock:
            self.made += 1
            # Without room on the disk images are made again when they are needed again.
            self._file.add(picture.key, data, anew=True)
            del self._making[picture.key]
        ours.set_result(data)
        return data


def grouped(questions: Sequence[Question]) -> list[int]:
    """Positions of the questions, those that share images near each other, else in their order."""
    first: dict[bytes, int] = {}

    def earliest(position: int) -> int:
        keys = [part.key for part in questions[position].parts if isinstance(part, Picture)]
        return min((first.setdefault(key, position) for key in keys), default=position)

    return sorted(range(len(questions)), key=earliest)


def data_url(data: bytes) -> str:
    """An image file as an address that holds it, upright and in RGB. Raises BadInput for one that is damaged."""
    image = decoding.opened(data)
    kind = SENT_AS_IS.get(image.format or "")
    plain = decoding.rgb(image)  # decoded in any case: a damaged file is the item's fault, not the judge's
    if kind is None or plain is not image:
        stream = io.BytesIO()
        plain.save(stream, "PNG")
        kind, data = "png", stream.getvalue()
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
