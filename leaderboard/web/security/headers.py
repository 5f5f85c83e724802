"""Headers that tell browsers what the app's pages may do, who may show them, and what else to refuse."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.whole_page import again, is_page, send_whole

CSP = "content-security-policy"
SCRIPT = re.compile(rb"<script((?:\s[^>]*)?)>(.*?)</script", re.DOTALL | re.IGNORECASE)
SOURCE = re.compile(rb"\ssrc\s*=", re.IGNORECASE)
DENIED = ("microphone", "geolocation", "payment", "usb", "serial", "midi", "display-capture")
FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # links to other sites do not tell what was compared
    "permissions-policy": ", ".join(("camera=(self)", *(f"{feature}=()" for feature in DENIED))),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def policy(*, frame_hosts: Sequence[str] = (), scripts: Iterable[str] = ()) -> str:
    """The Content-Security-Policy. `scripts`: hashes of the inline scripts that the page itself was sent with.

    Gradio needs two exceptions: its components' templates are compiled in the browser ('unsafe-eval'), and both it and
    our own markup set styles inline. Scripts in markup that is added later, event handlers in attributes and addresses
    that begin with javascript: stay forbidden.
    """
    directives = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", "'unsafe-eval'", *scripts)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' blob:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(("'self'", *frame_hosts)),
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def script_hashes(page: bytes) -> list[str]:
    """The inline scripts of a page as sources of a policy, in order."""
    digests = (
        hashlib.sha256(content.replace(b"\r\n", b"\n")).digest()
        for attributes, content in SCRIPT.findall(page)
        if not SOURCE.search(attributes)
    )
    return list(dict.fromkeys(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests))


class SecurityHeaders:
    """Adds the headers to every answer; one that an answer has already is left. To be wrapped around all else."""

    def __init__(self, app: ASGIApp, *, frame_hosts: Sequence[str] = ()) -> None:
        self.app = app
        self.headers = FIXED | {CSP: policy(frame_hosts=frame_hosts)}
        if not frame_hosts:  # for old browsers; it cannot list hosts, so where there are some the policy alone says
            self.headers["x-frame-options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class PageScripts:
    """Names in a page's policy the inline scripts that it is sent with, by their hashes. Inside of any compression."""

    def __init__(self, app: ASGIApp, *, frame_hosts: Sequence[str] = ()) -> None:
        self.app, self.frame_hosts = app, tuple(frame_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; the answer is sent once the whole page is there."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return

        async def with_hashes(start: Message, page: bytes) -> Response:
            answer = again(start, page)
            answer.headers[CSP] = policy(frame_hosts=self.frame_hosts, scripts=script_hashes(page))
            return answer

        await send_whole(self.app, scope, receive, send, when=is_page, change=with_hashes)
