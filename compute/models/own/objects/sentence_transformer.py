"""A sentence_transformers model in memory: texts, and images where its own first module takes them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from compute.models.own.objects.held import Arguments, Held, HeldEncoder, Side
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.types import Model

KIND = "a SentenceTransformer"


def matches(model: Any) -> bool:
    """Whether the object is one of the library's models, of any kind."""
    library = sys.modules.get("sentence_transformers")
    return library is not None and any(
        kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__
    )


def held(arguments: Arguments) -> Held:
    """What its own `encode` gives, with the model's default prompt where it has one, for queries and documents alike.

    Raises BadInput for a cross-encoder or a model of several or sparse vectors, which are no encoders of one vector.
    """
    from sentence_transformers import SentenceTransformer

    arguments.refuse_unused("preprocess", "tokenizer", "processor", "higher_is_better", kind=KIND)
    model = arguments.model
    if not isinstance(model, SentenceTransformer):
        raise BadInput(
            f"{arguments.of} gives no single vector an item, and only models that do can be evaluated: pass a "
            "SentenceTransformer"
        )
    has = tuple(modality for modality in ("image", "text") if model.supports(modality))
    settings = {
        "pooling": "the model's own",
        "prompt": {"name": model.default_prompt_name or "", "prompts": dict(model.prompts or {})},
        "truncated_to": model.truncate_dim,
        "queries": "as documents: the data do not say which is which, so encode() is used for both",
    }

    def run(items: Any) -> Any:
        return model.encode(list(items), batch_size=len(items), show_progress_bar=False)

    def make(row: Model, digest: str) -> HeldEncoder:
        sides = {modality: Side(ready=lambda item: item, run=run) for modality in has}
        return HeldEncoder(name=row.key, sides=sides, settings=dict(settings))

    return Held(
        kind=KIND,
        abilities=tuple(f"embed_{modality}" for modality in has),
        modalities=has,
        make=make,
        settings=settings,
        code={"model": model, **_preparation(model)},
        packages=("torch", "transformers", "tokenizers", "sentence-transformers", "pillow"),
        advice="Check that model.encode(items) runs for a list of them",
    )


def _preparation(model: Any) -> dict[str, Any]:
    """The tokenizers and processors that its modules hold, which are no modules themselves."""
    parts = {}
    for at, module in enumerate(model):
        for name in ("processor", "tokenizer"):
            part = getattr(module, name, None)
            if part is not None:
                parts[f"{name} of module {at}"] = part
                break
    return parts
