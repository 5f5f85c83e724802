"""Models of one's own, recorded as `models/<name>.json`: what a page has to know of one that no catalogue lists.

The record lies in the results folder, where anyone may have put or changed it: it is read with limits, and a build
leaves out what cannot be. Its title always says that the model is an own one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compute import drafts, records
from compute.catalog.catalog import Catalog
from compute.catalog.own import suite_records
from compute.models.files.weights import with_folders
from compute.models.own.model_card import MAX_DATASETS
from compute.models.own.own_model import (
    ADAPTER,
    ARGUMENTS,
    CODE,
    FROM_FILE,
    FROM_SESSION,
    NOTE,
    PREFIX,
    SOURCES,
    ModelSource,
)
from compute.models.registry import ADAPTERS
from compute.types import ABILITIES, BadInput, Model

VERSION, FOLDER = 1, "models"
KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,95}(/[a-z0-9][a-z0-9._-]{0,95})?")
DIGEST = re.compile(r"[0-9a-zA-Z:._-]{8,200}")
MARK = re.compile(r" \(own(?:, [0-9a-f]{8})?\)$")
MAX_MODELS, MAX_NAME, MAX_TEXT, MAX_OPTIONS = 500, 200, 2000, 4000  # the last three in characters
KINDS = ("encoder", "metric", "mllm")  # what judges likeness; own generators come with their suites
MODALITIES = ("image", "text")
# What a record holds of a model; the rest follows or is not known.
TEXTS = ("title", "organisation", "kind", "family", "adapter", "weights", "revision", "license")
COUNTS = ("embed_dim", "image_size")
OF_MODEL = (*TEXTS, *COUNTS, "parameters_m", "abilities", "modalities", "open_weights", "trained_on", "options")
LATER = {"trained_on": []}  # fields that older records lack, and their defaults


def of_session(name: str, *, arguments: Sequence[str] = ()) -> ModelSource:
    """The source of an object of a Python session: its class or function, and the ARGUMENTS that it came with."""
    return ModelSource(kind=FROM_SESSION, name=name, arguments=tuple(arguments))


def source_of(row: Model) -> ModelSource | None:
    """What a recorded model came from; None for a model of the catalogue."""
    note = row.options.get(NOTE)
    return (
        None
        if note is None
        else ModelSource(kind=note["source"], name=note["name"], arguments=tuple(note.get("arguments", ())))
    )


def folders(row: Model) -> list[str]:
    """The folders that a recorded model's weights are read from; none of a model of the catalogue."""
    named: list[str] = []

    def noted(folder: str) -> str:
        named.append(folder)
        return folder

    if source_of(row) is not None:
        with_folders(row, noted)
    return list(dict.fromkeys(named))


def record(row: Model, *, digest: str, results: Path, source: ModelSource) -> Model:
    """Writes the model's record, over one of the same digest; the row as it is recorded, under its settled key.

    `row.weights` is an absolute path, a hub id or empty. Raises BadInput for a row that could not be read back, and
    CannotWrite.
    """
    named = settled(row, digest=digest, results=results, source=source)
    path = results / FOLDER / f"{_stem(named.key)}.json"
    plain = replace(
        named,
        title=MARK.sub("", row.title),
        options={name: value for name, value in row.options.items() if name != NOTE},
    )
    plain = with_folders(plain, lambda folder: f"./{os.path.relpath(folder, path.parent)}")
    of_model = {name: getattr(plain, name) for name in OF_MODEL}
    content = {
        "version": VERSION,
        "key": named.key,
        "digest": digest,
        "source": {"kind": source.kind, "name": source.name, **_with_arguments(source)},
        "model": of_model,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    try:
        as_read = _parse(records.parse(text, name=path.name), folder=path.parent)
    except ValueError as error:
        raise BadInput(f"{named.key} cannot be recorded: {error}") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    drafts.write_text(path, text)
    return as_read


def settled(row: Model, *, digest: str, results: Path, source: ModelSource) -> Model:
    """The row as `record` names it: a key that another digest or a catalogue has gets the beginning of the digest."""
    from compute.catalog import shipped

    generators = {model.key for suite in suite_records.recorded(results)[0] for model in suite.models}
    taken = {model.key for model in shipped().models} | generators
    key = row.key
    if key in taken or _recorded_digest(key, results=results) not in ("", digest):
        key = f"{key[:80]}-{_short(digest)}"
    return _marked(replace(row, key=key, title=MARK.sub("", row.title)), digest=digest, source=source)


def files(results: Path) -> list[Path]:
    """Every record in a results folder."""
    return sorted(path for path in (results / FOLDER).glob("*.json") if not path.name.startswith("."))


def recorded(results: Path) -> tuple[list[Model], list[str]]:
    """The recorded models, those of folders with the folder's path as their weights; and why others are left out."""
    models: list[Model] = []
    problems: list[str] = []
    for path in files(results):
        try:
            if len(models) >= MAX_MODELS:
                raise ValueError(f"there are more than {MAX_MODELS} models")
            models.append(_read(path, root=results))
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            problems.append(f"The own model {path.name} is left out ({reason}): remove it, and run the model again")
    return models, problems


def extended(catalog: Catalog, models: Sequence[Model]) -> tuple[Catalog, list[str]]:
    """The catalogue with these models, and why others are left out: a catalogue's model has their key.

    Data sets that they were trained on and that the catalogue does not know are left out too.
    """
    taken = {row.key for row in catalog.models}
    problems = [
        f"The own model {row.key} is left out: a model of the catalogue has its key. Run it again, and it gets another"
        for row in models
        if row.key in taken
    ]
    added = tuple(
        replace(row, trained_on=catalog.dataset_keys(row.trained_on)) for row in models if row.key not in taken
    )
    return (replace(catalog, models=(*catalog.models, *added)) if added else catalog), problems


def _short(digest: str) -> str:
    """The first 8 hexadecimal digits of a digest, which may stand behind a word and a dash."""
    return re.sub(r"[^0-9a-f]", "", digest.lower().rpartition("-")[2].rpartition(":")[2])[:8]


def _stem(key: str) -> str:
    return key.removeprefix(PREFIX).replace("/", "__")


def _marked(row: Model, *, digest: str, source: ModelSource) -> Model:
    """The row with its mark in the title, and the note that pages read."""
    short = _short(digest)
    mark = f"(own, {short})" if row.key.endswith(f"-{short}") else "(own)"
    note = {"source": source.kind, "name": source.name, "digest": digest, **_with_arguments(source)}
    return replace(row, title=f"{row.title} {mark}", options={**row.options, NOTE: note})


def _with_arguments(source: ModelSource) -> dict[str, list[str]]:
    return {"arguments": list(source.arguments)} if source.arguments else {}


def _recorded_digest(key: str, *, results: Path) -> str:
    """The digest of the model that is recorded under a key; empty for none, ? where its record cannot be read."""
    path = results / FOLDER / f"{_stem(key)}.json"
    try:
        row = _read(path, root=results)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return "?"
    return row.options[NOTE]["digest"]


def _read(path: Path, *, root: Path) -> Model:
    """A record. Raises OSError, and ValueError with what is wrong with it."""
    row = _parse(records.read(path, root=root), folder=path.parent)
    if path.stem != _stem(row.key):
        raise ValueError(f"its name is not that of its model, {row.key}")
    return row


def _parse(content: dict[str, Any], *, folder: Path) -> Model:
    if content.get("version") != VERSION:
        raise ValueError(f"it is of version {records.short(content.get('version'))}; this program reads {VERSION}")
    key, digest, source, model = (content.get(name) for name in ("key", "digest", "source", "model"))
    if not isinstance(key, str) or not KEY.fullmatch(key) or "/" not in key:
        raise ValueError(f"the key {records.short(key)} is no name behind {PREFIX} and no hub id in lower case")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or len(_short(digest)) < 8:
        raise ValueError(f"its digest is {records.short(digest)}")
    if not isinstance(source, dict) or set(source) - {"arguments"} != {"kind", "name"} or source["kind"] not in SOURCES:
        raise ValueError(f"it has no source of the kinds {', '.join(SOURCES)}")
    _line(source["name"], name="its source's name")
    arguments = source.get("arguments", [])
    if not isinstance(arguments, list) or [name for name in ARGUMENTS if name in arguments] != arguments:
        raise ValueError(f"its source's arguments are no list of {', '.join(ARGUMENTS)}, in this order")
    if not isinstance(model, dict) or {*LATER, *model} != set(OF_MODEL):
        raise ValueError(f"its model has not the fields {', '.join(OF_MODEL)}")
    model = {**LATER, **model}
    row = Model(key=key, **_fields(model))
    if (source["kind"] in (FROM_FILE, FROM_SESSION)) != (row.adapter == ADAPTER):
        raise ValueError(f"a model from a {source['kind']} has not the adapter {records.short(row.adapter)}")
    if row.adapter == ADAPTER and row.weights:
        raise ValueError("a model that is no checkpoint names weights")
    row = with_folders(row, lambda way: os.path.normpath(folder.absolute() / way))
    return _marked(row, digest=digest, source=ModelSource(**{**source, "arguments": tuple(arguments)}))


def _fields(model: dict[str, Any]) -> dict[str, Any]:
    """A model's fields, checked. Raises ValueError."""
    for name in TEXTS:
        _line(model[name], name=f"the model's {name}", most=MAX_TEXT if name == "weights" else MAX_NAME)
    for name, known in (("kind", KINDS), ("adapter", (ADAPTER, *ADAPTERS))):
        if model[name] not in known:
            raise ValueError(f"the model's {name} is {records.short(model[name])}; there are: {', '.join(known)}")
    lists = {}
    for name, known in (("abilities", ABILITIES), ("modalities", MODALITIES)):
        values = model[name]
        if not isinstance(values, list) or not all(isinstance(value, str) and value in known for value in values):
            raise ValueError(f"the model's {name} are no list of {', '.join(known)}")
        lists[name] = tuple(dict.fromkeys(values))
    if not isinstance(model["trained_on"], list) or len(model["trained_on"]) > MAX_DATASETS:
        raise ValueError(f"the model's trained_on is no list of at most {MAX_DATASETS} data sets")
    for name in model["trained_on"]:
        _line(name, name="the model's trained_on")
    lists["trained_on"] = tuple(model["trained_on"])
    if "generate" in lists["abilities"]:
        raise ValueError("the model generates: own generators come with their suites")
    for name in COUNTS:
        if model[name] is not None:
            records.integer(model[name], name=f"the model's {name}", least=1)
            if model[name] > 2**31 - 1:
                raise ValueError(f"the model's {name} is {records.short(model[name])}")
    if model["parameters_m"] is not None:
        records.number(model["parameters_m"], name="the model's parameters_m", least=0)
    if model["open_weights"] not in (True, False, None):
        raise ValueError("the model's open_weights is neither true, false nor null")
    return {**model, **lists, "options": _options(model["options"])}


def _options(options: Any) -> dict[str, Any]:
    if not isinstance(options, dict) or len(json.dumps(options)) > MAX_OPTIONS:
        raise ValueError(f"the model's options are no object of at most {MAX_OPTIONS:,} characters")
    if refused := [name for name in (*CODE, NOTE) if name in options]:
        raise ValueError(f"the model's options name {refused[0]}")
    return options


def _line(value: Any, *, name: str, most: int = MAX_NAME) -> None:
    """Raises ValueError unless it is one line of text without control characters, which a terminal would obey."""
    records.check_text(value, name=name, most=most)
    if not value.isprintable():
        raise ValueError(f"{name} has a character that cannot be printed")
