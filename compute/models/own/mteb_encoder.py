"""An encoder of mteb's protocol: `encode(inputs, *, task_metadata, hf_split, hf_subset, prompt_type, **kwargs)`.

The protocol passes a data loader whose batches map `image` to a list of PIL images and `text` to a list. Source: mteb
2.26, models/models_protocols.py and _create_dataloaders.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from compute.models.own.objects import Given, OwnEncoder, as_it_is
from compute.types import BadInput


def matches(model: Any) -> bool:
    """Returns whether the object has the protocol's `encode`, recognised by its argument `task_metadata`, or has
    `mteb_model_meta` if `encode` only passes its arguments on.
    """
    if isinstance(model, type) or not (encode := _encode(model)):
        return False
    return hasattr(model, "mteb_model_meta") or "task_metadata" in inspect.signature(encode).parameters


def read(given: Given) -> OwnEncoder:
    """Returns an encoder by its own `encode`, for the modalities in its `mteb_model_meta`, or only texts without one.

    Every item is encoded once, regardless of how many tasks use it. `prompt_type` is None and `task_metadata` does not
    describe a real task, so prompts that depend on the task or on a text's role are not used. A late-interaction model,
    recognised by the similarity in its metadata, gets texts as queries and images as documents.
    """
    meta = getattr(given.model, "mteb_model_meta", None)
    named = getattr(meta, "modalities", None) or ()
    late = getattr(getattr(meta, "similarity_fn_name", None), "value", "") == "MaxSim"
    has = [modality for modality in ("image", "text") if modality in (named or ("text",))]
    if not has:
        raise BadInput(f"{given.of} takes {', '.join(named)}, by its mteb_model_meta: neither images nor texts")
    roles = {"image": "document", "text": "query"} if late else {}
    prompt_type = "query for texts, document for images" if late else "None"
    return OwnEncoder(
        name=given.of,
        sides={side: (_run(_encode(given.model), side, role=roles.get(side)), as_it_is) for side in has},
        settings={"prompt": f"none: task_metadata is that of no task and prompt_type is {prompt_type}"},
        late_interaction=late,
    )


class Rows(list):
    """The items of one batch as a data set with one column, with the attributes that encoders use."""

    def __init__(self, column: str, items: Sequence[Any]) -> None:
        import datasets

        super().__init__({column: item} for item in items)
        self.column_names = [column]
        self.features = {column: datasets.Image() if column == "image" else datasets.Value("string")}

    def __getitem__(self, at: Any) -> Any:
        return [row[at] for row in self] if isinstance(at, str) else super().__getitem__(at)


def _encode(model: Any) -> Any:
    """Returns the protocol's `encode`, which is private in mteb's wrapper of multi-vector models; None if it is
    missing.
    """
    found = (getattr(model, name, None) for name in ("encode", "_encode"))
    return next((encode for encode in found if callable(encode)), None)


def _run(encode: Any, modality: str, *, role: str | None) -> Callable[[Sequence[Any]], Any]:
    """Returns a function that calls `encode` for one batch, with task metadata that states only the modality."""
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.types import PromptType
    from torch.utils.data import DataLoader

    metadata = TaskMetadata(
        dataset={"path": "likeness", "revision": "none"},
        name="Likeness",
        description="Items of several tasks, encoded once",
        type="VisualSTS(eng)" if modality == "image" else "STS",
        modalities=[modality],
        category="i2i" if modality == "image" else "t2t",
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
    )
    return lambda items: encode(
        DataLoader(
            Rows(modality, items),
            batch_size=len(items),
            collate_fn=lambda rows: {modality: [row[modality] for row in rows]},  # images unchanged
            shuffle=False,
        ),
        task_metadata=metadata,
        hf_split="test",
        hf_subset="default",
        prompt_type=role and PromptType(role),
        batch_size=len(items),
        show_progress_bar=False,
    )
