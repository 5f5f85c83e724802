"""Text encoders as the sentence-transformers library stores them: a Transformer, its Pooling, and what follows.

`modules.json` lists the modules, each with its own settings folder. Read here without the library, so that only
what is listed below is ever run; other modules are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.text import text_tower
from compute.models.encoders.towers import Towers
from compute.models.files import pretrained
from compute.models.files.weights import architecture, existing, fill, tensors
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch

MODULES, PROMPTS, TRANSFORMER = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
LIBRARY = "sentence_transformers."  # what a module's type begins with: other types are code of the checkpoint
KINDS = ("Transformer", "Pooling", "Dense", "Normalize", "Dropout")  # the last does nothing outside of training
# The names of Pooling's settings before its `pooling_mode`, in the library's order of several.
MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
ACTIVATIONS = {
    "torch.nn.modules.linear.Identity": "Identity",
    "torch.nn.modules.activation.Tanh": "Tanh",
    "torch.nn.modules.activation.ReLU": "ReLU",
    "torch.nn.modules.activation.GELU": "GELU",
    "torch.nn.modules.activation.Sigmoid": "Sigmoid",
    "torch.nn.modules.activation.SiLU": "SiLU",
}
OPTIONS = {**pretrained.OPTIONS, "max_tokens": None, "text_prefix": None}
PYTHON = "Load it with SentenceTransformer and hand it over in Python: compute.evaluate(model, ...)"


@dataclass(frozen=True, kw_only=True)
class StoredModule:
    """One entry of modules.json: a kind of KINDS, and the folder of its settings."""

    kind: str
    folder: Path

    def settings(self, name: str = "config.json") -> dict[str, Any]:
        """What its file says; empty where it has none."""
        path = self.folder / name
        return _json(path, dict) if path.is_file() else {}


def modules(folder: Path) -> list[StoredModule]:
    """The modules of a checkpoint in their order. Raises NotHere, BadInput, CannotDo for kinds that are not read."""
    listed = []
    for entry in _json(existing(folder / MODULES), list):
        kind, path = (entry.get(name) if isinstance(entry, dict) else None for name in ("type", "path"))
        if not isinstance(kind, str) or not isinstance(path, str):
            raise BadInput(f"{folder / MODULES} has a module without a type or a path")
        if not kind.startswith(LIBRARY) or kind.rpartition(".")[2] not in KINDS:
            raise CannotDo(f"{MODULES} lists {kind!r}; supported are {', '.join(KINDS)}. {PYTHON}")
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise BadInput(f"{folder / MODULES} names a folder outside: {path!r}")
        listed.append(StoredModule(kind=kind.rpartition(".")[2], folder=folder / path))
    kinds = [module.kind for module in listed]
    if kinds[:2] != ["Transformer", "Pooling"] or {"Transformer", "Pooling"} & set(kinds[2:]):
        raise CannotDo(f"{MODULES} lists {', '.join(kinds)}; supported are a Transformer and a Pooling, once. {PYTHON}")
    return listed


def width(folder: Path, *, hidden_size: int | None) -> int | None:
    """How many dimensions the vectors have, as the modules' settings tell; None where they do not."""
    size = hidden_size
    for module in modules(folder)[1:]:
        settings = module.settings()
        if module.kind == "Pooling":
            size = settings.get("embedding_dimension") or settings.get("word_embedding_dimension") or size
            size = size and size * len(_modes(settings))
        elif module.kind == "Dense":
            size = settings.get("out_features")
    return size if isinstance(size, int) else None


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Texts as `SentenceTransformer(folder).encode` has them, with the default prompt where the checkpoint names one.

    Options: `max_tokens`, `text_prefix` instead of the default prompt.
    """
    import torch

    options = chosen(row, OPTIONS)
    transformer, pooling, *rest = modules(folder)
    lower, limit = _read_transformer(transformer)
    modes, prefix = _modes(pooling.settings()), _prefix(folder, options["text_prefix"])
    if prefix and pooling.settings().get("include_prompt") is False:
        raise CannotDo(f"{row.key} excludes its prompt from the pooling, which is not supported here. {PYTHON}")
    model, _ = pretrained.model(
        row,
        "T5EncoderModel" if architecture(transformer.folder) == "t5" else "AutoModel",
        folder=transformer.folder,
        hardware=hardware,
        options=options,
        spare=("pooler.",),
    )
    steps = [_step(module, hardware) for module in rest if module.kind != "Dropout"]

    def run(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        vectors = torch.cat([_pooled(mode, states, mask) for mode in modes], dim=-1)
        for step in steps:
            vectors = step(vectors)
        return vectors

    tower, settings = text_tower(
        row,
        transformer.folder,
        {
            **options,
            "max_tokens": options["max_tokens"] or limit,
            "text_prefix": prefix.lower() if lower else prefix,
        },
        run=run,
        config=model.config,
    )
    if lower:
        read = tower.ready
        tower.ready = lambda text: read(text.lower())
    return Towers(
        name=row.key,
        hardware=hardware,
        text=tower,
        settings={
            "text": {**settings, "lower_case": lower},
            "pooling": list(modes),
            "modules": [module.kind for module in (transformer, pooling, *rest)],
            "normalised": bool(rest) and rest[-1].kind == "Normalize",
        },
    )


def _read_transformer(module: StoredModule) -> tuple[bool, int | None]:
    """Whether texts are put in lower case, and the most tokens of a text; None: the tokenizer's own.

    Raises CannotDo for a Transformer of other inputs or outputs than texts and their tokens' states.
    """
    settings = module.settings(TRANSFORMER)
    unread = {
        "transformer_task": settings.get("transformer_task", "feature-extraction") != "feature-extraction",
        "modality_config": set(settings.get("modality_config") or {"text"}) != {"text"},
        "processing_kwargs": bool(settings.get("processing_kwargs")),
        "query_length": settings.get("query_length") is not None,
    }
    if names := [name for name, differs in unread.items() if differs]:
        raise CannotDo(
            f"{TRANSFORMER} sets {names[0]} to {settings[names[0]]!r}, which is not supported here. {PYTHON}"
        )
    limit = settings.get("max_seq_length")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise BadInput(f"{TRANSFORMER} sets max_seq_length to {limit!r}")
    return settings.get("do_lower_case") is True, limit


def _modes(settings: dict[str, Any]) -> tuple[str, ...]:
    """How tokens are pooled: one mode, or several side by side."""
    named = settings.get("pooling_mode")
    if named is None:
        named = [mode for name, mode in MODES.items() if settings.get(name)] or ["mean"]
    modes = (named,) if isinstance(named, str) else tuple(named)
    if unknown := [mode for mode in modes if mode not in MODES.values()]:
        raise CannotDo(f"The Pooling of {MODULES} is {unknown[0]!r}; there are: {', '.join(MODES.values())}")
    return modes


def _prefix(folder: Path, own: str | None) -> str:
    """What stands before every text: `own`, or else the prompt that the checkpoint takes by default."""
    if own is not None:
        return own
    path = folder / PROMPTS
    settings = _json(path, dict) if path.is_file() else {}
    name = settings.get("default_prompt_name")
    prompt = (settings.get("prompts") or {}).get(name, "") if name else ""
    if not isinstance(prompt, str):
        raise BadInput(f"{path} has a prompt that is not a text: {name!r}")
    return prompt


def _pooled(mode: str, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """(n, d) of states (n, tokens, d) and a mask (n, tokens), which may be padded on either side."""
    import torch

    rows, weight = torch.arange(len(mask), device=mask.device), mask.unsqueeze(-1).float()
    match mode:
        case "cls":
            return states[rows, mask.argmax(dim=1)].float()
        case "lasttoken":
            return states[rows, mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)].float()
        case "max":
            return states.float().masked_fill(weight == 0, float("-inf")).max(dim=1).values
        case "weightedmean":
            weight = weight * mask.cumsum(dim=1).unsqueeze(-1)
    total = weight.sum(dim=1)
    return (states.float() * weight).sum(dim=1) / (total.sqrt() if mode == "mean_sqrt_len_tokens" else total)


def _step(module: StoredModule, hardware: Hardware) -> Callable[[torch.Tensor], torch.Tensor]:
    """A Dense layer, or the scaling to length 1."""
    import torch
    from safetensors.torch import load_file

    settings = module.settings()
    known = ("sentence_embedding", None)
    if settings.get("module_input_name") not in known or settings.get("module_output_name") not in known:
        raise CannotDo(f"{module.folder.name} takes or gives something else than the text's vector. {PYTHON}")
    if module.kind == "Normalize":
        return lambda vectors: torch.nn.functional.normalize(vectors.float(), dim=-1)
    activation = settings.get("activation_function", "torch.nn.modules.activation.Tanh")
    if activation not in ACTIVATIONS or settings.get("use_residual"):
        raise CannotDo(f"{module.folder.name} has a residual or the activation {activation!r}. {PYTHON}")
    layer = torch.nn.Linear(settings["in_features"], settings["out_features"], bias=settings.get("bias", True))
    stored = module.folder / "model.safetensors"
    state = load_file(stored) if stored.is_file() else tensors(module.folder / "pytorch_model.bin")
    fill(layer, {name.removeprefix("linear."): value for name, value in state.items()}, of=f"{module.folder.name}")
    whole = hardware.placed(torch.nn.Sequential(layer, getattr(torch.nn, ACTIVATIONS[activation])()))
    return lambda vectors: whole(vectors.to(hardware.torch_dtype))


def _json(path: Path, kind: type) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON") from error
    if not isinstance(content, kind):
        raise BadInput(f"{path} holds no {'list' if kind is list else 'object'}")
    return content
