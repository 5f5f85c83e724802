"""The address under which a visitor sees the app, for links that other sites read."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from leaderboard.web.security.access import Access, host_name


def public_root(scope: Scope, access: Access) -> str:
    """The app's root as a whole address that ends in a slash; empty where the request names no host that can be read.

    The operator's own root path counts first, if it is a whole address. A proxy's x-forwarded-host counts where the app
    answers under that name. Whatever a request names stands in its own answer only: nothing that is stored has it.
    """
    root = str(getattr(scope.get("app"), "root_path", "") or scope.get("root_path", ""))
    if root.startswith(("http://", "https://")):
        return root.rstrip("/") + "/"
    headers = Headers(scope=scope)
    passed = [headers.get(name, "").partition(",")[0].strip().lower() for name in ("x-forwarded-host", "host")]
    host = next((host for host in passed if _is_own(host, access)), "")
    if not host:
        return ""
    proto = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    scheme = proto if proto in ("http", "https") else scope.get("scheme", "http")
    below = root.strip("/")
    return f"{scheme}://{host}/{below + '/' if below else ''}"


def _is_own(host: str, access: Access) -> bool:
    name = host_name(host)
    return name is not None and (access.hosts is None or name in access.hosts) and urlsplit(f"//{host}").netloc == host
