"""Two inputs sent by a program and scored by models, with the published scores for this kind of question."""

from __future__ import annotations

import base64
import re
from typing import Any

from compute.live.inputs import LARGEST_IMAGE
from compute.types import BadInput
from leaderboard.api.records import known
from leaderboard.data.models.model_facts import facts
from leaderboard.data.related_figures import related_figures
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live.live import Live

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
FILE_NAME = re.compile(r"\S+\.(png|jpe?g|webp|gif|avif|bmp|tiff?)", re.IGNORECASE)
IMAGE = re.compile(r"data:image/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,", re.IGNORECASE)
Rows = list[dict[str, Any]]
LiveInput = tuple[str, str | bytes]  # ("text", words), ("image", the bytes of a file) or ("example", its key)


def score_pair(
    suite_cache: SuiteCache,
    live: Live,
    first: str,
    second: str,
    models: list[str] | str,
    *,
    request: Any = None,
) -> Rows:
    """Returns the models' rows with facts and published scores. Raises BadInput for inputs and models that are not
    accepted.
    """
    inputs = [_input(value, name) for value, name in ((first, "first"), (second, "second"))]
    keys, listed = keys_of(models), [row["key"] for row in live.roster.records("")]
    for key in keys:
        known("model", key, listed, lister="list_models with all")
    answers = [row | facts(suite_cache).get(row["model"], {}) for row in live.score(inputs, keys, request)]
    published = {
        pairing: related_figures(
            suite_cache, models=[str(row["model"]) for row in answers], mode="pair", kinds=pairing.split("-")
        )
        for pairing in {str(row["pairing"]) for row in answers}
    }
    return [row | {"published": published[str(row["pairing"])][str(row["model"])]} for row in answers]


def keys_of(listed: list[str] | str) -> list[str]:
    """Returns the distinct keys in a list or in a comma-separated text."""
    texts = listed.split(",") if isinstance(listed, str) else listed
    return list(dict.fromkeys(filter(None, (str(key).strip() for key in texts or ()))))


def _input(value: str, name: str) -> LiveInput:
    """Returns the input in a string. Raises BadInput for a URL, a file name, and invalid image data."""
    words = value.strip() if isinstance(value, str) else ""
    if not words:
        raise BadInput(f"{name} is empty. Give a text, example:KEY, or an image as data:image/png;base64,...")
    if words.startswith("example:"):
        return "example", words.removeprefix("example:").strip()
    if words[:5].lower() == "data:":
        head = IMAGE.match(words)
        if head is None:
            raise BadInput(f"{name} is a data URI of another kind. An image is sent as data:image/png;base64,...")
        if len(words) - head.end() > LARGEST_IMAGE * 4 // 3 + 4:
            raise BadInput(f"{name} is larger than {LARGEST_IMAGE // 1_000_000} MB. Send a smaller image")
        try:
            return "image", base64.b64decode(words[head.end() :], validate=True)
        except ValueError as error:
            raise BadInput(f"{name} is not valid base64 after {head.group()!r}") from error
    if ADDRESS.fullmatch(words):
        raise BadInput(
            f"{name} is an address, and addresses are not fetched. Send the image itself, as data:image/png;base64,..."
        )
    if FILE_NAME.fullmatch(words):
        raise BadInput(
            f"{name} is {words[:80]!r}, the name of a file, and files are not read. Send the image itself, "
            "as data:image/png;base64,..."
        )
    return "text", words
