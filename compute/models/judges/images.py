"""Images of questions as endpoints take them."""

from __future__ import annotations

import base64
import io
from typing import Any

from compute.content import decoding
from compute.content.messages import Picture

SENT_AS_IS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}  # where decoding changes nothing; all else as PNG


def image_part(picture: Picture) -> dict[str, Any]:
    """Returns an image within a message, as endpoints take it. Raises BadInput for one that is damaged."""
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
