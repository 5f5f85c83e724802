"""A data set on the hub as user data: its Parquet tables, or the files of a repository without any."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from compute.content import items
from compute.content.items import content_key
from compute.tasks import parquet
from compute.tasks.own.finding import CORPUS, QRELS, QUERIES
from compute.tasks.own.shapes import CLASSIFICATION, PROBE, RETRIEVAL, TaskShape, shape_of
from compute.tasks.own.table import SPLIT, TEST, TRAIN, OwnTable, of_parquet
from compute.tasks.source import CARD, Source
from compute.types import BadInput, NotHere, shortened, suggestion

PREFIX = "hub:"
NAME = re.compile(r"hub:([\w.-]+/[\w.-]+)(?:/([\w.-]+))?(?::([\w.-]+))?(?:@([\w./-]+))?")
DEFAULT = "default"


# Its `org/name`; `hub:org/name@commit`, with configuration and split if they were given; the shape, if the layout
# determines it; and its tables, or the folder of a repository without Parquet, whose files are read like any other.
HubDataSet = tuple[str, str, TaskShape | None, Mapping[str, OwnTable] | Path]


def read(text: str, *, shape: TaskShape | None, given: Mapping[str, str], source: Source) -> HubDataSet:
    """Returns a data set at a revision, fetched if it must be.

    Of several splits `test` is read; a table of items and classes with `train` and `test` is a probe. Raises NotHere
    with the command that fetches it, BadInput for a name that is none and a configuration or split that is not there.
    """
    match = NAME.fullmatch(text)
    if match is None:
        raise BadInput(
            f"{shortened(text)} is not a data set of the hub: write hub:org/name@revision, or with configuration "
            "and split hub:org/name/configuration:split@revision"
        )
    repo, config, split, revision = (value or "" for value in match.groups())
    place = None
    with contextlib.suppress(NotHere):  # no card, or no data set: the last line reports it
        card = source.folder(repo, revision=revision, files=(CARD,))
        # If the card lists the files, only those of the configuration are fetched.
        files = parquet.files_of(card, config=config or ("" if parquet.files_of(card, config=CORPUS) else DEFAULT))
        if files:
            place = source.folder(repo, revision=revision, files=(CARD, *files))
    place = place or source.folder(repo, revision=revision)
    commit = place.name if re.fullmatch(r"[0-9a-f]{40}", place.name) else revision  # the commit of a branch
    name = f"{PREFIX}{repo}{config and f'/{config}'}{split and f':{split}'}{commit and f'@{commit}'}"
    if not any(place.rglob("*.parquet")):
        return repo, name, shape, place
    # A commit is sufficient; a user folder in place of the hub's is identified by its files.
    state = name if commit else source.state(repo, revision=revision)

    def table(config: str, *splits: str) -> OwnTable:
        parts = [
            of_parquet(
                parquet.table(place, repo=repo, config=config, split=split),
                folder=None,
                digest=content_key(f"{state} {config} {split}").decode(),
            )
            for split in splits
        ]
        return parts[0] if len(parts) == 1 else _joined(parts, splits)

    def chosen(config: str) -> str:
        """Returns the split of a configuration to read."""
        splits = parquet.splits(place, config=config)
        named = split or (TEST if TEST in splits else splits[0] if len(splits) == 1 else "")
        if not named:
            raise BadInput(f"{repo} has the splits {', '.join(splits)}: name one, {PREFIX}{repo}:{splits[0]}")
        if named not in splits:
            raise BadInput(
                f"{repo} has no split {shortened(named)!r}.{suggestion(named, splits)} It has: {', '.join(splits)}"
            )
        return named

    configs = [DEFAULT if each in ("data", place.name) else each for each in parquet.configs(place)]
    queries = next((each for each in (QUERIES, "query") if each in configs), "")
    if not config and CORPUS in configs and queries and shape in (None, RETRIEVAL):
        tables = {}
        for role, each in ((QUERIES, queries), (CORPUS, CORPUS), (QRELS, QRELS if QRELS in configs else DEFAULT)):
            splits = parquet.splits(place, config=each)  # a corpus has one split for all, regardless of the given split
            tables[role] = table(each, splits[0] if len(splits) == 1 else chosen(each))
        return repo, name, RETRIEVAL, tables
    config = config or (DEFAULT if DEFAULT in configs else configs[0] if len(configs) == 1 else "")
    if config not in configs:
        raise BadInput(f"{repo} has the configurations {', '.join(configs)}: name one, {PREFIX}{repo}/{configs[0]}")
    both = not split and {TRAIN, TEST} <= set(parquet.splits(place, config=config)) and shape in (None, PROBE)
    if both and shape is None:
        columns = table(config, TEST).columns
        both = SPLIT not in columns and shape_of(columns, given, title=repo) is CLASSIFICATION
    if both:
        return repo, name, PROBE, {"": table(config, TRAIN, TEST)}
    return repo, name, shape, {"": table(config, chosen(config))}


def _joined(parts: list[OwnTable], splits: tuple[str, ...]) -> OwnTable:
    """Concatenates the rows of several splits, with a column for each row's split."""
    import pyarrow as pa

    names = np.repeat(np.array(splits, dtype=object), [len(part) for part in parts])
    values = pa.concat_tables([part.values for part in parts])
    return replace(
        parts[0],
        title=parts[0].title.rpartition(" ")[0],
        values=values.append_column(SPLIT, pa.array(names, pa.large_string())),
        stored={
            name: lambda name=name, *, cache: items.joined([part.stored[name](cache=cache) for part in parts])
            for name in parts[0].stored
        },
        digest=content_key(" ".join(part.digest for part in parts)).decode(),
    )
