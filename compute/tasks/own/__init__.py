"""User data: a manifest, a folder or a data set of the hub becomes a task of the benchmark `own`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.tasks import pairbench
from compute.tasks.data import Data
from compute.tasks.own.reading import VERSION, OwnData, read
from compute.tasks.own.shapes import SHAPES
from compute.tasks.pairbench import manifest
from compute.tasks.source import Need, OwnFile, Source
from compute.types import BadInput, NotHere, Task, printable

# The last are those of manifests of pairs, which PairBench's loader reads.
PROCEDURES = (*dict.fromkeys(shape.procedure for shape in SHAPES), *pairbench.PROCEDURES)


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, Data]:
    """Returns a task's items. Raises NotHere for missing or changed data, and BadInput."""
    return opened(task, source=source).items()


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the loader's version; the task's revision is the file's content. Raises NotHere if the content has
    changed.
    """
    opened(task, source=source)
    return {"loader": VERSION}


def needs(task: Task, *, source: Source) -> Need:
    """Returns the cost of the task's items, which are all on this machine."""
    facts = opened(task, source=source).facts
    return Need(comparisons=facts.comparisons, questions=facts.questions)


def opened(task: Task, *, source: Source) -> OwnData:
    """Returns a task's data, read once for all tasks and models of a run. Raises NotHere if it is missing or has
    changed.
    """
    file = source.own.get(task.revision)
    if file is None:
        raise NotHere(_remedy(task, file))
    if task.revision not in source.opened:
        data = file.data
        try:
            if data is None:
                data = read(
                    file.hub or file.path, shape=file.shape, columns=file.columns, images=file.images, source=source
                )
            if data.digest != task.revision:
                raise NotHere(_remedy(task, file))
        except BadInput as error:  # missing, or other data
            raise NotHere(f"{_remedy(task, file)}. {error}") from error
        source.opened[task.revision] = data
    return source.opened[task.revision]


def _remedy(task: Task, file: OwnFile | None) -> str:
    """Returns what to do about recorded data that cannot be read."""
    if file is not None and file.elsewhere and (file.path is None or file.path.exists()):
        folders = " ".join(f"--images {shlex.quote(printable(str(folder)))}" for folder in file.elsewhere)
        return (
            f"The images of task {task.key!r} lie outside the folder of {task.dataset}: name their folder (in Python "
            f"images=), as in the command likeness run --suite {task.suites[0]} {folders} --models tiny"
        )
    images = (
        ", and the folders of its images with --images (in Python images=)" if file is not None and file.images else ""
    )
    return (
        f"The data {task.dataset} of task {task.key!r} is not where it was, or has changed: name it with --data (in "
        f"Python data=){images}"
    )


def manifest_of_pairs(data: Path | str) -> bool:
    """Returns whether a file is a manifest of pairs, as `likeness pairs make` writes it."""
    path = Path(data)
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return manifest.HEADING in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False
