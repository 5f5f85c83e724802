"""Loads a model for visitors: on what is there, writing nothing of theirs anywhere, and waiting for no one long."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from compute import models
from compute.features import encoding
from compute.models.judges.answer_log import Forgetful
from compute.models.judges.endpoint import Endpoint
from compute.types import BadInput, LikenessError, Model

log = logging.getLogger(__name__)


def load(row: Model) -> Any:
    """The row's model. A judge keeps no log: what a visitor asks stays in the visitor's session. Raises as models.load,
    and BadInput for files that cannot be read as weights.
    """
    encoding.share_cores()
    family = models.ADAPTERS.get(row.adapter)
    light = family is not None and not family.weights and not family.needs
    try:
        model = models.load(row, hardware=models.hardware("cpu" if light else ""))
    except (LikenessError, MemoryError):
        raise
    except Exception as error:  # of whichever library reads the checkpoint
        log.exception("%s could not be loaded", row.key)
        raise BadInput(
            f"It could not be loaded ({type(error).__name__}): its files are damaged, or not what the "
            "catalogue takes them for. The host's log says more"
        ) from error
    if hasattr(model, "answers"):
        model.answers = Forgetful(row)
    if isinstance(model, Endpoint):
        model.limits = replace(model.limits, attempts=2, timeout=min(60.0, model.limits.timeout), patience=5.0)
    return model
