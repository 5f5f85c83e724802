"""A folder's study made in this process: which models are asked, and how."""

from __future__ import annotations

from collections.abc import Callable

from compute.engine import named_models, workspace
from compute.eyes import making
from compute.eyes.folder import StudyFolder
from compute.eyes.study import Study
from compute.live import questions
from compute.live.pool import Pool
from compute.live.roster import Roster
from compute.progress import Progress
from compute.types import BadInput, Model


def models(folder: StudyFolder, *, warn: Callable[[str], None]) -> list[Model]:
    """The models of the settings, else those that are ready and usual. Raises BadInput where one cannot answer such
    questions, UnknownKey."""
    mode, kinds = making.MODES[folder.settings.kind]
    catalog = workspace.catalog_with_own(None, warn=warn)
    if not folder.settings.models:
        return Roster(catalog.models, pool=Pool(), network=lambda: False).usual(mode, kinds)
    rows = [each.row for each in named_models.named(folder.settings.models, catalog=catalog, offline=True)]
    for row in rows:
        if why := questions.cannot(row, mode, kinds):
            raise BadInput(f"{row.key} cannot answer these questions: {why}. Omit it from --models")
    return rows


def draw(folder: StudyFolder) -> None:
    """Draws the questions and stores them. Raises BadInput where there are too few images."""
    folder.save(_finished("Reading the images", making.drawn(folder.materials(), seed=folder.settings.seed)))


def ask(folder: StudyFolder, rows: list[Model]) -> None:
    """Asks the models and stores what they pick."""
    images = folder.materials().images
    folder.save(_finished("Asking the models", making.answered(folder.study, images, rows, Pool().run)))


def _finished(title: str, steps: making.Steps) -> Study:
    with Progress().bar(title, total=100, unit="part") as advance:
        done = 0

        def tell(step: making.MakingStep) -> None:
            nonlocal done
            advance(int(100 * step.share) - done)
            done = int(100 * step.share)

        study = making.finished(steps, tell)
        advance(100 - done)
    return study
