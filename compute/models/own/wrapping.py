"""An object in memory as a model: recognised by its type, checked once on a few images and texts, and identified."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from compute.models.adapter import Hardware
from compute.models.own import probing
from compute.models.own.identity import identity
from compute.models.own.objects import (
    distance,
    judge,
    methods,
    mteb_encoder,
    open_clip_model,
    sentence_transformer,
    torch_module,
    transformers_model,
)
from compute.models.own.objects.placement import modules_of
from compute.models.own.objects.wrapped import Arguments, inputs_of
from compute.models.own.own_model import ADAPTER, OwnModel, key_of
from compute.types import BadInput, Model, shortened

# Every kind of object, the more special before the more general.
KINDS: tuple[ModuleType, ...] = (
    sentence_transformer,
    mteb_encoder,
    open_clip_model,
    transformers_model,
    methods,
    torch_module,
    judge,
)


def wrap(
    model: Any,
    *,
    name: str = "",
    version: str = "",
    preprocess: Any = None,
    tokenizer: Any = None,
    processor: Any = None,
    higher_is_better: bool | None = None,
    hardware: Hardware,
    batch_size: int | None = None,
) -> OwnModel:
    """The object as a model, ready for the engine, after a check on a few images or texts.

    `name`: what its key is made of, by default its class or function. `version`: for an object whose content does not
    identify it, such as a function; it then decides with the weights whose results these are. `preprocess`: from an RGB
    PIL image to a tensor, called in several threads. `tokenizer`: from texts to tokens. `processor`: that of a
    transformers model. `higher_is_better`: of a function `distance(a, b)`. `hardware`: as `placement.hardware_of` gives
    it; nothing is moved. `batch_size`: the most items that the model is given at once.

    Raises BadInput with the remedy: for an object of no known kind, for arguments that it needs or does not take, for
    one that fails its check, and for one that needs a version.
    """
    of = shortened(str(getattr(model, "__name__", "") or type(model).__name__))
    given = {
        "preprocess": preprocess,
        "tokenizer": tokenizer,
        "processor": processor,
        "higher_is_better": higher_is_better,
    }
    # A metric of torch is a module too: only its argument tells that it compares two images.
    kind = distance if higher_is_better is not None else next((kind for kind in KINDS if kind.matches(model)), None)
    if kind is None:
        raise BadInput(
            f"{of} is not a model that can be evaluated. There are: an open_clip model, a transformers model, a "
            "SentenceTransformer, an encoder of mteb's protocol, an object with encode_image or encode_text, a "
            "torch.nn.Module with preprocess=, a function distance(a, b) with higher_is_better=, or a judge "
            "ask(messages) -> text"
        )
    if kind in (torch_module, judge) and inputs_of(getattr(model, "forward", model)) == 2:
        raise BadInput(
            f"{of} takes two inputs, as a metric does: set the direction, higher_is_better=False for a distance, "
            "True for a similarity"
        )
    for argument, value in given.items():
        if value is not None and argument not in kind.TAKES:
            raise BadInput(f"{of} is {kind.KIND}, which takes no {argument}=. Omit it")
    wrapped = kind.wrap(Arguments(model=model, of=of, hardware=hardware, **given))
    # Before the model is run: some modules change an attribute as they run.
    known = identity(wrapped, kind=kind.KIND, of=of, version=version)
    modules = modules_of(model)
    count = sum(weight.numel() for module in modules for weight in module.parameters())
    row = Model(
        key=key_of(name or of),
        title=name or of,
        kind="metric" if "compare" in wrapped.abilities else "mllm" if "choose" in wrapped.abilities else "encoder",
        adapter=ADAPTER,
        abilities=wrapped.abilities,
        modalities=wrapped.modalities,
        late_interaction=wrapped.late_interaction or None,
        parameters_m=round(count / 1e6, 6) if count else None,
    )
    checked = probing.check(wrapped, row=row, digest=known["digest"], of=of, modules=modules, batch_size=batch_size)
    if checked.modalities != wrapped.modalities:
        abilities = tuple(f"embed_{modality}" for modality in checked.modalities)
        row = replace(row, modalities=checked.modalities, abilities=abilities)
    # What has no parameters may run anywhere: neither device nor precision is known, nor decides anything.
    known["device"], known["dtype"] = (hardware.device.split(":")[0], hardware.dtype) if modules else ("", "")
    if hardware.attention:
        known["attn_implementation"] = hardware.attention
    return OwnModel(
        row=replace(row, embed_dim=checked.length),
        load=lambda row, *, hardware: wrapped.make(row, known["digest"]),
        identity=lambda row, *, hardware: dict(known),
        remark=checked.remark,
    )
