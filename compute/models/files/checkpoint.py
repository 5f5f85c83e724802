"""Files of a checkpoint: read without running code from them; and modules on their device."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware
from compute.types import BadInput, NotHere

if TYPE_CHECKING:
    import torch


def existing(file: Path) -> Path:
    """`file` itself. Raises NotHere where it is missing."""
    if not file.is_file():
        raise NotHere(f"{file.name} is missing from {file.parent}. Fetch the whole checkpoint again")
    return file


def tensors(file: Path) -> dict[str, Any]:
    """The content of a file made by torch.save, on the CPU. Raises NotHere, and BadInput for anything but tensors."""
    import torch

    try:
        return torch.load(existing(file), map_location="cpu", weights_only=True)
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
        raise BadInput(f"The checkpoint does not fit {of}: {one_line(error)}") from error


def architecture(folder: Path) -> str:
    """The `model_type` that the folder's config.json names; empty for none."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", "")


def ready(module: torch.nn.Module, hardware: Hardware) -> torch.nn.Module:
    """The module on its device and in its precision, for inference only."""
    return module.to(hardware.device, hardware.torch_dtype).eval().requires_grad_(False)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within it, torch draws weights from this seed; its own random state stays as it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def one_line(error: BaseException) -> str:
    """The beginning of an error's message, at most 300 characters."""
    return " ".join(str(error).split())[:300]
