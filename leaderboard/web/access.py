"""The hosts that the app answers to, its own address there, and the pages that may frame it."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from compute.types import BadInput
from leaderboard.web.responses import NO_STORE

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERY_ADDRESS = (None, "0.0.0.0", "::")  # to listen on; no address
HUB = "https://huggingface.co"  # its page of a Space shows the Space in a frame
NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,252}")
FORWARDED = "x-forwarded-host"
PRIVATE = "private, no-cache"  # no cache in between stores what holds the host that a request names
FRAME_HOST = re.compile(r"(https?://)?(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(:(\d{1,5}|\*))?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Access:
    """`hosts`: the names allowed in a request's Host, None for any. `named`: names given by the operator, whose pages
    count as the app's own behind a proxy that does not pass the name on. `frame_hosts`: sources in the notation of a
    Content-Security-Policy whose pages may frame the app, besides its own.
    """

    hosts: frozenset[str] | None = None
    named: frozenset[str] = frozenset()
    frame_hosts: tuple[str, ...] = ()
    is_local: bool = False  # only this machine reaches it: it listens on loopback, and no proxy is configured


def access(
    *, listens_on: str, root_path: str = "", hosts: str = "", frame_hosts: str = "", hub: bool = False
) -> Access:
    """Returns what follows from the address that the app listens on and from the operator's lists, commas or spaces
    between.

    On a loopback address only this machine's names, the address itself and `hosts` (and the host in `root_path`, where
    that is a whole address) are answered, so that no other name can be made to lead here (DNS rebinding). On other
    addresses any name is answered, unless `hosts` has some. `*` among `hosts` stands for any. `hub`: whether this is a
    Space. Raises BadInput for what is not a host.
    """
    listed = _listed(hosts)
    for name in listed:
        if name != "*" and host_name(name) is None:
            raise BadInput(
                f"LIKENESS_HOSTS names {name[:80]!r}, which is not the name of a host: write board.example.org"
            )
    for source in _listed(frame_hosts):
        if not FRAME_HOST.fullmatch(source):
            raise BadInput(
                f"LIKENESS_FRAME_HOSTS names {source[:80]!r}, which is not a host: write https://example.org"
            )
    named = frozenset(name for name in (*map(host_name, listed), urlsplit(root_path).hostname) if name)
    checked = "*" not in listed and (bool(listed) or is_loopback(listens_on))
    own = LOOPBACK | {name for name in (host_name(listens_on),) if name not in EVERY_ADDRESS}
    return Access(
        hosts=own | named if checked else None,
        named=named,
        frame_hosts=(*([HUB] if hub else ()), *_listed(frame_hosts)),
        is_local=is_loopback(listens_on) and not (hub or listed or root_path),
    )


def host_name(host: str) -> str | None:
    """Returns the name in a Host header, without its port, in lower case; None if it is not a host."""
    text = host.strip().lower()
    with suppress(ValueError):
        return str(ipaddress.ip_address(text))
    try:
        parts = urlsplit(f"//{text}")
        name = (parts.hostname or "").removesuffix(".")
        if parts.netloc != text or "@" in text or parts.port == 0:
            return None
    except ValueError:  # a port that is not a number
        return None
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    return name if NAME.fullmatch(name) else None


def public_root(scope: Scope, access: Access) -> tuple[str, dict[str, str]]:
    """Returns the app's root as a whole address that ends in a slash, empty if the request has no readable host;
    and the headers of an answer that holds it.

    The operator's own root path counts first, if it is a whole address, then a proxy's x-forwarded-host, then Host. A
    forwarded host that the operator has not named may be anybody's, so the answer is stored nowhere.
    """
    root = str(getattr(scope.get("app"), "root_path", "") or scope.get("root_path", ""))
    if root.startswith(("http://", "https://")):
        return root.rstrip("/") + "/", {"cache-control": PRIVATE}
    headers = Headers(scope=scope)
    host, proto = (first_of(headers.get(name, "")) for name in (FORWARDED, "x-forwarded-proto"))
    cache = NO_STORE if host and host_name(host) not in access.named else PRIVATE
    about = {"vary": f"host, {FORWARDED}, x-forwarded-proto", "cache-control": cache}
    host = host or headers.get("host", "").strip().lower()
    name = host_name(host)
    if name is None or not (access.hosts is None or FORWARDED in headers or name in access.hosts):
        return "", about
    scheme = proto if proto in ("http", "https") else scope.get("scheme", "http")
    return "/".join(filter(None, (f"{scheme}://{host}", root.strip("/")))) + "/", about


def first_of(listed: str) -> str:
    """Returns the first value of a header that proxies append to, in lower case."""
    return listed.partition(",")[0].strip().lower()


def is_loopback(name: str) -> bool:
    """Returns whether an address to listen on can be reached only from this machine."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost"


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(filter(None, re.split(r"[\s,]+", text))))
