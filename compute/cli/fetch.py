"""likeness fetch: downloads weights into the hub's cache, without loading them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Annotated

from compute.cli.workspace import Models, named_models, warn
from compute.types import NotHere


def fetch(
    *,
    models: Models,
    room: Annotated[int, "Bytes of memory the loaded model may use; 0: unlimited."] = 0,
    lines: Annotated[bool, "Print the bytes downloaded, and their total."] = False,
) -> Iterator[str]:
    """Downloads models' weights at the pinned revision into the hub's cache; existing files stay.

    A model too large for the memory or the disk is refused.
    """
    from huggingface_hub import constants

    from compute import models as adapters
    from compute.engine.workspace import catalog_with_own
    from compute.live.pool import GROWTH
    from compute.live.roster import SPARE_DISK, free_disk
    from compute.models.files import weights
    from compute.rounding import size as in_words

    for row in [model.row for model in named_models(models, catalog_with_own(None, warn=warn))]:
        required = adapters.required_files(row)
        is_own = required is None or weights.own_folder(row) is not None
        if not adapters.is_downloaded(row) and not is_own and not constants.is_offline_mode():
            files = weights.list_files(row, required=required)
            whole = sum(file.size for file in files)
            missing, free, takes = weights.missing_bytes(row, files), free_disk(), round(whole * GROWTH)
            if 0 < room < takes:
                raise NotHere(
                    f"{row.title} is too large: it takes about {in_words(takes)} of memory, and {in_words(room)} are "
                    "set aside for models"
                )
            if missing + SPARE_DISK > free:
                raise NotHere(
                    f"{row.title} is too large: {in_words(missing)} are to come, and the disk has {in_words(free)} "
                    f"left, and {in_words(SPARE_DISK)} must stay free"
                )
            if lines:  # in this thread, so that SIGTERM ends it like an interrupt
                signal.signal(signal.SIGTERM, signal.default_int_handler)
                # Printing fails once the reader is gone, which ends the download.
                weights.fetch(row, files, progress=lambda done, whole=whole: print(done, whole, flush=True))
        folder = adapters.fetch(row)
        yield f"{row.key}: {folder or 'no weights to fetch'}"
