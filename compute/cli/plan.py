"""likeness plan: shows which tasks of a suite to run next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from compute.cli.workspace import Models, Results, named_models, warn
from compute.engine.workspace import Offline, RunSettings
from compute.types import BadInput


def plan(
    *,
    suite: Annotated[str, "Which suite: likeness list suites."],
    models: Models = (),
    budget: Annotated[str, "How long the tasks may take together by others' runs, such as 30m or 2.5h."] = "1h",
    offline: Offline = False,
    results: Results = None,
) -> Iterator[str]:
    """Orders a suite's missing tasks by how much an hour of each tells of a model's place.

    `likeness run --budget` runs them.
    """
    from compute.engine import named_models as named
    from compute.engine import plan, workspace
    from compute.interface import standing
    from compute.interface.evaluated import Evaluation

    settings = RunSettings(offline=offline, results=results)
    catalog, suite, bench = workspace.opened(settings, suite=suite, warn=warn)
    rows = [named.keyed(model, results=settings.results) for model in named_models(models, catalog, offline=offline)]
    if len(rows) != 1:
        raise BadInput("The tasks to run next are those of one model: name one with --models")
    catalog, key = named.joined(catalog, rows), rows[0].row.key
    planned = plan.make(catalog, suite=suite, models=[key], bench=bench)
    stored = Evaluation.stored(planned, catalog=catalog, results=settings.results)
    yield str(stored.place())
    yield from standing.lines(stored.next_tasks(budget), model=key, suite=suite, budget=budget)
