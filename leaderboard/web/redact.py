"""Messages for visitors, without the folders of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePath

from compute.paths import IMPORTED_FROM

TAIL = r"(?:/[^\s'\",;:()]*)?"
ELSEWHERE = r"(?<![\w.:/<~-])/(?:[^\s'\",;:()/]+/)+[^\s'\",;:()]*"  # no address: that has its host before the path

_hidden: set[str] = set()


def hide(folders: Iterable[str]) -> None:
    """Registers folders of the machine, with any characters in their names, to be removed from messages from now on."""
    for folder in folders:
        _hidden.update((folder, str(Path(folder).resolve())))


def redact_paths(sentence: str) -> str:
    """Returns the message without paths of this machine: a file is reduced to its name, a folder to "its folder"."""
    from huggingface_hub import constants

    sentence = sentence.replace(f"the hub's cache {constants.HF_HUB_CACHE} ", "the hub's cache ")
    named = [
        IMPORTED_FROM,
        IMPORTED_FROM.resolve(),
        os.path.expanduser("~"),
        constants.HF_HUB_CACHE,
        os.environ.get("TORCH_HOME", ""),
        *_hidden,
    ]
    roots = sorted({str(root) for root in named if len(str(root)) > 1}, key=len, reverse=True)  # they may hold spaces
    return re.sub(
        "|".join([rf"{re.escape(root)}(?![\w-]){TAIL}" for root in roots] + [ELSEWHERE]),
        lambda match: _name(match[0]),
        sentence,
    )


def _name(path: str) -> str:
    stop = "." if path.endswith(".") else ""  # the sentence's own
    name = PurePath(path.removesuffix(".")).name
    return (name if PurePath(name).suffix else "its folder") + stop
