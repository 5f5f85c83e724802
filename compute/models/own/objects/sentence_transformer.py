"""A sentence_transformers model in memory: texts, and images where its own first module takes them."""

from __future__ import annotations

import sys
from functools import partial
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

    A MultiVectorEncoder (late interaction) gets texts as queries and images as documents. Raises BadInput for a
    cross-encoder or a model of sparse vectors.
    """
    import sentence_transformers

    model = arguments.model
    late = isinstance(model, getattr(sentence_transformers, "MultiVectorEncoder", ()))
    if not late and not isinstance(model, sentence_transformers.SentenceTransformer):
        raise BadInput(f"{arguments.of} does not give one vector per item: pass a SentenceTransformer")
    settings = {
        "pooling": "none: late interaction" if late else "the model's own",
        "prompt": {"name": model.default_prompt_name or "", "prompts": dict(model.prompts or {})},
        "truncated_to": getattr(model, "truncate_dim", None),
        "queries": "texts; images are documents"
        if late
        else "as documents: the data do not say which is which, so encode() is used for both",
    }

    def side(encode: Any) -> Side:
        run = partial(encode, show_progress_bar=False)
        return Side(ready=lambda item: item, run=lambda items: run(list(items), batch_size=len(items)))

    encode = {"image": model.encode_document, "text": model.encode_query} if late else {}
    # Tokenizers and processors that its modules hold, which are not modules themselves.
    preparation = {
        f"preparation {at}": getattr(module, "processor", None) or getattr(module, "tokenizer", None)
        for at, module in enumerate(model)
    }
    return encoder(
        {kind: side(encode.get(kind, model.encode)) for kind in ("image", "text") if model.supports(kind)},
        settings=settings,
        code={"model": model, **preparation},
        packages=("torch", "transformers", "tokenizers", "sentence-transformers", "pillow"),
        late_interaction=late,
        advice="Check that model.encode(items) runs for a list of them",
    )
