"""likeness time: measures the speed of a model on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from annotated_types import Ge

from compute.cli.workspace import Build, Results, named_models, rebuild, say, warn
from compute.engine.workspace import Device, Dtype, Offline, RunSettings, catalog_with_own, workbench
from compute.rounding import rate_text


def time(
    model: Annotated[str, "A key (likeness list models), a folder of a checkpoint (./name), or hub:org/name@revision."],
    *,
    device: Device = "",
    dtype: Dtype = "",
    batch_size: Annotated[int, "Items at once.", Ge(1)] = 32,
    offline: Offline = False,
    results: Results = None,
    build: Build = True,
) -> Iterator[str]:
    """Measures how fast a model is on this machine, and its memory; the pages show it.

    The forward pass alone, on drawn images and texts: what decodes and prepares them is not counted. The row is written
    to speeds.csv in the results.
    """
    from compute.engine import speeds
    from compute.engine.named_models import record_named

    settings = RunSettings(device=device, dtype=dtype, offline=offline, results=results)
    (named,) = named_models([model], catalog_with_own(settings.results, warn=warn), offline=settings.offline)
    bench = workbench(settings, data=None)
    row = record_named(named, results=settings.results)
    found = speeds.measured(row, bench=bench, batch=batch_size, report=say)
    speeds.store(found, results=settings.results)
    words = {
        "ms": "ms for one image",
        "images_per_second": "images per second",
        "texts_per_second": "texts per second",
        "memory_mb": "MB at most",
    }
    facts = [f"{rate_text(found[name])} {what}" for name, what in words.items() if found[name] != ""]
    yield f"{row.key} on {found['machine']}, {found['dtype']}, batches of {batch_size}: {', '.join(facts)}"
    rebuild(settings.results, wanted=build)
