"""A data set of the hub as one's own: its Parquet tables, or the files of a repository without any."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from compute.content import items
from compute.content.items import Column, content_key
from compute.tasks import parquet
from compute.tasks.own.finding import CORPUS, QRELS, QUERIES
from compute.tasks.own.labelled import TEST, TRAIN
from compute.tasks.own.naming import shape_of
from compute.tasks.own.shapes import CLASSIFICATION, PROBE, RETRIEVAL, TaskShape
from compute.tasks.own.table import SPLIT, OwnTable, of_parquet
from compute.tasks.source import CARD, Source
from compute.types import BadInput, NotHere, shortened, suggestion

PREFIX = "hub:"
NAME = re.compile(r"hub:([\w.-]+/[\w.-]+)(?:/([\w.-]+))?(?::([\w.-]+))?(?:@([\w./-]+))?")
DEFAULT = "default"


@dataclass(frozen=True, kw_only=True)
class HubTables:
    """What is read of a data set of the hub."""

    name: str  # `hub:org/name@commit`, with configuration and split where they were named
    tables: Mapping[str, OwnTable]
    shape: TaskShape | None  # where its layout tells


@dataclass(frozen=True, kw_only=True)
class _Named:
    repo: str
    config: str
    split: str
    revision: str

    @classmethod
    def of(cls, text: str) -> _Named:
        match = NAME.fullmatch(text)
        if match is None:
            raise BadInput(
                f"{shortened(text)} names no data set of the hub: write hub:org/name@revision, or with configuration "
                "and split hub:org/name/configuration:split@revision"
            )
        repo, config, split, revision = (value or "" for value in match.groups())
        return cls(repo=repo, config=config, split=split, revision=revision)


def is_named(data: Path | str) -> bool:
    """Whether this names a data set of the hub, and no file."""
    return str(data).startswith(PREFIX)


def title(text: str) -> str:
    """`org/name`. Raises BadInput for a name that is none."""
    return _Named.of(text).repo


def is_cached(folder: Path) -> bool:
    """Whether a data set's folder is a snapshot in the hub's cache, `datasets--org--name/snapshots/commit`."""
    return folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("datasets--")


def folder(text: str, *, source: Source) -> Path | None:
    """The folder of a data set without Parquet; None where it has some. Raises NotHere, BadInput."""
    named = _Named.of(text)
    place = _fetched(named, source)
    return None if any(place.rglob("*.parquet")) else place


def _fetched(named: _Named, source: Source) -> Path:
    """The data set's folder; of one whose card lists its files only those of the configuration are fetched."""
    with contextlib.suppress(NotHere):  # no card, or nothing at all: the last line says so
        card = source.folder(named.repo, revision=named.revision, files=(CARD,))
        config = named.config or ("" if parquet.files_of(card, config=CORPUS) else DEFAULT)
        files = parquet.files_of(card, config=config)
        if files:
            return source.folder(named.repo, revision=named.revision, files=(CARD, *files))
    return source.folder(named.repo, revision=named.revision)


def resolved(text: str, *, source: Source) -> str:
    """The name with the commit that a branch, or no revision, stands for."""
    named = _Named.of(text)
    place = _fetched(named, source)
    commit = place.name if re.fullmatch(r"[0-9a-f]{40}", place.name) else named.revision
    config, split = f"/{named.config}" if named.config else "", f":{named.split}" if named.split else ""
    return f"{PREFIX}{named.repo}{config}{split}{f'@{commit}' if commit else ''}"


def read(text: str, *, shape: TaskShape | None, given: Mapping[str, str], source: Source) -> HubTables:
    """The tables of a data set at a revision, fetched if they must be.

    Of several splits `test` is read; a table of items and classes with `train` and `test` is a probe. Raises NotHere
    with the command that fetches it, BadInput for a configuration or split that it does not have.
    """
    named = _Named.of(text)
    place, name = _fetched(named, source), resolved(text, source=source)
    # A commit says all; of a folder of one's own in place of the hub's its files do.
    state = name if "@" in name else source.state(named.repo, revision=named.revision)

    def table(config: str, *splits: str) -> OwnTable:
        parts = [
            of_parquet(
                parquet.table(place, repo=named.repo, config=config, split=split),
                folder=None,
                digest=content_key(f"{state} {config} {split}").decode(),
            )
            for split in splits
        ]
        return parts[0] if len(parts) == 1 else _joined(parts, splits)

    configs = ["default" if config in ("data", place.name) else config for config in parquet.configs(place)]
    queries = next((config for config in (QUERIES, "query") if config in configs), "")
    if not named.config and CORPUS in configs and queries and shape in (None, RETRIEVAL):
        judged = QRELS if QRELS in configs else DEFAULT
        chosen = {QUERIES: queries, CORPUS: CORPUS, QRELS: judged}
        return HubTables(
            name=name,
            shape=RETRIEVAL,
            tables={role: table(config, _split(place, config, named, alone=True)) for role, config in chosen.items()},
        )
    config = named.config or (DEFAULT if DEFAULT in configs else configs[0] if len(configs) == 1 else "")
    if config not in configs:
        raise BadInput(
            f"{named.repo} has the configurations {', '.join(configs)}: name one, {PREFIX}{named.repo}/{configs[0]}"
        )
    splits = parquet.splits(place, config=config)
    both = not named.split and {TRAIN, TEST} <= set(splits) and shape in (None, PROBE)
    if both and shape is None:
        columns = table(config, TEST).columns
        both = SPLIT not in columns and shape_of(columns, given, title=named.repo) is CLASSIFICATION
    if both:
        return HubTables(name=name, tables={"": table(config, TRAIN, TEST)}, shape=PROBE)
    return HubTables(name=name, tables={"": table(config, _split(place, config, named))}, shape=shape)


def _split(place: Path, config: str, named: _Named, *, alone: bool = False) -> str:
    """Which split is read; `alone`: the only one there is, whatever was named, as a corpus has one for all."""
    splits = parquet.splits(place, config=config)
    if alone and len(splits) == 1:
        return splits[0]
    split = named.split or (TEST if TEST in splits else splits[0] if len(splits) == 1 else "")
    if split not in splits:
        if not split:
            raise BadInput(
                f"{named.repo} has the splits {', '.join(splits)}: name one, {PREFIX}{named.repo}:{splits[0]}"
            )
        raise BadInput(
            f"{named.repo} has no split {shortened(split)!r}.{suggestion(split, splits)} It has: {', '.join(splits)}"
        )
    return split


def _joined(parts: list[OwnTable], splits: tuple[str, ...]) -> OwnTable:
    """The rows of several splits, with a column of which each is of."""
    import pyarrow as pa

    names = np.repeat(np.array(splits, dtype=object), [len(part) for part in parts])
    values = pa.concat_tables([part.values for part in parts])
    return replace(
        parts[0],
        title=parts[0].title.rpartition(" ")[0],
        values=values.append_column(SPLIT, pa.array(names, pa.large_string())),
        stored={name: _all_of(parts, name) for name in parts[0].stored},
        digest=content_key(" ".join(part.digest for part in parts)).decode(),
    )


def _all_of(parts: list[OwnTable], name: str) -> Callable[[Path | None], Column]:
    def column(cache: Path | None) -> Column:
        return items.joined([part.stored[name](cache) for part in parts])

    return column
