"""An object in memory as a model: told by what it is, checked once on a few images and texts, and identified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from compute import versions
from compute.models.adapter import Comparer, Encoder, Hardware, Judge
from compute.models.own import probing
from compute.models.own.identity import digesting
from compute.models.own.objects import (
    distance,
    judge,
    methods,
    mteb_encoder,
    open_clip_model,
    sentence_transformer,
    torch_module,
    transformers_body,
    two_towers,
)
from compute.models.own.objects.held import Arguments, Held
from compute.models.own.objects.placement import modules_of
from compute.models.own.own_model import ADAPTER, OwnModel, key_of
from compute.types import BadInput, Model, shortened

if TYPE_CHECKING:
    import torch

VERSION = 1  # part of every identity: raise it when an object's numbers would be other ones
# Every kind of object, the more special before the more general.
KINDS: tuple[ModuleType, ...] = (
    sentence_transformer,
    mteb_encoder,
    open_clip_model,
    two_towers,
    transformers_body,
    methods,
    torch_module,
    judge,
)
TAKEN = (
    "an open_clip model, a transformers model, a sentence_transformers.SentenceTransformer, an encoder of mteb's "
    "protocol, an object with encode_image or encode_text, a torch.nn.Module with preprocess=, a function "
    "distance(a, b) with higher_is_better=, or a judge ask(messages) -> text"
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

    `name`: what its key is made of, by default its class or function. `version`: for an object whose content cannot be
    identified by itself, such as a function that asks a service; it then decides with the object's code whose results
    these are. `preprocess`: from an RGB PIL image to a tensor, called in several threads. `tokenizer`: from texts to
    tokens. `processor`: that of a transformers model. `higher_is_better`: of a function `distance(a, b)`. `hardware`:
    as `placement.hardware_of` gives it; nothing is moved. `batch_size`: the most items that the model is given at once.

    Raises BadInput with the remedy: for an object of no known kind, for arguments that it needs or does not take, and
    for one that fails its check.
    """
    of = _named(model)
    arguments = Arguments(
        model=model,
        of=of,
        preprocess=preprocess,
        tokenizer=tokenizer,
        processor=processor,
        higher_is_better=higher_is_better,
        hardware=hardware,
        batch_size=batch_size,
    )
    # A metric of torch is a module too: only its argument tells that it compares two images.
    kind = distance if higher_is_better is not None else next((kind for kind in KINDS if kind.matches(model)), None)
    if kind is None:
        raise BadInput(f"{of} is no model that can be evaluated. There are: {TAKEN}")
    held = kind.held(arguments)
    # Before the model is run: some modules change an attribute as they run.
    identity = _identity(held, of=of, version=version)
    modules = modules_of(model)
    row = Model(
        key=key_of(name or of),
        title=name or of,
        kind=_kind(held),
        adapter=ADAPTER,
        abilities=held.abilities,
        modalities=held.modalities,
        parameters_m=_millions(modules),
    )
    checked = probing.check(held, row=row, digest=identity["digest"], of=of, modules=modules, batch_size=batch_size)
    if checked.modalities != held.modalities:
        row = replace(
            row,
            modalities=checked.modalities,
            abilities=tuple(f"embed_{modality}" for modality in checked.modalities),
        )
    # What has no parameters may run anywhere: neither device nor precision is known, nor decides anything.
    where = (
        {"device": hardware.device.split(":")[0], "dtype": hardware.dtype} if modules else {"device": "", "dtype": ""}
    )
    loaded = _Loaded(held=held, identity={**identity, **where})
    return replace(loaded.as_own_model(replace(row, embed_dim=checked.length)), remark=checked.remark)


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """The functions of an OwnModel around an object that is in memory already."""

    held: Held
    identity: Mapping[str, Any]

    def as_own_model(self, row: Model) -> OwnModel:
        return OwnModel(row=row, load=self._load, identity=self._identify)

    def _load(self, row: Model, *, hardware: Hardware) -> Encoder | Comparer | Judge:
        return self.held.make(row, self.identity["digest"])

    def _identify(self, row: Model, *, hardware: Hardware) -> dict[str, Any]:
        return dict(self.identity)


def _identity(held: Held, *, of: str, version: str) -> dict[str, Any]:
    """What decides the numbers, wherever the object runs. Raises BadInput for what nothing identifies."""
    digester = digesting.Digester(of=of, version=version)
    digests = {role: digester.of(value, role=role) for role, value in held.code.items() if value is not None}
    settings = digester.of(dict(held.settings), role="settings")
    packages = tuple(dict.fromkeys((*held.packages, *digester.packages)))
    return {
        "adapter": ADAPTER,
        "version": [VERSION, digesting.VERSION],
        "object": held.kind,
        "digest": digester.of([digests, settings, version], role="the model"),
        "digests": digests,
        "named_version": version,
        "packages": versions.minor(
            {name: found for name, found in versions.installed(packages).items() if found != versions.MISSING}
        ),
    }


def _kind(held: Held) -> str:
    return "metric" if "compare" in held.abilities else "mllm" if "choose" in held.abilities else "encoder"


def _millions(modules: Sequence[torch.nn.Module]) -> float | None:
    """Millions of parameters; None for an object without any."""
    count = sum(weight.numel() for module in modules for weight in module.parameters())
    return round(count / 1e6, 6) if count else None


def _named(model: Any) -> str:
    """How messages name the object: its function's or class's name."""
    name = getattr(model, "__name__", "") or type(model).__name__
    return shortened(str(name))
