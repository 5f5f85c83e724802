"""Models behind three interfaces: `registry.py` has a row per family, `model_rows.py` the functions on a row."""

from __future__ import annotations

from compute.models.model_rows import (
    NOTES,
    endpoint_variable,
    fetch,
    hardware,
    hardware_for,
    identity,
    is_downloaded,
    is_identified,
    load,
    load_trainable,
    missing,
    required_files,
)
from compute.models.registry import ADAPTERS

__all__ = (
    "ADAPTERS",
    "NOTES",
    "endpoint_variable",
    "fetch",
    "hardware",
    "hardware_for",
    "identity",
    "is_downloaded",
    "is_identified",
    "load",
    "load_trainable",
    "missing",
    "required_files",
)
