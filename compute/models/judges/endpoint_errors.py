"""What can go wrong with an endpoint: what passes, what is one question's fault, what ends the run. No key is told."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from compute.types import LikenessError, NotHere

PASSING = (408, 425, 429)  # and 5xx: asked again
FINAL = (401, 402, 403, 404, 405)  # no question can succeed: the run stops


class Passing(Exception):
    """A failure that may pass. `after`: seconds the endpoint asked to wait; `unreachable`: nothing listens there."""

    def __init__(self, problem: str, *, reason: str, after: float = 0.0, unreachable: bool = False) -> None:
        super().__init__(problem)
        self.reason, self.after, self.unreachable = reason, after, unreachable


class QuestionRefused(Exception):
    """A question the endpoint will not answer however often it is asked."""


class Stopped(LikenessError):
    """The run has been stopped elsewhere."""


class Address:
    """Where an endpoint is, as it may be shown; and texts without the key or what an address hides."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self.shown = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._hide = [secret for secret in (url, key, parts.password, parts.query) if secret]

    def without_secrets(self, error: Exception) -> str:
        """An error in one line of at most 300 characters."""
        said = str(error)
        for secret in self._hide:
            said = said.replace(secret, "...")
        said = " ".join(said.split()) or type(error).__name__
        return said if len(said) <= 300 else f"{said[:299]}…"


def classified(error: Exception, *, address: Address, timeout: float) -> Exception:
    """What a failed request means: Passing, QuestionRefused, or a LikenessError that ends the run."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    said = address.without_secrets(error)
    if isinstance(error, OfflineModeIsEnabled):
        return NotHere("HF_HUB_OFFLINE is set, and the hub's client then asks no endpoint at all. Unset it")
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        if status in FINAL:
            return NotHere(f"The endpoint {address.shown} refused with status {status}: {said}")
        if status in PASSING or status >= 500:
            return Passing(f"status {status}: {said}", reason=str(status), after=retry_after(error.response.headers))
        return QuestionRefused(f"status {status}: {said}")
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return Passing(f"no answer within {timeout:g} s", reason="timeout")
    if isinstance(error, httpx2.TransportError):
        return Passing(
            f"connection lost: {said}", reason="connection", unreachable=isinstance(error, httpx2.ConnectError)
        )
    return Passing(f"a reply that is no chat completion ({type(error).__name__}: {said})", reason="garbage")


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds of a Retry-After header, which holds seconds or a date; 0 without one."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
