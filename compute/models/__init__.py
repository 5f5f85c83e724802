"""Models behind three interfaces: `registry.py` has a row a family, `loading.py` what is done with a row."""

from __future__ import annotations

from compute.models import abilities
from compute.models.loading import (
    NOTES,
    fetch,
    hardware,
    hardware_for,
    has_patches,
    identity,
    is_downloaded,
    is_identified,
    load,
    load_trainable,
    published_files,
    required_files,
)
from compute.models.registry import ADAPTERS

__all__ = (
    "ADAPTERS",
    "NOTES",
    "abilities",
    "fetch",
    "hardware",
    "hardware_for",
    "has_patches",
    "identity",
    "is_downloaded",
    "is_identified",
    "load",
    "load_trainable",
    "published_files",
    "required_files",
)
