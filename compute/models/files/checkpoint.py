"""Files of tensors: read without running code from them, and put whole into a module."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.types import BadInput, Model, NotHere

if TYPE_CHECKING:
    import torch


def needed(row: Model, folder: Path | None) -> Path:
    """The row's folder of weights. Raises NotHere where the row names none."""
    if folder is None:
        raise NotHere(f"{row.key} names no weights")
    return folder


def present(file: Path) -> Path:
    """`file` itself. Raises NotHere where it is missing."""
    if not file.is_file():
        raise NotHere(f"{file.name} is missing from {file.parent}. Fetch the whole checkpoint again")
    return file


def tensors(file: Path) -> dict[str, Any]:
    """What a file made by torch.save holds, on the CPU. Raises NotHere, and BadInput for anything but tensors."""
    import torch

    try:
        return torch.load(present(file), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise BadInput(f"{file} holds more than tensors, or is not whole; it is not loaded") from error


def under(state: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """The entries whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def fill(module: torch.nn.Module, state: Mapping[str, torch.Tensor], *, of: str) -> None:
    """Loads every weight of a module. Raises BadInput where one is missing, unknown or of another shape."""
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise BadInput(f"The checkpoint does not fit {of}: {' '.join(str(error).split())[:300]}") from error
