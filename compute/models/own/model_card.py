"""What a checkpoint's card says of its training data: `datasets` in the YAML at the top of README.md, as on the hub."""

from __future__ import annotations

from pathlib import Path

from compute.types import shortened

CARD = "README.md"
MAX_DATASETS = 100


def datasets(folder: Path) -> tuple[str, ...]:
    """The names of data sets, the hub's ids where its rules are kept; none where the card says nothing that can be
    read."""
    from huggingface_hub import metadata_load

    try:
        listed = (metadata_load(folder / CARD) or {}).get("datasets")
    except Exception:  # a card is prose: whatever its reader finds wrong with it, the model is as good without
        return ()
    names = listed if isinstance(listed, list) else [listed]
    return tuple(name for name in names[:MAX_DATASETS] if isinstance(name, str) and name and name == shortened(name))
