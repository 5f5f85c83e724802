"""Loads a model for visitors: with files on this machine, no log of their inputs, and short waits."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from compute import models
from compute.catalog.own.models import source_of
from compute.features import encoding
from compute.models.files import weights
from compute.models.judges.answer_log import Forgetful
from compute.models.judges.endpoint import Endpoint
from compute.models.options import ChangedFiles
from compute.types import BadInput, LikenessError, Model

CHANGED = "Its files have changed since this app was started. Ask the host to restart the app and name the folder"
log = logging.getLogger(__name__)


def load(row: Model) -> Any:
    """The row's model. A judge writes no log: a visitor's questions stay in the session. Raises as models.load, and
    BadInput for files that cannot be read as weights, or are not those of the host's own model as it was recorded: the
    latter are not read.
    """
    encoding.share_cores()
    family = models.ADAPTERS.get(row.adapter)
    light = family is not None and not family.weights and not family.needs
    own = source_of(row) is not None
    in_folder = own and row.revision.startswith(weights.DIGEST)
    try:
        if in_folder and weights.revision(row, required=models.required_files(row)) != row.revision:
            raise BadInput(CHANGED)
        model = models.load(row, hardware=models.hardware("cpu" if light else ""))
    except ChangedFiles as error:  # of a LoRA, or of the base of one
        if not own:
            raise
        raise BadInput(CHANGED) from error
    except (LikenessError, MemoryError):
        raise
    except Exception as error:  # of whichever library reads the checkpoint
        log.exception("%s could not be loaded", row.key)
        raise BadInput(
            f"It could not be loaded ({type(error).__name__}): its files are damaged, or do not fit "
            "together. The host's log has the details"
        ) from error
    if hasattr(model, "answers"):
        model.answers = Forgetful(row)
    if isinstance(model, Endpoint):
        model.limits = replace(model.limits, attempts=1, timeout=min(60.0, model.limits.timeout))
    return model
