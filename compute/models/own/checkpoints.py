"""A checkpoint that no catalogue lists, in a folder or on the hub, as a row: its family and sizes as its files tell.

Nothing is guessed and none of a checkpoint's code is run. Where the files leave the family open, the error names what
was read in which file, and how to say the family.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compute.models.encoders import sentence_transformer
from compute.models.files import hub_files, lora, weights
from compute.models.files.checkpoint import one_line
from compute.models.loading import required_files
from compute.models.own import model_card
from compute.models.own.own_model import CODE, FROM_FOLDER, FROM_HUB, NOTE, WITHOUT_TEXT, ModelSource, key_of
from compute.types import BadInput, CannotDo, Model, NotHere

HUB = "hub:"  # before a hub id, where models are named
REPOSITORY = re.compile(r"[\w][\w.-]*/[\w][\w.-]*")
CONFIGURATIONS = ("modules.json", "open_clip_config.json", "config.json", lora.CONFIG)
MAX_CONFIG, MAX_HEADER = 16 << 20, 100 << 20  # bytes; the latter is safetensors' own bound
IMAGES, TEXTS, BOTH, WORDS = ("embed_image",), ("embed_text",), ("embed_image", "embed_text"), ("choose", "score_pair")
# What the families that a checkpoint can be of do, as `--family` names them.
FAMILIES: dict[str, tuple[str, ...]] = {
    "open_clip": BOTH,
    "clip": BOTH,
    "siglip": BOTH,
    "align": BOTH,
    "blip": BOTH,
    "vision": IMAGES,
    "timm": IMAGES,
    "moco_v3": IMAGES,
    "bert": TEXTS,
    "t5": TEXTS,
    "sentence_transformer": TEXTS,
    "e5_v": BOTH,
    "vlm2vec": BOTH,
    "gme": BOTH,
    "vlm": WORDS,
}
TWO_TOWERS = ("clip", "siglip", "align", "blip")  # a checkpoint without a tokenizer has the image tower alone
LANGUAGE_MODELS = ("vlm", "e5_v", "vlm2vec", "gme")
# The families that read a LoRA by option `lora`, over the base model that it names; others of these by option `base`.
WITH_LORA = ("clip", "siglip", "align", "blip", "vision", "bert", "t5", "sentence_transformer")
BY_BASE = ("e5_v", "vlm2vec", "gme")
# The transformers library's `model_type` whose family leaves no choice open.
MODEL_TYPES = {
    **dict.fromkeys(("clip", "metaclip_2"), "clip"),
    **dict.fromkeys(("siglip", "siglip2"), "siglip"),
    "align": "align",
    "blip": "blip",
    **dict.fromkeys(
        (
            *("convnext", "convnextv2", "deit", "dinov2", "dinov2_with_registers", "dinov3_convnext", "dinov3_vit"),
            *("ijepa", "resnet", "siglip_vision_model", "swin", "swinv2", "vit", "vit_mae", "vit_msn"),
        ),
        "vision",
    ),
    **dict.fromkeys(
        (
            *("albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet", "roberta"),
            *("xlm-roberta",),
        ),
        "bert",
    ),
    "t5": "t5",
}
RESIZING = {"head", "image_size", "pooling", "projection", "architecture", "file"}  # options that change sizes
INTEGERS = ("I8", "U8", "I16", "U16", "I32", "U32")  # of quantised weights; I64 are positions
FEW = 10_000  # elements: fewer integers than these are no weights


class Undetermined(BadInput):
    """The files leave open what `--family` or `--model-option` of a run say."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A row of a checkpoint, ready to be recorded. `read_as` says in words by what its family was told.

    The row's `trained_on` is as the card names data sets, which a catalogue may have under other keys, or not at all.
    """

    row: Model
    digest: str  # of what decides its numbers: family, files, options
    source: ModelSource
    read_as: str


@dataclass(frozen=True, kw_only=True)
class CheckpointFiles:
    """What the small files of a checkpoint say."""

    folder: Path
    name: str  # in messages
    names: tuple[str, ...] = field(repr=False)

    def json(self, name: str) -> dict[str, Any]:
        """A configuration; empty where there is none. Raises BadInput for one that cannot be read."""
        if name not in self.names:
            return {}
        path = self.folder / name
        try:
            if path.stat().st_size > MAX_CONFIG:
                raise ValueError(f"it has more than {MAX_CONFIG >> 20} MB")
            content = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, dict):
                raise ValueError("it holds no object")
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{name} of {self.name} cannot be read: {one_line(error)}") from error
        return content

    def has(self, patterns: Sequence[str]) -> bool:
        """Whether there are weights of these patterns."""
        return not weights.RequiredFiles(weights=tuple(patterns)).missing(self.names)


def from_folder(
    folder: Path, *, name: str = "", family: str = "", options: Mapping[str, Any] | None = None, offline: bool = False
) -> Checkpoint:
    """The checkpoint in a folder. `name` instead of the folder's; `family` instead of what its files tell.

    `offline` matters to a LoRA, whose base model may have to be looked up. Raises NotHere, BadInput, CannotDo.
    """
    path = folder.expanduser().absolute()
    if not path.is_dir():
        raise NotHere(f"There is no folder {folder}")
    own = path.resolve().name if path.name in ("", ".", "..") else path.name
    title = name or own
    start = Model(key=key_of(title), title=title, weights=str(path))
    return _checkpoint(
        start, _listed(path, str(folder)), ModelSource(kind=FROM_FOLDER, name=own), family, options, offline
    )


def from_hub(
    text: str, *, name: str = "", family: str = "", options: Mapping[str, Any] | None = None, offline: bool = False
) -> Checkpoint:
    """The hub's checkpoint `org/name` or `org/name@revision`, its revision resolved to a commit.

    Only configurations are fetched here, weights when the model is loaded. Raises NotHere, BadInput, CannotDo.
    """
    repository, revision = split_id(text)
    title = name or repository
    start = Model(
        key=key_of(name) if name else repository.lower(),
        title=title,
        organisation=repository.partition("/")[0],
        weights=repository,
        revision=revision,
    )
    folder = weights.cached_folder(start)
    if folder is None or not any((folder / file).is_file() for file in CONFIGURATIONS):
        folder = hub_files.fetch_configuration(start, offline=offline)
    elif not offline and _has_images_alone(_listed(folder, repository)):
        # What only loaded images has fetched no tokenizer, which the repository may have.
        with contextlib.suppress(NotHere):
            folder = hub_files.fetch_configuration(replace(start, revision=folder.name))
    start = replace(start, revision=folder.name)
    source = ModelSource(kind=FROM_HUB, name=f"{repository}@{folder.name}")
    return _checkpoint(start, _listed(folder, repository), source, family, options, offline)


def split_id(text: str) -> tuple[str, str]:
    """Repository and revision of `org/name@revision`; the latter empty for the main branch. Raises BadInput."""
    repository, at, revision = text.removeprefix(HUB).partition("@")
    if not REPOSITORY.fullmatch(repository) or ".." in text or (at and not revision) or not text.isprintable():
        raise BadInput(f"{text!r} is no hub id: write {HUB}org/name, or {HUB}org/name@revision")
    return repository, revision


def digest_of(identity: Any) -> str:
    """32 hexadecimal digits over anything that JSON holds."""
    text = json.dumps(identity, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _checkpoint(
    start: Model,
    files: CheckpointFiles,
    source: ModelSource,
    family: str,
    options: Mapping[str, Any] | None,
    offline: bool,
) -> Checkpoint:
    chosen = dict(options or {})
    if refused := next((name for name in (*CODE, NOTE, WITHOUT_TEXT) if name in chosen), None):
        reason = "code of a checkpoint is never run" if refused in CODE else "it is a note that this program makes"
        raise BadInput(f"Option {refused!r} is not taken: {reason}")
    if family and family not in FAMILIES:
        near = difflib.get_close_matches(family, FAMILIES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise BadInput(f"There is no family {family!r}.{hint} There are: {', '.join(FAMILIES)}")
    if lora.CONFIG in files.names and not files.has(weights.WEIGHTS):
        row, read_as = _over_base(start, files, family, chosen, offline)
    else:
        told, read_as = (family, f"family {family}, as named") if family else _family(files)
        row = _row(start, files, told, chosen, offline)
        if told in TWO_TOWERS and row.abilities == IMAGES:
            read_as += f"; {row.options.get(WITHOUT_TEXT, 'without a tokenizer')}: images alone"
    required = required_files(row)
    revision = weights.revision(row, required=required) if required else row.revision
    row = replace(
        row, revision=revision, trained_on=tuple(dict.fromkeys((*row.trained_on, *model_card.datasets(files.folder))))
    )
    shown = weights.by_name(row)
    deciding = {name: value for name, value in shown.options.items() if name != WITHOUT_TEXT}
    identity = [row.adapter, row.revision, deciding, [] if source.kind == FROM_HUB else shown.weights]
    return Checkpoint(row=row, digest=digest_of(identity), source=source, read_as=read_as)


def _row(start: Model, files: CheckpointFiles, family: str, options: Mapping[str, Any], offline: bool) -> Model:
    """The row of a family, with what the configuration tells of its sizes."""
    abilities = FAMILIES[family]
    modalities = tuple(kind for kind in ("image", "text") if f"embed_{kind}" in abilities) or ("image", "text")
    row = replace(
        start,
        kind="mllm" if family in LANGUAGE_MODELS else "encoder",
        family=_text(files.json("config.json").get("model_type")),
        adapter=family,
        abilities=abilities,
        modalities=modalities,
        options=dict(options),
    )
    if family in TWO_TOWERS and _has_images_alone(files):
        row = replace(row, abilities=IMAGES, modalities=("image",))
        if weights.own_folder(row) is None and not hub_files.has_none(row, weights.TOKENIZER, offline=offline):
            row = replace(row, options={**row.options, WITHOUT_TEXT: _without_tokenizer(row)})
    required = required_files(row)
    if weights.own_folder(row) is not None and required and (missing := required.missing(files.names)):
        remedy = _how_to_save(files) if not required.weights or files.has(required.weights) else ""
        raise NotHere(f"{files.name} has no {', no '.join(missing)}, which the family {family} reads{remedy}")
    dimensions, side = _sizes(family, files) if not set(options) & RESIZING else (None, None)
    names = required.names(files.names) if required else ()
    return replace(row, embed_dim=dimensions, image_size=side, parameters_m=_parameters_m(files, names))


def _has_images_alone(files: CheckpointFiles) -> bool:
    """Whether there is preprocessing of images and no tokenizer."""
    return files.has(weights.PROCESSOR) and not files.has(weights.TOKENIZER)


def _without_tokenizer(row: Model) -> str:
    """Why a model of the hub reads no texts here, though its repository may hold what that takes."""
    return (
        f"the hub's cache on this machine has no tokenizer of {row.weights}, and the hub was not asked whether there "
        f"is one. Fetch it: hf download {row.weights} --revision {row.revision}"
    )


def _how_to_save(files: CheckpointFiles) -> str:
    """What to do about a model that was saved without its preprocessing, as the end of an error."""
    return (
        ". model.save_pretrained writes no preprocessing: save that of the checkpoint the model came from beside it, "
        f"transformers.AutoProcessor.from_pretrained(checkpoint).save_pretrained({files.name!r})"
    )


def _over_base(
    start: Model, files: CheckpointFiles, family: str, options: dict[str, Any], offline: bool
) -> tuple[Model, str]:
    """The row of a LoRA: the base model that it names, changed by it."""
    if "modules.json" in files.names:
        raise CannotDo(
            f"{files.name} has modules.json and {lora.CONFIG}: a LoRA within a SentenceTransformer. Merge it first, or "
            f"load it and hand it over in Python: compute.evaluate(model, ...)"
        )
    named = lora.config(files.folder).get("base_model_name_or_path")
    own = {"weights": start.weights, "revision": start.revision}
    base = next((options.pop(name) for name in ("base",) if name in options), None)
    if base is None:
        base = {"weights": _text(named), "revision": _text(lora.config(files.folder).get("revision"))}
    if not isinstance(base, Mapping) or not base.get("weights"):
        raise Undetermined(f"{lora.CONFIG} of {files.name} names no base model: --model-option base=org/name@revision")
    try:
        under = _base(base, offline=offline, family=family)
    except (NotHere, BadInput, CannotDo) as error:
        raise type(error)(f"The base model of {files.name}, {base['weights']!r}: {error}") from error
    told = family or under.row.adapter
    if told in BY_BASE:
        of_base = {"weights": under.row.weights, "revision": under.row.revision}
        row = _row(start, files, told, {**options, "base": of_base}, offline)
    elif told in WITH_LORA:
        required = lora.REQUIRED
        if not own["revision"]:
            own["revision"] = weights.revision(replace(start, options={}), required=required)
        row = replace(
            _row(under.row, _listed(Path(under.folder), under.row.weights), told, {**options, "lora": own}, offline),
            key=start.key,
            title=start.title,
            organisation=start.organisation,
        )
    else:
        raise CannotDo(
            f"{files.name} is a LoRA over a model of family {told}, which reads none: merge it into its base model. "
            f"Those that do: {', '.join((*WITH_LORA, *BY_BASE))}"
        )
    return row, f"{lora.CONFIG}: LORA over {weights.by_name(under.row).weights}, family {told}"


@dataclass(frozen=True, kw_only=True)
class _BaseModel:
    row: Model
    folder: str


def _base(named: Mapping[str, Any], *, offline: bool, family: str) -> _BaseModel:
    """The base model of a LoRA: a folder, or a model of the hub."""
    text, revision = named["weights"], named.get("revision") or ""
    path = Path(text).expanduser()
    if path.is_dir():
        made = from_folder(path, family=family, offline=offline)
        return _BaseModel(row=made.row, folder=made.row.weights)
    made = from_hub(f"{text}@{revision}" if revision else text, family=family, offline=offline)
    folder = weights.cached_folder(made.row)
    return _BaseModel(row=made.row, folder=str(folder))


def _listed(folder: Path, name: str) -> CheckpointFiles:
    return CheckpointFiles(folder=folder, name=name, names=tuple(weights.listing(folder)))


def _family(files: CheckpointFiles) -> tuple[str, str]:
    """The family that the files tell, and what told it. Raises BadInput, CannotDo where they leave it open."""
    if "modules.json" in files.names:
        _check_modules(files)
        return "sentence_transformer", "modules.json: a Transformer and its Pooling"
    config = files.json("config.json")
    if "open_clip_config.json" in files.names and (files.has(weights.OPEN_CLIP) or not config):
        return "open_clip", "open_clip_config.json"
    kind, architecture = _text(config.get("model_type")), _text(config.get("architecture"))
    if architecture and not kind:
        return "timm", f"config.json: architecture {architecture!r} of timm"
    if kind in MODEL_TYPES:
        return MODEL_TYPES[kind], f"config.json: model_type {kind!r}"
    raise _unclear(files, config)


def _check_modules(files: CheckpointFiles) -> None:
    clip = [name.rpartition("/")[0] for name in files.names if "CLIPModel/" in name and name.endswith("/config.json")]
    try:
        sentence_transformer.modules(files.folder)
    except CannotDo as error:
        hint = f" Or name the CLIP in it: {files.name}/{clip[0]}" if clip else ""
        raise CannotDo(f"{files.name}: {error}{hint}") from error


def _unclear(files: CheckpointFiles, config: Mapping[str, Any]) -> BadInput:
    """What was read, the nearest families, and how to say which."""
    say = "say it: --family FAMILY"
    if not config:
        held = ", ".join(name for name in files.names if "/" not in name)[:200] or "nothing"
        missing = f"{files.name} has none of {', '.join(CONFIGURATIONS)}; it holds {held}"
        if files.has(weights.OPEN_CLIP):
            example = "--family open_clip --model-option architecture=ViT-B-32"
            return Undetermined(f"{missing}. For weights of an architecture that OpenCLIP knows: {example}")
        return BadInput(f"{missing}. Name the folder that the model was saved to")
    kind, classes = _text(config.get("model_type")), config.get("architectures")
    named = ", ".join(str(each)[:80] for each in classes) if isinstance(classes, list) else ""
    seen = f"config.json of {files.name} says model_type {kind!r}" + (f" and architectures {named}" if named else "")
    if "vision_config" in config and re.search(r"ForConditionalGeneration|ForCausalLM|ForVision", named):
        return Undetermined(
            f"{seen}: a language model that sees images. If it is to answer in words, --family vlm; if the state of "
            "its last token is the vector, --family e5_v, vlm2vec or gme, with prompts by --model-option"
        )
    near = difflib.get_close_matches(kind, MODEL_TYPES, n=3, cutoff=0.4)
    families = list(dict.fromkeys(MODEL_TYPES[each] for each in near))
    hint = f"nearest: {', '.join(families)}" if families else f"there are: {', '.join(FAMILIES)}"
    code = ", with code of its own, which is never run" if config.get("auto_map") else ""
    return Undetermined(f"{seen}{code}. Which family loads it is not told; {say} ({hint})")


def _sizes(family: str, files: CheckpointFiles) -> tuple[int | None, int | None]:
    """Dimensions of the vectors and pixels of an image's shorter side, where the configuration states them."""
    if family == "open_clip":
        inner = _part(files.json("open_clip_config.json"), "model_cfg")
        return _count(inner.get("embed_dim")), _side(_part(inner, "vision_cfg").get("image_size"))
    config, shown = files.json("config.json"), files.json("preprocessor_config.json")
    if family == "timm":
        pretrained = _part(config, "pretrained_cfg") or config
        side = pretrained.get("input_size")
        return _count(config.get("num_features")), _side(side[1:] if isinstance(side, list) else None)
    if family == "sentence_transformer":
        inner = _completed(sentence_transformer.modules(files.folder)[0].folder)
        hidden = _count(inner.get("hidden_size") or inner.get("d_model"))
        return sentence_transformer.width(files.folder, hidden_size=hidden), None
    config = {**_completed(files.folder)}
    vision, text = _part(config, "vision_config"), _part(config, "text_config")
    side = _side(shown.get("crop_size") if shown.get("do_center_crop") else shown.get("size"))
    side = side or _side(vision.get("image_size") or config.get("image_size"))
    match family:
        case "clip" | "align":
            return _count(config.get("projection_dim")), side
        case "siglip":
            return _count(vision.get("hidden_size")), side
        case "blip":
            return _count(config.get("image_text_hidden_size")), side
        case "vision":
            stages = config.get("hidden_sizes")
            last = stages[-1] if isinstance(stages, list) and stages else config.get("hidden_size")
            return _count(last), side
        case "bert":
            return _count(config.get("hidden_size") or config.get("dim")), None
        case "t5":
            return _count(config.get("d_model")), None
        case "e5_v" | "vlm2vec" | "gme":
            return _count(text.get("hidden_size") or config.get("hidden_size")), None
    return None, None


def _completed(folder: Path) -> Mapping[str, Any]:
    """The folder's config.json with the library's defaults for what it leaves out; empty where it cannot be read."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False).to_dict()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _parameters_m(files: CheckpointFiles, names: Sequence[str]) -> float | None:
    """Millions of parameters by the headers of safetensors files; None without these, or where they are quantised."""
    stored = [name for name in names if name.endswith((".safetensors", ".bin", ".pt"))]
    if not stored or not all(name.endswith(".safetensors") for name in stored):
        return None
    total = integers = 0
    for name in stored:
        for tensor in _header(files.folder / name).values():
            kind, shape = tensor.get("dtype"), tensor.get("shape", [])
            count = math.prod(shape)
            integers += count if kind in INTEGERS else 0
            total += count if isinstance(kind, str) and kind.startswith(("F", "BF")) else 0
    return round(total / 1e6, 6) if total and integers < FEW else None


def _header(path: Path) -> dict[str, dict[str, Any]]:
    """The tensors that a safetensors file lists, by name. Raises BadInput for a damaged one."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MAX_HEADER:
                raise ValueError(f"its header has {length:,} bytes")
            listed = json.loads(file.read(length))
        return {name: tensor for name, tensor in listed.items() if name != "__metadata__"}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise BadInput(f"{path.name} is not whole, or no safetensors file: {one_line(error)}") from error


def _part(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = config.get(name)
    return part if isinstance(part, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value.isprintable() and len(value) <= 200 else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def _side(value: Any) -> int | None:
    """Pixels of the shorter side, of a number, (height, width), or a processor's size."""
    if isinstance(value, dict):
        value = [value[name] for name in ("shortest_edge", "height", "width") if _count(value.get(name))]
    if isinstance(value, list):
        return min((side for side in map(_count, value) if side), default=None)
    return _count(value)
