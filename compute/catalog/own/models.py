"""User models, recorded as `models/<name>.json`: what a page needs to know about a model outside the catalogue.

The record is in the results folder, which anyone may have changed: unreadable records are skipped, with the reason. The
title always says that the model is a user's own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, StringConstraints

from compute.catalog.catalog import Catalog
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.catalog.own.suite_records import StrictRecord
from compute.io.files import parse_json, read_record, short, validated, write_text
from compute.io.nouns import strict
from compute.models.files.weights import with_folders
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
KEY = r"[a-z0-9][a-z0-9._-]{0,95}/[a-z0-9][a-z0-9._-]{0,95}"
DIGEST = re.compile(r"[0-9a-zA-Z:._-]{8,200}")
MARK = re.compile(r" \(own(?:, [0-9a-f]{8})?\)$")
MAX_OPTIONS = 4000  # characters


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(options)) > MAX_OPTIONS:
        raise ValueError(f"has more than {MAX_OPTIONS:,} characters")
    if refused := [name for name in (*CODE, NOTE) if name in options]:
        raise ValueError(f"must not name {refused[0]}")
    return options


SourceRecord = strict(ModelSource, "name", kind=Literal[SOURCES], arguments=(tuple[Literal[ARGUMENTS], ...], ()))
# Recorded fields of a model's row; the rest follows from them or is unknown. User generators come with their suites.
ModelFacts = strict(
    Model,
    *("title", "organisation", "kind", "family", "adapter", "weights", "revision", "license"),
    *("embed_dim", "image_size", "parameters_m", "abilities", "modalities", "late_interaction", "open_weights"),
    "trained_on",
    kind=Literal["encoder", "metric", "mllm"],
    adapter=Literal[ADAPTER, *ADAPTERS],
    abilities=tuple[Literal[*(ability for ability in ABILITIES if ability != "generate")], ...],
    modalities=tuple[Literal["image", "text"], ...],
    options=Annotated[dict[str, Any], AfterValidator(_plain)],
)


class ModelRecord(StrictRecord):
    """A recorded model's file."""

    version: Literal[VERSION]
    key: Annotated[str, StringConstraints(pattern=rf"^{KEY}$")]
    digest: Annotated[str, StringConstraints(pattern=rf"^{DIGEST.pattern}$")]
    source: SourceRecord
    model: ModelFacts


def source_of(row: Model) -> ModelSource | None:
    """Returns the source of a recorded model; None for a model of the catalogue."""
    note = row.options.get(NOTE)
    if note is None:
        return None
    return ModelSource(kind=note["source"], name=note["name"], arguments=tuple(note.get("arguments", ())))


def folders(row: Model) -> list[str]:
    """Returns the folders of a recorded model's weights; empty for a model of the catalogue."""
    named = []
    if source_of(row) is not None:
        with_folders(row, lambda folder: named.append(folder) or folder)
    return list(dict.fromkeys(named))


def record(row: Model, *, digest: str, results: Path, source: ModelSource) -> Model:
    """Writes the model's record, replacing one with the same digest, and returns the row as recorded, under its own
    key.

    `row.weights` is an absolute path, a hub id or empty. Raises BadInput for a row that could not be read back, and
    CannotWrite.
    """
    named = keyed(row, digest=digest, results=results, source=source)
    path = results / FOLDER / f"{_stem(named.key)}.json"
    plain = replace(
        named,
        title=MARK.sub("", row.title),
        options={name: value for name, value in row.options.items() if name != NOTE},
    )
    plain = with_folders(plain, lambda folder: f"./{os.path.relpath(folder, path.parent)}")
    content = {
        "version": VERSION,
        "key": named.key,
        "digest": digest,
        "source": asdict(source),
        "model": {name: getattr(plain, name) for name in ModelFacts.model_fields},
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    try:
        as_read = _parse(parse_json(text, name=path.name), folder=path.parent)
    except ValueError as error:
        raise BadInput(f"{named.key} cannot be recorded: {error}") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    return as_read


def keyed(row: Model, *, digest: str, results: Path, source: ModelSource) -> Model:
    """Returns the row as `record` names it: if the catalogue or another digest has the key, the start of the digest is
    appended.
    """
    from compute.catalog import known

    generators = (model for suite in suite_records.recorded(results)[0] for model in suite.models)
    key, path = row.key, results / FOLDER / f"{_stem(row.key)}.json"
    taken = key in {model.key for model in (*known().models, *generators)}
    if not taken and path.exists():
        try:
            taken = _read(path, root=results).options[NOTE]["digest"] != digest
        except (OSError, ValueError):
            taken = True
    if taken:
        key = f"{key[:80]}-{_short(digest)}"
    return _marked(replace(row, key=key, title=MARK.sub("", row.title)), digest=digest, source=source)


def files(results: Path) -> list[Path]:
    """Returns all records in a results folder."""
    return sorted((results / FOLDER).glob("[!.]*.json"))


def recorded(results: Path) -> tuple[list[Model], list[str]]:
    """Returns the recorded models, with absolute paths for weights in folders, and why others are skipped."""
    return suite_records.read_all(
        files(results), partial(_read, root=results), noun="own model", remedy="remove it, and run the model again"
    )


def with_own(suites: Sequence[OwnSuite], models: Sequence[Model]) -> tuple[Catalog, list[str]]:
    """Returns the known catalogue with the user's suites and models, and why others are skipped."""
    from compute.catalog import known

    catalog, problems = suite_records.extended(known(), suites)
    catalog, wrong = extended(catalog, models)
    return catalog, problems + wrong


def extended(catalog: Catalog, models: Sequence[Model]) -> tuple[Catalog, list[str]]:
    """Returns the catalogue with these models, and why others are skipped because their key is taken.

    Unknown data sets in their training data are dropped.
    """
    taken = {row.key for row in catalog.models}
    problems = [
        f"The own model {row.key} is skipped: a model of the catalogue has its key. Run it again, and it gets another"
        for row in models
        if row.key in taken
    ]
    added = tuple(
        replace(row, trained_on=catalog.dataset_keys(row.trained_on)) for row in models if row.key not in taken
    )
    return (replace(catalog, models=(*catalog.models, *added)) if added else catalog), problems


def _short(digest: str) -> str:
    """Returns the first 8 hexadecimal digits of a digest, which may follow a word and a dash."""
    return re.sub(r"[^0-9a-f]", "", digest.lower().rpartition("-")[2].rpartition(":")[2])[:8]


def _stem(key: str) -> str:
    return key.removeprefix(PREFIX).replace("/", "__")


def _marked(row: Model, *, digest: str, source: ModelSource) -> Model:
    """Returns the row with a mark in its title, and the note that pages read."""
    start = _short(digest)
    mark = f"(own, {start})" if row.key.endswith(f"-{start}") else "(own)"
    note = {"source": source.kind, "name": source.name, "digest": digest}
    if source.arguments:
        note["arguments"] = list(source.arguments)
    return replace(row, title=f"{row.title} {mark}", options={**row.options, NOTE: note})


def _read(path: Path, *, root: Path) -> Model:
    """Reads a record. Raises OSError, and ValueError with what is wrong."""
    row = _parse(read_record(path, root=root), folder=path.parent)
    if path.stem != _stem(row.key):
        raise ValueError(f"its name is not that of its model, {row.key}")
    return row


def _parse(content: Any, *, folder: Path) -> Model:
    read = validated(content, ModelRecord)
    if len(_short(read.digest)) < 8:
        raise ValueError(f"its digest is {short(read.digest)}")
    row = Model(key=read.key, **read.model.model_dump())
    if (read.source.kind in (FROM_FILE, FROM_SESSION)) != (row.adapter == ADAPTER):
        raise ValueError(f"a model from a {read.source.kind} has not the adapter {row.adapter}")
    if row.adapter == ADAPTER and row.weights:
        raise ValueError("a model that is not a checkpoint names weights")
    row = with_folders(row, lambda way: os.path.normpath(folder.absolute() / way))
    return _marked(row, digest=read.digest, source=ModelSource(**read.source.model_dump()))
