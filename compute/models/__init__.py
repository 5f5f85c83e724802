"""Models behind three interfaces: `registry.py` has a row a family, `loading.py` what is done with a row."""

from __future__ import annotations

from compute.models import abilities
from compute.models.loading import (
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
    "abilities",
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
