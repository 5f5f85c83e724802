"""A folder's study made in this process: which models are asked, and how."""

from __future__ import annotations

from collections.abc import Callable

from compute.engine import named_models, workspace
from compute.eyes.folder import StudyFolder
from compute.eyes.making import MODES, StudyMaking
from compute.eyes.study import Study
from compute.live import questions
from compute.live.pool import Pool
from compute.live.roster import Roster
from compute.progress import Progress
from compute.types import BadInput, Model


def models(folder: StudyFolder, *, warn: Callable[[str], None]) -> list[Model]:
    """The models of the settings, else those that are ready and usual. Raises BadInput where one cannot answer such
    questions, UnknownKey."""
    mode, kinds = MODES[folder.settings.kind]
    catalog = workspace.catalog_with_own(None, warn=warn)
    if not folder.settings.models:
        return Roster(catalog.models, pool=Pool(), network=lambda: False).usual(mode, kinds)
    rows = [each.row for each in named_models.named(folder.settings.models, catalog=catalog, offline=True)]
    for row in rows:
        if why := questions.cannot(row, mode, kinds):
            raise BadInput(f"{row.key} cannot answer these questions: {why}. Omit it from --models")
    return rows


def make(folder: StudyFolder, *, warn: Callable[[str], None]) -> Study:
    """Draws the questions, asks the models, and stores the study. Raises BadInput where there are too few images."""
    making = StudyMaking(
        materials=folder.materials(), models=models(folder, warn=warn), run=Pool().run, seed=folder.settings.seed
    )
    with Progress().bar("Making the study", total=100, unit="part") as advance:
        done = 0
        for step in making.steps():
            advance(int(100 * step.share) - done)
            done = int(100 * step.share)
        advance(100 - done)
    folder.save(making.study)
    return making.study
