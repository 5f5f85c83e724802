"""Images of questions in the form that endpoints accept."""

from __future__ import annotations

import base64
import io
from typing import Any

from compute.content import decoding
from compute.content.messages import Picture

SENT_AS_IS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}  # if decoding changes nothing; else sent as PNG


def image_part(picture: Picture) -> dict[str, Any]:
    """Returns an image as a part of a message. Raises BadInput for a damaged image."""
    return {"type": "image_url", "image_url": {"url": data_url(picture.data)}}


def data_url(data: bytes) -> str:
    """Returns an image file as a data URL, upright and in RGB. Raises BadInput for a damaged image."""
    image = decoding.opened(data)
    kind = SENT_AS_IS.get(image.format or "")
    plain = decoding.rgb(image)  # always decoded: a damaged file is the item's fault, not the judge's
    if kind is None or plain is not image:
        stream = io.BytesIO()
        plain.save(stream, "PNG")
        kind, data = "png", stream.getvalue()
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
