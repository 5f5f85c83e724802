"""Images of questions, made ready once each: one image is in many pairs, in both orders and under two conditions.

To read an image may be to make it (PairBench draws its transformed ones), and to encode it takes longer than to send
it. What is ready goes to a file rather than to memory, so that ten thousand pairs take no more memory than ten.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

from compute.content import decoding
from compute.content.messages import Picture, Question

SENT_AS_IS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}  # where decoding changes nothing; all else as PNG


def grouped(questions: Sequence[Question]) -> list[int]:
    """Positions of the questions, those that share images near each other, else in their order."""
    first: dict[bytes, int] = {}

    def earliest(position: int) -> int:
        keys = [part.key for part in questions[position].parts if isinstance(part, Picture)]
        return min((first.setdefault(key, position) for key in keys), default=position)

    return sorted(range(len(questions)), key=earliest)


def image_part(picture: Picture) -> dict[str, Any]:
    """An image within a message, as endpoints take it. Raises BadInput for one that is damaged."""
    return {"type": "image_url", "image_url": {"url": data_url(picture.data)}}


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
