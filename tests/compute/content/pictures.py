"""Pictures for the tests of judges."""

from __future__ import annotations

from compute.content.items import content_key
from compute.content.messages import Picture


def picture(data: bytes) -> Picture:
    """An image held in memory."""
    return Picture(key=content_key(data), read=lambda: data)
