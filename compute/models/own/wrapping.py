"""An object in memory as a model: recognised by its type, identified, and checked once with a few images and texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compute.models import model_rows
from compute.models.adapter import Hardware
from compute.models.judges.answer_log import AnswerLog
from compute.models.own import probing
from compute.models.own.identity import identity
from compute.models.own.kinds import COMPARER, KINDS
from compute.models.own.objects import Given, OwnComparer, OwnEncoder, OwnJudge, modules_of, weight_of
from compute.models.own.own_model import ADAPTER, OwnModel, key_of
from compute.types import BadInput, Model, shortened


def hardware_of(model: Any, *, device: str = "", dtype: str = "") -> Hardware:
    """Returns the device and precision of an object's parameters; those of `compute.models.hardware` if it has none.

    Raises BadInput if `device` or `dtype` differs from the object's: nothing is moved, and changing it is up to the
    caller.
    """
    dtype, of = model_rows.DTYPES.get(dtype, dtype), type(model).__name__
    weight = weight_of(model)
    if weight is None:
        return replace(model_rows.hardware(device, dtype), dtype=dtype or "float32", chosen=True)
    own = Hardware(device=str(weight.device).removesuffix(":0"), dtype=str(weight.dtype).removeprefix("torch."))
    if device and device.removesuffix(":0") != own.device:
        raise BadInput(f"{of} is on {own.device}, not on {device}: model.to({device!r}), or omit device")
    if dtype and dtype != own.dtype:
        raise BadInput(f"{of} is in {own.dtype}, not in {dtype}: model.to(torch.{dtype}), or omit dtype")
    return own


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
    """Returns the object as a model, ready for the engine, after a check on a few images or texts.

    `name`: the basis of its key, by default the name of its class or function. `version`: for an object whose content
    does not identify it, such as a function; version and weights then identify its results. `preprocess`: maps an RGB
    PIL image to a tensor, called in several threads. `tokenizer`: maps texts to tokens. `processor`: that of a
    transformers model. `higher_is_better`: for a function `distance(a, b)`. `hardware`: as returned by `hardware_of`.
    `batch_size`: the maximum number of items per call of the model.

    Raises BadInput with the remedy for an object of unknown kind, for arguments that it needs or does not take, for an
    object that fails its check, and for one that needs a version.
    """
    of = shortened(str(getattr(model, "__name__", "") or type(model).__name__))
    given = Given(model, of, hardware, preprocess, tokenizer, processor, higher_is_better)
    kind = COMPARER if higher_is_better is not None else next((kind for kind in KINDS if kind.matches(model)), None)
    if kind is None:
        raise BadInput(
            f"{of} is not a model that can be evaluated. There are: an open_clip model, a transformers model, a "
            "SentenceTransformer, an encoder of mteb's protocol, an object with encode_image or encode_text, a "
            "torch.nn.Module with preprocess=, a function distance(a, b) with higher_is_better=, or a judge "
            "ask(messages) -> text"
        )
    for argument in ("preprocess", "tokenizer", "processor"):
        if getattr(given, argument) is not None and argument not in kind.takes:
            raise BadInput(f"{of} is {kind.title}, which takes no {argument}=. Omit it")
    read, modules = kind.read(given), modules_of(model)
    # Identified before the model is run, because some modules change an attribute while running.
    known = identity(
        given,
        parts=getattr(read, "parts", {}),
        settings=read.settings,
        kind=kind.title,
        packages={*kind.packages, *(("torch",) if kind is COMPARER and preprocess is not None else ())},
        version=version,
    )
    row = Model(
        key=key_of(name or of),
        title=name or of,
        adapter=ADAPTER,
        parameters_m=round(sum(weight.numel() for part in modules for weight in part.parameters()) / 1e6, 6) or None,
    )
    if any(part.training and hasattr(part, "running_mean") for module in modules for part in module.modules()):
        raise BadInput(f"{of} would normalise each batch by itself and change as it runs: call .eval() on it first")
    remark = ""
    if isinstance(read, OwnEncoder):
        vectors, remark = probing.vectors(read, advice=kind.advice, hardware=hardware, most=batch_size)
        row = replace(
            row,
            kind="encoder",
            abilities=tuple(f"embed_{modality}" for modality in vectors),
            modalities=tuple(vectors),
            late_interaction=read.late_interaction or None,
            embed_dim=next(iter(vectors.values())).shape[1],
        )
    elif isinstance(read, OwnComparer):
        probing.values(read, advice=kind.advice)
        row = replace(row, kind="metric", abilities=("compare",), modalities=("image",))
    else:
        row = replace(row, kind="mllm", abilities=("choose",), modalities=("image", "text"))

    def load(row: Model, *, hardware: Hardware) -> OwnEncoder | OwnComparer | OwnJudge:
        if isinstance(read, OwnJudge):
            return replace(read, answers=AnswerLog(row, settings={"digest": known["digest"], **read.settings}))
        return read

    if isinstance(read, OwnJudge):
        probing.ask(load(row, hardware=hardware), of=of)
    # An object without parameters may run anywhere: device and precision are unknown and have no effect.
    known["device"], known["dtype"] = (hardware.device.split(":")[0], hardware.dtype) if modules else ("", "")
    return OwnModel(row=row, load=load, identity=lambda row, *, hardware: dict(known), remark=remark)
