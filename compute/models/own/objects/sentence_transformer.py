"""A sentence_transformers model in memory: texts, and images where its own first module takes them."""

from __future__ import annotations

import sys
from typing import Any

from compute.models.own.objects.wrapped import Arguments, Side, Wrapped, encoder
from compute.types import BadInput

KIND, TAKES = "a SentenceTransformer", ()


def matches(model: Any) -> bool:
    """Whether the object is one of the library's models, of any kind."""
    return "sentence_transformers" in sys.modules and any(
        kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__
    )


def wrap(arguments: Arguments) -> Wrapped:
    """What its own `encode` gives, with the model's default prompt where it has one, for both queries and documents.

    Raises BadInput for a cross-encoder or a model of several or sparse vectors, which are not encoders of one vector.
    """
    from sentence_transformers import SentenceTransformer

    model = arguments.model
    if not isinstance(model, SentenceTransformer):
        raise BadInput(f"{arguments.of} does not give one vector per item: pass a SentenceTransformer")
    settings = {
        "pooling": "the model's own",
        "prompt": {"name": model.default_prompt_name or "", "prompts": dict(model.prompts or {})},
        "truncated_to": model.truncate_dim,
        "queries": "as documents: the data do not say which is which, so encode() is used for both",
    }

    def run(items: Any) -> Any:
        return model.encode(list(items), batch_size=len(items), show_progress_bar=False)

    side = Side(ready=lambda item: item, run=run)
    # Tokenizers and processors that its modules hold, which are not modules themselves.
    preparation = {
        f"preparation {at}": getattr(module, "processor", None) or getattr(module, "tokenizer", None)
        for at, module in enumerate(model)
    }
    return encoder(
        {modality: side for modality in ("image", "text") if model.supports(modality)},
        settings=settings,
        code={"model": model, **preparation},
        packages=("torch", "transformers", "tokenizers", "sentence-transformers", "pillow"),
        advice="Check that model.encode(items) runs for a list of them",
    )
