"""Metrics: a row each in `registry.py`, the quantities themselves in the other files, as pure functions of arrays."""

from __future__ import annotations

from compute.metrics.registry import METRICS

__all__ = ("METRICS",)
