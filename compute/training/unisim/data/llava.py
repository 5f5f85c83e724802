"""Instruction files in LLaVA's layout: their entries read one by one, and what a trainer could not use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compute.types import BadInput

TOKEN = "<image>"
CHUNK = 1 << 20  # characters of a file that are read at once
LAYOUT = "Expected a list of objects in LLaVA's layout, with id, image and conversations, or one such object a line"


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of an instruction file, a JSON list or JSON lines, read a part at a time. Raises BadInput naming the
    entry that is none."""
    decoder, buffer, number = json.JSONDecoder(), "", 0
    try:
        with path.open(encoding="utf-8") as file:
            ended = False
            while True:
                buffer = buffer.lstrip(" \t\r\n,") if number else buffer.lstrip(" \t\r\n\ufeff[")
                if buffer.startswith("]") or (ended and not buffer):
                    return
                try:
                    entry, end = decoder.raw_decode(buffer)
                except (ValueError, RecursionError) as error:
                    if ended:
                        reason = getattr(error, "msg", error)
                        raise BadInput(
                            f"{path}, entry {number}: not JSON ({reason}). {LAYOUT}: mend that entry, or name "
                            "another file"
                        ) from error
                    more = file.read(max(CHUNK, len(buffer)))  # twice as much each time, for entries of any length
                    ended, buffer = not more, buffer + more
                    continue
                if not isinstance(entry, dict):
                    raise BadInput(
                        f"{path}, entry {number}: {type(entry).__name__}, not an object. {LAYOUT}: mend that entry, or "
                        "name another file"
                    )
                yield entry
                number, buffer = number + 1, buffer[end:]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}). Name a JSON file in LLaVA's layout") from error


def image_paths(entry: Mapping[str, Any]) -> list[str]:
    """The images of an entry: a list, a single path, or none."""
    value = entry.get("image") or []
    return [value] if isinstance(value, str) else list(value)


def problem(entry: Mapping[str, Any]) -> str:
    """What is wrong with an entry, empty for nothing: turns that alternate, and a token for each image."""
    turns, value = entry.get("conversations"), entry.get("image") or []
    if not (isinstance(value, str) or (isinstance(value, list) and all(isinstance(path, str) for path in value))):
        return "its image is neither a path nor a list of paths"
    if not isinstance(turns, list) or not turns:
        return "it has no conversations"
    if not all(isinstance(turn, dict) and isinstance(turn.get("value"), str) for turn in turns):
        return "a turn has no text"
    speakers = [turn.get("from") for turn in turns if turn.get("from") != "system"]
    if speakers != ["human", "gpt"] * (len(speakers) // 2) or not speakers:
        return "human and gpt do not take turns"
    tokens, images = sum(turn["value"].count(TOKEN) for turn in turns), len(image_paths(entry))
    return "" if tokens == images else f"it has {tokens} {TOKEN} for {images} images"


def verify(path: Path) -> int:
    """How many entries a file has. Raises BadInput naming the first that a trainer could not use: turns, tokens, ids,
    and images that are not below the file's folder."""
    seen: set[str] = set()
    for number, entry in enumerate(entries(path)):
        wrong = problem(entry)
        missing = [] if wrong else [name for name in image_paths(entry) if not (path.parent / name).is_file()]
        if missing:
            wrong = f"its image {missing[0]} is missing"
        if str(entry.get("id")) in seen:
            wrong = "an earlier entry has its id"
        if wrong:
            raise BadInput(f"{path}, entry {number} ({entry.get('id')}): {wrong}")
        seen.add(str(entry.get("id")))
    return len(seen)
