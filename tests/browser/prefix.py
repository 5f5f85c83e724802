"""A proxy that serves another server under a path: python prefix.py TARGET PORT PATH"""

from __future__ import annotations

import sys

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

HOP = ("content-length", "transfer-encoding", "connection")


def proxy(target: str, prefix: str) -> Starlette:
    """Passes everything below `prefix` on to `target`, without the prefix, and nothing else."""
    client = httpx.AsyncClient(timeout=None)

    async def forward(request: Request) -> StreamingResponse:
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "accept-encoding")}
        sent = client.build_request(
            request.method,
            f"{target}/{request.path_params['path']}",
            params=request.query_params,
            content=await request.body(),
            headers=headers | {"x-forwarded-host": request.headers["host"], "x-forwarded-proto": "http"},
        )
        found = await client.send(sent, stream=True)
        return StreamingResponse(
            found.aiter_raw(),
            status_code=found.status_code,
            headers={name: value for name, value in found.headers.items() if name not in HOP},
        )

    return Starlette(routes=[Route(prefix + "/{path:path}", forward, methods=["GET", "HEAD", "POST", "DELETE"])])


if __name__ == "__main__":
    uvicorn.run(proxy(sys.argv[1], sys.argv[3]), port=int(sys.argv[2]), log_level="warning")
