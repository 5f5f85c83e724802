"""Models behind three interfaces: `registry.py` has a row a family, `loading.py` what is done with a row."""

from __future__ import annotations

from compute.models.loading import (
    NOTES,
    fetch,
    hardware,
    has_patches,
    identity,
    is_downloaded,
    load,
    required_files,
)
from compute.models.registry import ADAPTERS

__all__ = (
    "ADAPTERS",
    "NOTES",
    "fetch",
    "hardware",
    "has_patches",
    "identity",
    "is_downloaded",
    "load",
    "required_files",
)
