"""`compute.remote`: calls the functions of a running board through its API."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

import pandas as pd

from compute.types import BadInput

PATIENCE = 120.0  # seconds


def remote(url: str) -> SimpleNamespace:
    """Returns the functions of the board at this address, as its API describes them:
    `remote(url).leaderboard(suite="mieb")`.

    Each takes its arguments by name, and `data`, the version of the data. A list of records is returned as a frame,
    with the version as `frame.attrs["data"]`; any other answer is returned unchanged. Raises BadInput if no board
    answers there; the functions raise it with the board's message.
    """
    root = url.rstrip("/")
    paths = _asked(root, "/api/v1/openapi.json")["paths"]
    return SimpleNamespace(
        **{
            about["operationId"]: partial(_call, root, path, method, about["parameters"])
            for path, methods in paths.items()
            for method, about in methods.items()
        }
    )


def _call(root: str, path: str, method: str, parameters: list[dict[str, Any]], /, **given: Any) -> Any:
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    if missing := [key for key in in_path if not given.get(key)]:
        raise BadInput(f"{missing[0]} is missing: give it by name")
    path = path.format(**{key: quote(given.pop(key, ""), safe="/") for key in in_path})
    if method == "post":
        answer = _asked(root, path, json.dumps(given).encode())
    else:
        texts = {key: ",".join(value) if isinstance(value, list) else value for key, value in given.items()}
        answer = _asked(root, f"{path}?{urlencode(texts)}")
    if not isinstance(answer["result"], list):
        return answer["result"]
    frame = pd.DataFrame(answer["result"])
    frame.attrs["data"] = answer["data"]
    return frame


def _asked(root: str, path: str, sent: bytes | None = None) -> Any:
    """Returns the JSON at an address below the board's. Raises BadInput with the board's message if it refuses."""
    try:
        request = Request(f"{root}{path}", sent, {"accept": "application/json", "content-type": "application/json"})
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)
    except HTTPError as error:
        with suppress(ValueError, KeyError, TypeError):
            raise BadInput(json.load(error)["error"]) from error
        raise BadInput(f"{root} has no API v1: it answers with status {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise BadInput(f"{root} does not answer as a board does: {error}") from error
