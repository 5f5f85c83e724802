"""Where a model in memory runs: where its parameters are, and in their precision. Nothing is moved."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from compute.models import loading
from compute.models.adapter import Hardware
from compute.models.own.objects.wrapped import weight_of
from compute.types import BadInput


def hardware_of(model: Any, *, device: str = "", dtype: str = "", attention: str = "") -> Hardware:
    """The device and precision of an object's parameters; those of `compute.models.hardware` where it has none.

    Raises BadInput where another device, precision or attention is named than the object's: to change it is the
    caller's to do.
    """
    dtype, modules = loading.DTYPES.get(dtype, dtype), modules_of(model)
    if attention:
        configs = (getattr(part, "config", None) for module in modules for part in module.modules())
        has = next(
            (has for config in configs if (has := getattr(config, "_attn_implementation", ""))), "none to choose"
        )
        if has != attention:
            raise BadInput(
                f"{type(model).__name__} has attn_implementation {has!r}, not {attention!r}: load it with "
                f"attn_implementation={attention!r}, or omit it"
            )
    weight = next((weight for module in modules if (weight := weight_of(module)) is not None), None)
    if weight is None:
        return replace(loading.hardware(device, dtype), dtype=dtype or "float32", chosen=True)
    own = Hardware(device=str(weight.device).removesuffix(":0"), dtype=str(weight.dtype).removeprefix("torch."))
    if device and device.removesuffix(":0") != own.device:
        raise BadInput(
            f"{type(model).__name__} is on {own.device}, not on {device}: model.to({device!r}), or omit device"
        )
    if dtype and dtype != own.dtype:
        raise BadInput(
            f"{type(model).__name__} is in {own.dtype}, not in {dtype}: model.to(torch.{dtype}), or omit dtype"
        )
    return own


def modules_of(model: Any) -> list[Any]:
    """The torch modules that an object is or holds as its attributes."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    parts = [model] if isinstance(model, torch.nn.Module) else getattr(model, "__dict__", {}).values()
    return [part for part in parts if isinstance(part, torch.nn.Module)]
