"""likeness judge: checks whether a judge can be trusted before its scores are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from compute.cli.command import grouped
from compute.cli.workspace import Results, named_models, warn
from compute.engine.workspace import Offline, RunSettings


def check(
    model: Annotated[str, "A judge: a key (likeness list models), or endpoint:NAME at LIKENESS_ENDPOINT."],
    *,
    offline: Offline = False,
    results: Results = None,
) -> Iterator[str]:
    """Asks a judge about drawn pairs with known answers, and prints what its answers rest on.

    About 220 questions, with the images, other images and blank ones; stored answers are not asked for twice.
    """
    from compute.engine.checking import judge
    from compute.engine.named_models import record_named
    from compute.engine.workspace import catalog_with_own, workbench

    settings = RunSettings(offline=offline, results=results)
    (named,) = named_models([model], catalog_with_own(settings.results, warn=warn), offline=settings.offline)
    bench = workbench(settings, data=None)
    row = record_named(named, results=settings.results)
    bench.fetch(row)
    yield from judge.check(bench.subject(row))


group = grouped(check)
