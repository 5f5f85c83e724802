"""A model's scores of matching and unrelated pairs, or of single images, as a distribution.

`compute/analysis/calibrated.py` computes percentiles from them and decides which inputs they apply to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.calibrated import COLOURS, SCENES, measured, of_vectors
from compute.features.subject import Subject
from compute.models import model_rows
from compute.procedures import choice
from compute.procedures.evidence import Evidence, Procedure
from compute.procedures.shared.similarity import symmetric
from compute.tasks.calibration import SETS
from compute.tasks.data import CalibrationPairs


def run(subject: Subject, data: CalibrationPairs, options: Mapping[str, Any]) -> Evidence:
    """Returns `value` and `human` of every pair or image. The settings' `records` hold the distribution and, if both
    sides have one modality, its domain: the vectors of the first side, one per scene.
    """
    row = subject.row
    if data.second is None:
        value = choice.judged(subject, data.first, question=data.pairing)
    else:
        value = symmetric(subject, data.first, data.second)
    matching = (data.human == 1) & (data.second is not None)
    scenes, first = np.unique(data.scenes[matching if matching.any() else ...], return_index=True)
    reference = measured(
        model=row.key,
        pairing=data.pairing,
        unrelated=value[~matching],
        matching=value[matching],
        source=SETS[data.domain].SOURCE,
        synthetic=data.domain == "drawn",
        domain=data.domain,
        scenes=len(scenes),
    )
    records, modality = [asdict(reference)], data.first.modality
    learned = ["image"] if row.key == COLOURS else model_rows.learned_vectors(row)
    if data.pairing == f"{modality}-{modality}" and modality in learned and len(scenes) >= SCENES:
        whole = data.first.take(np.flatnonzero(matching)[first])
        domain = of_vectors(subject.embed(whole), model=row.key, name=data.domain, modality=modality)
        records.append(domain.record())
    items = pd.DataFrame({"item": data.names, "value": value, "human": data.human})
    return Evidence(items=items, settings={"records": records})


PROCEDURE = Procedure(key="calibration", needs=({"embed_image"}, {"embed_text"}, {"compare"}), run=run)
