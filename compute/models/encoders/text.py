"""Text encoders of the transformers library: the BERT family, and the encoder half of T5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.towers import TextTower, Towers, buckets
from compute.models.files import pretrained
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

POOLINGS = {"mean": "mean of all tokens", "cls": "first token", "pooler": "the model's own"}
# No source says how cFreD pooled texts (Table B.2): the mean, which every one of its families can give.
OPTIONS = {**pretrained.OPTIONS, "pooling": "mean", "text_prefix": ""}


def load(
    row: Model,
    hardware: Hardware,
    folder: Path,
    *,
    kind: str = "AutoModel",
    poolings: Sequence[str] = tuple(POOLINGS),
    max_tokens: int | None = None,
) -> Towers:
    """BERT, RoBERTa, XLM-R, ALBERT, ModernBERT. Options: `pooling`, one of `poolings`; `max_tokens`; `text_prefix`."""
    import torch

    options = chosen(row, {**OPTIONS, "max_tokens": max_tokens})
    pooling = options["pooling"]
    if pooling not in poolings:
        raise BadInput(f"{row.key}: no pooling {pooling!r}. There are: {', '.join(poolings)}")
    model, _ = pretrained.model(
        row, kind, folder=folder, hardware=hardware, options=options, spare=() if pooling == "pooler" else ("pooler.",)
    )

    def run(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        output = model(input_ids=ids, attention_mask=mask)
        if pooling == "pooler":
            return output.pooler_output
        states = output.last_hidden_state
        return states[torch.arange(len(mask)), mask.argmax(dim=1)] if pooling == "cls" else mean_of(states, mask)

    tower, settings = text_tower(row, folder, options, run=run, config=model.config)
    return Towers(
        name=row.key,
        hardware=hardware,
        text=tower,
        settings={"text": settings, "pooling": POOLINGS[pooling], "normalised": False},
    )


def mean_of(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """(n, d) of states (n, length, d): the mean over the tokens that the mask (n, length) has."""
    weight = mask.unsqueeze(-1).float()
    return (states.float() * weight).sum(dim=1) / weight.sum(dim=1)


# T5 v1.1 and FLAN-T5, their encoder alone; texts are cut at 512 tokens, as in training.
load_t5 = partial(load, kind="T5EncoderModel", poolings=("mean",), max_tokens=512)


def text_tower(
    row: Model,
    folder: Path,
    options: Mapping[str, Any],
    *,
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    config: Any,
    full_length: bool = False,
    causal: bool = False,
) -> tuple[TextTower, dict[str, Any]]:
    """The text tower around `run`, with the checkpoint's own tokenizer, and its settings.

    Options: `text_prefix`, and `max_tokens`, at most the positions of the model's `config`. `full_length`: every
    text is padded to the maximum, and the padding is not masked. `causal`: the tower sees nothing after the end token,
    so each text is padded to the next of a few lengths. Raises as `tower_by`.
    """
    limit = min(size for size in (options["max_tokens"], pretrained.positions(config), 10**9) if size)
    return tower_by(
        pretrained.tokenizer(row, folder=folder),
        run=run,
        limit=limit,
        prefix=options["text_prefix"],
        of=row.key,
        remedy="set option max_tokens",
        full_length=full_length,
        causal=causal,
    )


def tower_by(
    tokenizer: Any,
    *,
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    limit: int | None,
    of: str,
    remedy: str,
    prefix: str = "",
    full_length: bool = False,
    causal: bool = False,
) -> tuple[TextTower, dict[str, Any]]:
    """The text tower around `run` with a tokenizer of the library in memory, and its settings.

    A text is cut to the tokenizer's own length where it names one, never more than `limit`. Raises BadInput with the
    remedy where neither says a length.
    """
    longest = min(int(tokenizer.model_max_length), limit or 10**9)
    if longest >= 10**9:
        raise BadInput(f"{of}: neither tokenizer nor model says how long a text may be; {remedy}")

    def ready(text: str) -> list[int]:
        return tokenizer(prefix + text, truncation=True, max_length=longest)["input_ids"]

    ready("")  # settles the tokenizer's truncation, which would not be safe to change among threads
    return tower_of(
        ready,
        run=run,
        tokenizer=type(tokenizer).__name__,
        longest=longest,
        prefix=prefix,
        pad=tokenizer.pad_token_id or 0,
        left=tokenizer.padding_side == "left",
        full_length=full_length,
        causal=causal,
    )


def tower_of(
    ready: Callable[[str], Sequence[int]],
    *,
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    tokenizer: str,
    longest: int,
    prefix: str,
    pad: int = 0,
    left: bool = False,
    full_length: bool = False,
    causal: bool = False,
) -> tuple[TextTower, dict[str, Any]]:
    """The text tower of `ready`, which gives at most `longest` tokens of `prefix` and a text; and its settings."""
    tower = TextTower(
        ready=ready,
        run=run,
        pad=0 if causal else pad,
        length=longest if full_length else None,
        buckets=buckets(longest) if causal else (),
        left=left and not causal,
    )
    padding = "to max_tokens, not masked" if full_length else "to the longest, masked"
    return tower, {
        "tokenizer": tokenizer,
        "max_tokens": longest,
        "longer": "cut",
        "prefix": prefix,
        "padding": f"to the next of {', '.join(map(str, tower.buckets))}" if causal else padding,
    }
