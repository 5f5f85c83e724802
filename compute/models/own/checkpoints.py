"""A checkpoint that no catalogue lists, in a folder or on the hub, as a row: its files determine its family and sizes.

Nothing is guessed, and a checkpoint's code is never run. If the files do not determine the family, the error says what
was read in which file and how to state the family.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from compute.content.items import content_key
from compute.io.files import words_beside
from compute.models.encoders import mllm_embedding, sentence_transformer
from compute.models.files import lora, weights
from compute.models.files.weights import one_line
from compute.models.model_rows import required_files
from compute.models.own.own_model import CODE, FROM_FOLDER, FROM_HUB, NOTE, ModelSource, key_of
from compute.types import BadInput, CannotDo, Model, NotHere, shortened, unknown

HUB = "hub:"  # prefix of a hub id among the names of models
HUB_ID = re.compile(r"(\w[\w.-]*/\w[\w.-]*)(?:@(\S+))?")
CONFIGURATIONS = ("modules.json", "open_clip_config.json", "config.json", lora.CONFIG)
IMAGES = ("embed_image",)
_FILE = words_beside(__file__)
# Abilities of the families that a checkpoint can have, by the names in `--family`.
FAMILIES: dict[str, tuple[str, ...]] = {family: tuple(abilities) for family, abilities in _FILE["families"].items()}
TWO_TOWERS = ("clip", "siglip", "align", "blip")  # a checkpoint without a tokenizer has only the image tower
# Families that read a LoRA by option `lora` on top of its base model; those of BY_BASE use option `base`.
WITH_LORA = ("clip", "siglip", "align", "blip", "vision", "bert", "t5")
BY_BASE = ("e5_v", "gme")
# Values of the transformers library's `model_type` that determine the family.
MODEL_TYPES = {kind: family for family, kinds in _FILE["model-types"].items() for kind in kinds}
MODEL_TYPES |= dict.fromkeys(mllm_embedding.LATE, "late_interaction")
# Fields of a configuration with the dimension of a vector, if it is not `hidden_size`.
STATED = {
    **dict.fromkeys(("clip", "align"), "projection_dim"),
    **{"blip": "image_text_hidden_size", "late_interaction": "embedding_dim"},
}
CARD = "README.md"
MAX_DATASETS = 100  # in a card
RESIZING = {"pooling", "architecture"}  # options that change the dimension of vectors


class Undetermined(BadInput):
    """The files do not determine what `--family` or `--model-option` would state."""


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A row to run. Without `source` it is in the catalogue or already recorded, so there is nothing to record.

    A checkpoint's `trained_on` has the names of data sets in its card, which the catalogue may list under other keys,
    or not at all.
    """

    row: Model
    digest: str = ""  # of what determines its numbers: family, files, options
    source: ModelSource | None = None
    remark: str = ""  # how the name was resolved, as a sentence; empty for a key


class CheckpointFiles(NamedTuple):
    """The content of a checkpoint's small files."""

    folder: Path
    name: str  # in messages
    names: tuple[str, ...]

    def json(self, name: str) -> dict[str, Any]:
        """Returns a configuration; empty if there is none. Raises BadInput for one that cannot be read."""
        if name not in self.names:
            return {}
        try:
            content = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{name} of {self.name} cannot be read: {one_line(error)}") from error
        if not isinstance(content, dict):
            raise BadInput(f"{name} of {self.name} cannot be read: it holds no object")
        return content

    def has(self, patterns: Sequence[str]) -> bool:
        """Returns whether there are weights of these patterns."""
        return not weights.RequiredFiles(weights=tuple(patterns)).missing(self.names)


def from_folder(
    folder: Path, *, name: str = "", family: str = "", options: Mapping[str, Any] | None = None, offline: bool = False
) -> NamedModel:
    """Returns the checkpoint in a folder. `name` replaces the folder's name; `family` replaces the family determined by
    its files.

    `offline` matters to a LoRA, whose base model may have to be looked up. Raises NotHere, BadInput, CannotDo.
    """
    path = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - without following links
    if not path.is_dir():
        raise NotHere(f"There is no folder {folder}")
    start = Model(key=key_of(name or path.name), title=name or path.name, weights=str(path))
    files = _listed(path, str(folder))
    return _checkpoint(start, files, ModelSource(kind=FROM_FOLDER, name=path.name), family, options, offline)


def from_hub(
    text: str, *, name: str = "", family: str = "", options: Mapping[str, Any] | None = None, offline: bool = False
) -> NamedModel:
    """Returns the hub's checkpoint `org/name` or `org/name@revision`, its revision resolved to a commit.

    Only configurations are fetched here, weights when the model is loaded. Raises NotHere, BadInput, CannotDo.
    """
    repository, revision = split_id(text)
    start = Model(
        key=key_of(name) if name else repository.lower(),
        title=name or repository,
        organisation=repository.partition("/")[0],
        weights=repository,
        revision=revision,
    )
    folder = weights.cached_folder(start)
    if folder is None or not any((folder / file).is_file() for file in CONFIGURATIONS):
        folder = weights.fetch_configuration(start, offline=offline)
    start = replace(start, revision=folder.name)
    source = ModelSource(kind=FROM_HUB, name=f"{repository}@{folder.name}")
    return _checkpoint(start, _listed(folder, repository), source, family, options, offline)


def split_id(text: str) -> tuple[str, str]:
    """Splits `org/name@revision` into repository and revision, which is empty for the main branch. Raises BadInput."""
    match = HUB_ID.fullmatch(text.removeprefix(HUB))
    if match is None:
        raise BadInput(f"{text!r} is not a hub id: write {HUB}org/name, or {HUB}org/name@revision")
    return match[1], match[2] or ""


def _checkpoint(
    start: Model,
    files: CheckpointFiles,
    source: ModelSource,
    family: str,
    options: Mapping[str, Any] | None,
    offline: bool,
) -> NamedModel:
    chosen = dict(options or {})
    if refused := next((name for name in (*CODE, NOTE) if name in chosen), None):
        raise BadInput(f"Option {refused!r} is not taken: code of a checkpoint is never run")
    if family and family not in FAMILIES:
        raise BadInput(unknown("family", family, FAMILIES, listed=True))
    if lora.CONFIG in files.names and not files.has(weights.WEIGHTS):
        row, read_as = _over_base(start, files, family, chosen, offline)
    else:
        told, read_as = (family, f"family {family}, as named") if family else _family(files)
        row = _row(start, files, told, chosen)
        if told in TWO_TOWERS and row.abilities == IMAGES:
            read_as += "; without a tokenizer: images alone"
    required = required_files(row)
    row = replace(
        row,
        revision=weights.revision(row, required=required) if required else row.revision,
        trained_on=tuple(dict.fromkeys((*row.trained_on, *card_datasets(files.folder)))),
    )
    shown = weights.by_name(row)
    identity = [row.adapter, row.revision, shown.options, [] if source.kind == FROM_HUB else shown.weights]
    digest = content_key(json.dumps(identity, sort_keys=True, ensure_ascii=False, default=str)).decode()
    remark = f"{source.name} is read as {row.adapter} ({read_as})"
    return NamedModel(row=row, digest=digest, source=source, remark=remark)


def _row(start: Model, files: CheckpointFiles, family: str, options: Mapping[str, Any]) -> Model:
    """Returns the row of a family, with the vector dimension stated in the configuration."""
    abilities = FAMILIES[family]
    if family in TWO_TOWERS and files.has(weights.PROCESSOR) and not files.has(weights.TOKENIZER):
        abilities = IMAGES
    modalities = tuple(kind for kind in ("image", "text") if f"embed_{kind}" in abilities) or ("image", "text")
    row = replace(
        start,
        kind="mllm" if family == "vlm" or family in BY_BASE else "encoder",
        family=str(files.json("config.json").get("model_type") or ""),
        adapter=family,
        abilities=abilities,
        late_interaction=family == "late_interaction" or None,
        modalities=modalities,
        options=dict(options),
    )
    required = required_files(row)
    if weights.own_folder(row) is not None and required and (missing := required.missing(files.names)):
        hint = ""
        if files.has(required.weights):
            hint = (
                ". model.save_pretrained writes no preprocessing: save that of the checkpoint the model came from, "
                f"transformers.AutoProcessor.from_pretrained(checkpoint).save_pretrained({files.name!r})"
            )
        raise NotHere(f"{files.name} has no {', no '.join(missing)}, which the family {family} reads{hint}")
    dimensions = _dimensions(family, files) if not set(options) & RESIZING else None
    names = required.names(files.names) if required else ()
    return replace(row, embed_dim=dimensions, parameters_m=_parameters_m(files, names))


def _over_base(
    start: Model, files: CheckpointFiles, family: str, options: dict[str, Any], offline: bool
) -> tuple[Model, str]:
    """Returns the row of a LoRA: its base model with the LoRA as an option."""
    if "modules.json" in files.names:
        raise CannotDo(
            f"{files.name} has modules.json and {lora.CONFIG}: a LoRA within a SentenceTransformer. Merge it first, or "
            "load it and pass it in Python: compute.evaluate(model, ...)"
        )
    content = lora.config(files.folder)
    base = options.pop("base", None) or {
        "weights": content.get("base_model_name_or_path"),
        "revision": content.get("revision"),
    }
    if not base.get("weights"):
        raise Undetermined(
            f"{lora.CONFIG} of {files.name} does not name the base model: --model-option base=org/name@revision"
        )
    text, revision = base["weights"], base.get("revision") or ""
    try:
        under = (
            from_folder(Path(text), family=family, offline=offline)
            if Path(text).expanduser().is_dir()
            else from_hub(f"{text}@{revision}" if revision else text, family=family, offline=offline)
        ).row
    except (NotHere, BadInput, CannotDo) as error:
        raise type(error)(f"The base model of {files.name}, {text!r}: {error}") from error
    told = family or under.adapter
    read_as = f"{lora.CONFIG}: LORA over {weights.by_name(under).weights}, family {told}"
    if told in BY_BASE:
        named = {"weights": under.weights, "revision": under.revision}
        return _row(start, files, told, {**options, "base": named}), read_as
    if told not in WITH_LORA:
        raise CannotDo(
            f"{files.name} is a LoRA over a model of family {told}, which reads none: merge it into its base model. "
            f"Those that do: {', '.join((*WITH_LORA, *BY_BASE))}"
        )
    revision = start.revision or weights.revision(replace(start, options={}), required=lora.REQUIRED)
    options["lora"] = {"weights": start.weights, "revision": revision}
    folder = weights.own_folder(under) or weights.cached_folder(under)
    row = _row(under, _listed(folder, under.weights), told, options)
    return replace(row, key=start.key, title=start.title, organisation=start.organisation), read_as


def _listed(folder: Path, name: str) -> CheckpointFiles:
    return CheckpointFiles(folder, name, tuple(weights.listing(folder)))


def _family(files: CheckpointFiles) -> tuple[str, str]:
    """Returns the family determined by the files, and the evidence for it. Raises BadInput or CannotDo if they do not
    determine it.
    """
    if "modules.json" in files.names:
        return "sentence_transformer", "modules.json of sentence-transformers"
    config = files.json("config.json")
    if "open_clip_config.json" in files.names and (files.has(weights.OPEN_CLIP) or not config):
        return "open_clip", "open_clip_config.json"
    kind, architecture = str(config.get("model_type") or ""), config.get("architecture")
    if architecture and not kind:
        return "timm", f"config.json: architecture {architecture!r} of timm"
    if kind in MODEL_TYPES:
        return MODEL_TYPES[kind], f"config.json: model_type {kind!r}"
    if not config:
        missing = f"{files.name} has none of {', '.join(CONFIGURATIONS)}"
        if files.has(weights.OPEN_CLIP):
            raise Undetermined(f"{missing}. Name it: --family open_clip --model-option architecture=ViT-B-32")
        raise BadInput(f"{missing}. Name the folder that the model was saved to")
    seen = f"config.json of {files.name} says model_type {kind!r}"
    if "vision_config" in config:
        raise Undetermined(
            f"{seen}: a language model that sees images. If it is to answer in words, --family vlm; if the state of "
            "its last token is the vector, --family e5_v or gme, with prompts by --model-option"
        )
    near = difflib.get_close_matches(kind, MODEL_TYPES, n=3, cutoff=0.4)
    families = list(dict.fromkeys(MODEL_TYPES[each] for each in near))
    hint = f"nearest: {', '.join(families)}" if families else f"there are: {', '.join(FAMILIES)}"
    code = ", with custom code, which is never run" if config.get("auto_map") else ""
    raise Undetermined(f"{seen}{code}. Which family loads it is not told; say it: --family FAMILY ({hint})")


def _dimensions(family: str, files: CheckpointFiles) -> int | None:
    """Returns the dimension of a vector, if the configuration states it."""
    if family == "vlm":
        return None
    if family == "open_clip":
        return files.json("open_clip_config.json").get("model_cfg", {}).get("embed_dim")
    own = files.json("config.json")
    if family == "timm":
        return own.get("num_features")
    from transformers import AutoConfig

    try:  # with the library's defaults for omitted values
        config = AutoConfig.from_pretrained(
            files.folder / ("" if own else weights.OLD_TRANSFORMER), local_files_only=True, trust_remote_code=False
        )
    except Exception:  # the library raises different errors for different wrong values
        return None
    stated = STATED.get(family, "hidden_size")
    if family == "vision":
        return getattr(config, "hidden_sizes", [getattr(config, stated, None)])[-1]
    if family == "siglip":
        of = getattr(config, "vision_config", config)
    else:
        of = config if family in STATED else config.get_text_config()
    size = getattr(of, stated, None)
    if family == "sentence_transformer":
        return sentence_transformer.width(files.folder, files.json, hidden_size=size)
    return size


def _parameters_m(files: CheckpointFiles, names: Sequence[str]) -> float | None:
    """Returns millions of parameters from the headers of safetensors files; None without such files or if they are
    quantised.
    """
    from safetensors import SafetensorError, safe_open

    stored = [name for name in names if name.endswith((".safetensors", ".bin", ".pt"))]
    if not stored or not all(name.endswith(".safetensors") for name in stored):
        return None
    total = 0
    for name in stored:
        try:
            with safe_open(files.folder / name, framework="np") as file:
                for key in file.keys():  # noqa: SIM118
                    tensor = file.get_slice(key)
                    kind = tensor.get_dtype()
                    if kind.startswith(("F", "BF")):
                        total += math.prod(tensor.get_shape())
                    elif kind in ("I8", "U8", "I32"):  # quantised
                        return None
        except (OSError, SafetensorError) as error:
            raise BadInput(f"{name} is not whole, or not a safetensors file: {one_line(error)}") from error
    return round(total / 1e6, 6) or None


def card_datasets(folder: Path) -> tuple[str, ...]:
    """Returns the training data sets in the YAML header of a checkpoint's card, which should be hub ids. Empty if the
    card has nothing readable.
    """
    from huggingface_hub import metadata_load

    try:
        listed = (metadata_load(folder / CARD) or {}).get("datasets")
    except Exception:  # a card is prose: errors in it do not affect the model
        return ()
    names = listed if isinstance(listed, list) else [listed]
    return tuple(name for name in names[:MAX_DATASETS] if isinstance(name, str) and name and name == shortened(name))
