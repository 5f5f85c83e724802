"""Which items training is measured on, and which chooses the best checkpoint. None of them is trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compute import tasks
from compute.catalog import shipped
from compute.tasks.data import Data
from compute.tasks.source import Source
from compute.training.unisim.data import mini, splits
from compute.training.unisim.data.splits import FileExamples
from compute.training.unisim.evaluation import HeldOutTask
from compute.types import BadInput, LikenessError, Task

MINI = (*mini.CORE, *mini.OOD)  # of the mini suite: what is trained, and what the paper calls generalisation
UNISIM = ("unisim-core", "unisim-ood")  # suites
DRAWN_OOD = (
    "While training, out-of-distribution averages are of drawn items, synthetic, for the training splits have none: "
    "what holds on them need not hold on photographs. The final table has the suite's own"
)
# The evaluated task whose questions are like those of a training split of Table 5, by task and data set there.
ALIKE = {
    ("image-choice", "nights"): "unisim/nights",
    ("image-choice", "pieapp"): "unisim/pieapp-2afc",
    ("image-for-text", "hpdv2"): "unisim/hpdv2",
    ("image-for-text", "magicbrush"): "unisim/magicbrush",
    ("image-for-text", "hq-edit"): "unisim/hq-edit-it",
    ("text-for-image", "polaris"): "unisim/polaris",
    ("text-for-image", "hq-edit"): "unisim/hq-edit-text",
    ("quality", "kadid-10k"): "unisim/kadid-10k",
    ("quality", "pieapp"): "unisim/pieapp-iqa",
    ("quality", "pipal"): "unisim/pipal",
}


def suite_tasks(suite: str) -> tuple[Task, ...]:
    """The tasks of UniSim's kind: MINI of the mini suite, both suites of UniSim-Bench for `unisim`.

    Raises BadInput for another suite.
    """
    catalog = {task.key: task for task in shipped().tasks}
    if suite == "mini":
        return tuple(catalog[key] for key in MINI)
    if suite == "unisim":
        return tuple(task for task in catalog.values() if set(task.suites) & set(UNISIM))
    raise BadInput(f"Nothing can be trained for the suite {suite!r}: choose mini or unisim")


def evaluation_items(suite: str, *, source: Source) -> tuple[list[HeldOutTask], dict[str, str]]:
    """The suite's own items, for the final table only; and the tasks that have none here, each with the reason."""
    return load(suite_tasks(suite), source=source)


def load(chosen: Sequence[Task], *, source: Source) -> tuple[list[HeldOutTask], dict[str, str]]:
    """Each task with its items; and those whose files are not here or cannot be read, each with the reason."""
    present: list[HeldOutTask] = []
    missing: dict[str, str] = {}
    for task in chosen:
        options: Mapping[str, object] = {name: values[0] for name, values in tasks.options_of(task).items()}
        try:
            present.append(HeldOutTask(task=task, data=tasks.load(task, source=source, options=options)))
        except LikenessError as error:  # also a damaged data set: the others are measured all the same
            missing[task.key] = str(error)
    return present, missing


def validation_items(suite: str, parts: Sequence[FileExamples] = ()) -> list[HeldOutTask]:
    """Items that the best checkpoint is chosen by: none is trained on, and none is the suite's own.

    Of `unisim` the core ones are `parts` of the training splits (`splits.divided_all`). Nothing of Table 5 measures
    generalisation, so the others are mini's, drawn: DRAWN_OOD. Raises BadInput where there are no `parts`, and for
    another suite.
    """
    if suite == "unisim":
        if not parts:
            raise BadInput(
                "No example of the training splits can be held out to choose the stored step by: they are too few, or "
                "all of a data set have images in common. Train on more data sets"
            )
        rows = {task.key: task for task in suite_tasks(suite)}
        core = [
            HeldOutTask(task=rows[ALIKE[part.task, part.dataset]], data={"default": splits.choices(part)})
            for part in parts
        ]
        return [*core, *_of_mini(mini.validation(core=False))]
    if suite != "mini":
        raise BadInput(f"There are no validation items of {suite!r}: choose mini or unisim")
    return _of_mini(mini.validation())


def _of_mini(data: Mapping[str, Mapping[str, Data]]) -> list[HeldOutTask]:
    return [HeldOutTask(task=task, data=data[task.key]) for task in suite_tasks("mini") if task.key in data]
