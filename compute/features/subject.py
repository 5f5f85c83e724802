"""A model with its stored results: every distinct image, text and comparison is run once and stored, on disk or in
memory.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from compute import versions
from compute.arrays import LazyRows, Many
from compute.content import decoding
from compute.content.items import Column, content_key
from compute.content.messages import Question, Reply
from compute.features import encoding, passes
from compute.features.passes import DistinctItems, Encoded, Operation, Pass, Steps
from compute.features.store import EmbeddingCache, FeatureStore, as_stored
from compute.models import model_rows
from compute.models.adapter import Comparer, Encoder, Hardware, Judge
from compute.progress import Progress
from compute.types import BadInput, BadItem, CannotDo, LikenessError, Model

# A kind (a modality, `comparison` or `reply`), a model's key, and the content's key.
Name = tuple[str, str, str]
PARTS = ("image", "text", "pair", "comparison", "reply")
ABILITY = {"image": ("embed_image",), "text": ("embed_text",), "pair": ("embed_image", "embed_text")}
# Initial batch sizes: (encoders, comparers), halved when the device is out of memory and doubled when that is faster.
# Models with more than LARGE_M million parameters start at an eighth.
BATCH = {"cpu": (32, 8), "cuda": (256, 32), "mps": (64, 8)}
LARGE_M = 1000
SILENT = Progress()
CPU = Hardware(device="cpu", dtype="float32")


class MemoryStore:
    """Vectors, scores and replies by name: `known` ones and `new` ones. They are never written to disk."""

    dtype = "float32"

    def __init__(self, known: Mapping[Name, Any] | None = None) -> None:
        self.new: dict[Name, Any] = {}
        self.results = ChainMap(self.new, dict(known or {}))

    def cache(self, model: str, kind: str) -> MemoryCache:
        """Returns the cache of one model and kind."""
        return MemoryCache(self, model, kind)

    def fill(self, model: str, kind: str, operation: Operation, wanted: DistinctItems, missing: np.ndarray) -> None:
        """Computes the missing items (n,) bool in batches. Raises BadItem at an unusable item."""
        (make, forward), at, size = operation.steps(), np.flatnonzero(missing), operation.batch.size
        for rows in np.split(at, range(size, len(at), size)):
            made = [make(wanted, row, wanted.read(row)) for row in rows.tolist()]
            vectors, _, problems = forward(made)
            for row, vector, problem in zip(rows.tolist(), vectors, problems, strict=True):
                if problem:
                    raise BadItem(wanted.name(row), problem, key=bytes(wanted.keys[row]))
                self.new[kind, model, wanted.keys[row].decode()] = vector.copy()

    def replies(
        self, model: str, questions: Sequence[Question], ask: Callable[[list[Question]], list[Reply]]
    ) -> list[Reply]:
        """Returns one reply per question, in order; a judge gets the same question once. Raises
        BadInput if one fails.
        """
        names = [("reply", model, content_key(question.prompt()).decode()) for question in questions]
        missing = {name: question for name, question in zip(names, questions, strict=True) if name not in self.results}
        for name, reply in zip(missing, ask(list(missing.values())) if missing else (), strict=True):
            if reply.error:
                raise BadInput(reply.error)
            self.new[name] = reply
        # Two questions may have the same prompt: an image with itself, in both orders.
        return [
            replace(self.results[name], item=question.item) for name, question in zip(names, questions, strict=True)
        ]


@dataclass(frozen=True)
class MemoryCache:
    """The part of a store for one model and one kind of item."""

    store: MemoryStore
    model: str
    kind: str

    def has(self, keys: np.ndarray) -> np.ndarray:
        """Returns (n,) bool: which of the keys (n,) S32 are stored."""
        return np.array([name in self.store.results for name in self._names(keys)], dtype=bool)

    def vectors(self, keys: np.ndarray) -> np.ndarray:
        """Returns (n, d), one row per key, all of which must be stored."""
        return np.stack([self.store.results[name] for name in self._names(keys)])

    def _names(self, keys: np.ndarray) -> list[Name]:
        return [(self.kind, self.model, key.decode()) for key in keys.tolist()]


class Encoders(Protocol):
    """Other processes that have loaded the model and encode instead of this one."""

    def settings(self) -> Mapping[str, Any]:
        """Returns the loaded model's reported settings."""

    def encode(self, modality: str, shards: Sequence[np.ndarray]) -> Generator[Encoded]:
        """Encodes and stores shards, each given by its keys; yields the result of each."""


class Subject:
    """Everything that a procedure can request from one model.

    `prepare` encodes the missing items of several columns; the rest is read from the store. The model is loaded only if
    something is missing. Unusable items raise BadItem or, with `skip_bad`, are skipped by `prepare` and listed in `bad`
    (content key -> reason). `done` lists the passes made on disk.
    """

    def __init__(
        self,
        row: Model,
        store: FeatureStore | MemoryStore,
        *,
        hardware: Hardware = CPU,
        batch_size: int | None = None,
        skip_bad: bool = False,
        threads: int | None = None,
        progress: Progress = SILENT,
        load: Callable[..., Encoder | Comparer | Judge] | None = None,
        identity: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.row, self.store, self.hardware = row, store, hardware
        self.bad: dict[bytes, str] = {}
        self.done: list[Pass] = []
        self._skip_bad = skip_bad
        self._batch_size = batch_size
        self._batches: dict[str, encoding.BatchSize] = {}  # by kind of work
        self._threads = encoding.workers(threads)
        self._progress = progress
        self._load, self._identify = load, identity
        self._caches: dict[str, EmbeddingCache] = {}

    # ---- used by procedures

    def can(self, ability: str) -> bool:
        """Returns whether the model has an ability, one of types.ABILITIES."""
        return ability in self.row.abilities

    def prepare(self, columns: Sequence[Column], *, encoders: Encoders | None = None) -> None:
        """Encodes every distinct missing item of all columns once, in this process or by the `encoders`.

        Columns of a kind that the model does not support are skipped.
        """
        for modality in filter(self._embeds, ABILITY):
            if some := [column for column in columns if column.modality == modality and len(column)]:
                self._ensure(self._encode(modality), modality, some, encoders=encoders)

    def encode_shard(self, wanted: DistinctItems, modality: str, keys: np.ndarray) -> Encoded:
        """Encodes and stores one shard (n,) S32 of a pass that another process plans and locks; items that a lost
        process has stored are skipped.
        """
        cache, operation = self._cache(modality), self._encode(modality)
        cache.refresh()
        left = keys[~cache.has(keys)]
        if not len(left):
            return Encoded(items=len(keys), effective=operation.batch.size)
        (done,) = passes.encode(operation, cache=cache, wanted=wanted, shards=[left])
        return replace(done, items=len(keys))

    def embed(self, column: Column) -> np.ndarray:
        """Returns (n, d) float32, one row per item, not normalised; raises CannotDo for a late-interaction model."""
        return self._single(column).vectors(column.keys)

    def embed_lazily(self, column: Column) -> LazyRows:
        """Returns the same as `embed`, but reads each row from the store on access: for more rows
        than fit in memory.
        """
        return self._single(column).lazy(column.keys)

    def embed_many(self, column: Column) -> Many:
        """Returns the vectors of a late-interaction model, float32, read from the store on access."""
        return self._embedded(column).many(column.keys)

    def compare(self, first: Column, second: Column) -> np.ndarray:
        """Returns (n,) float64 scores, higher is more similar. Each distinct ordered pair is run once."""
        pairing = model_rows.pairing_of(first.modality, second.modality)
        if not model_rows.compares(self.row, pairing):
            raise CannotDo(f"{self.row.key} does not compare {pairing.replace('-', ' with ')}")
        pairs = pairs_of(first, second)
        try:
            cache = self._ensure(self._compare(first, second), "comparison", [pairs], whole=True)
        except BadItem as error:
            row = np.flatnonzero(pairs.keys == error.key)
            if not len(row):
                raise
            # Callers know a pair without a score by the key of its second side.
            raise BadItem(error.item, error.problem, key=bytes(second.keys[row[0]])) from error
        return cache.vectors(pairs.keys)[:, 0] if len(pairs) else np.zeros(0)

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        """Returns one reply per question, in order; a store in memory asks each question once, an adapter has a log on
        disk.
        """
        if not self.can("choose"):
            raise CannotDo(f"{self.row.key} does not answer questions")
        if isinstance(self.store, MemoryStore):
            return self.store.replies(self.row.key, questions, lambda new: self.model.reply(new))
        return self.model.reply(questions)

    # ---- recorded by runs

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that determines the numbers and is known without loading the model."""
        identify = self._identify
        if identify is None:
            from compute.models import identity as identify
        # Only vectors that are rounded for storage have an entry.
        rounded = self.store.dtype != "float32" and any(self._embeds(modality) for modality in ("image", "text"))
        return {
            **identify(self.row, hardware=self.hardware),
            "decoding": {
                "version": decoding.VERSION,
                "packages": versions.minor(versions.installed(("pillow",))),
            },
            **({"stored": self.store.dtype} if rounded else {}),
        }

    @property
    def settings(self) -> dict[str, Any]:
        """`identity`, and the settings that the loaded model reports, now or when its encodings were stored."""
        recorded = self.store.identity_record(self._home)
        loaded = self.model.settings if "model" in self.__dict__ else (recorded or {}).get("settings", {})
        return {**self.identity, "loaded": loaded}

    # ---- internals

    @cached_property
    def _home(self) -> Path:
        return self.store.home(self.row.key, self.identity)

    @cached_property
    def model(self) -> Any:
        """The model, loaded on first access."""
        load = self._load
        if load is None:
            from compute.models import load
        with self._progress.bar(f"{self.row.key}, loading", total=1, unit="model") as advance:
            loaded = load(self.row, hardware=self.hardware)
            advance(1)
        return loaded

    def unload(self) -> None:
        """Frees the model, which is loaded again when needed."""
        self.__dict__.pop("model", None)

    def _embeds(self, modality: str) -> bool:
        return all(self.can(ability) for ability in ABILITY[modality])

    def _single(self, column: Column) -> EmbeddingCache | MemoryCache:
        if self.row.late_interaction:
            raise CannotDo(f"{self.row.key} has {model_rows.LATE}")
        return self._embedded(column)

    def _embedded(self, column: Column) -> EmbeddingCache | MemoryCache:
        if not self._embeds(column.modality):
            raise CannotDo(f"{self.row.key} does not embed {column.modality}s")
        return self._ensure(self._encode(column.modality), column.modality, [column], whole=True)

    def _ensure(
        self,
        operation: Operation,
        name: str,
        columns: Sequence[Column],
        *,
        whole: bool = False,
        encoders: Encoders | None = None,
    ) -> EmbeddingCache | MemoryCache:
        """Returns the cache after storing every usable item of the columns; with `whole`, skipped
        items raise BadItem.
        """
        cache = self._cache(name)
        wanted = passes.distinct(columns)
        if (missing := self._missing(cache, wanted, whole=whole)).any():
            if isinstance(cache, MemoryCache):
                self.store.fill(self.row.key, name, operation, wanted, missing)
                return cache
            with cache.locked(tell=self._progress.tell):
                missing = self._missing(cache, wanted, whole=whole)
                if missing.any():
                    settings = self.model.settings if encoders is None else encoders.settings()
                    self.store.record_identity(self._home, identity=self.identity, settings=settings)
                    elsewhere = None if encoders is None else partial(encoders.encode, name)
                    self.done.append(
                        passes.run(
                            operation,
                            cache=cache,
                            wanted=wanted,
                            missing=missing,
                            progress=self._progress,
                            bad=self.bad,
                            elsewhere=elsewhere,
                        )
                    )
            self._missing(cache, wanted, whole=whole)
        return cache

    def _cache(self, name: str) -> EmbeddingCache | MemoryCache:
        if isinstance(self.store, MemoryStore):
            return self.store.cache(self.row.key, name)
        cache = self._caches.get(name)
        if cache is None:
            cache = self._caches[name] = self.store.cache(self._home, name)
        return cache

    def _missing(self, cache: EmbeddingCache | MemoryCache, wanted: DistinctItems, *, whole: bool) -> np.ndarray:
        """Returns (n,) bool: items neither stored nor known to be bad; with `whole`, bad ones raise BadItem."""
        missing = ~cache.has(wanted.keys)
        if self.bad:
            bad = missing & np.isin(wanted.keys, np.array(list(self.bad), dtype="S32"))
            if whole and bad.any():
                at = int(bad.argmax())
                key = bytes(wanted.keys[at])
                raise BadItem(wanted.name(at), self.bad[key], key=key)
            missing &= ~bad
        return missing

    # ---- the two kinds of work

    def _encode(self, modality: str) -> Operation:
        def steps() -> Steps:
            model = self.model

            def make(wanted: DistinctItems, at: int, content: Any) -> Any:
                return _ready(*wanted.locate(at), content, model.prepare)

            def forward(batch: Sequence[Any]) -> tuple[np.ndarray, np.ndarray | None, Sequence[str]]:
                vectors, offsets, finite = encoding.checked(
                    model.embed(modality, batch),
                    count=len(batch),
                    multi=bool(self.row.late_interaction),
                    model=self.row.key,
                )
                if self.store.dtype != str(vectors.dtype):
                    vectors = as_stored(vectors, dtype=self.store.dtype, model=self.row.key)
                return vectors, offsets, encoding.not_finite(finite)

            return make, forward

        return self._operation(modality, modality, steps, by_length=modality == "text")

    def _compare(self, first: Column, second: Column) -> Operation:
        def make(wanted: DistinctItems, at: int, contents: tuple[Any, ...]) -> tuple[Any, ...]:
            row = int(wanted.row[at])
            return tuple(
                _ready(side, row, content, lambda kind, item: item)
                for side, content in zip((first, second), contents, strict=True)
            )

        def forward(batch: Sequence[tuple[Any, ...]]) -> tuple[np.ndarray, None, Sequence[str]]:
            scores = np.asarray(self.model.compare(*map(list, zip(*batch, strict=True))), dtype=np.float64)
            if scores.shape != (len(batch),):
                raise LikenessError(f"{self.row.key}: its adapter gave {scores.shape} scores for {len(batch)} pairs")
            # A score may be infinite: identical images by PSNR.
            return scores[:, None], None, encoding.not_finite(~(np.isnan(scores) | np.isneginf(scores)))

        return self._operation("comparison", "pair", lambda: (make, forward), compares=True)

    def _operation(
        self,
        name: str,
        unit: str,
        steps: Callable[[], Steps],
        *,
        compares: bool = False,
        by_length: bool = False,
    ) -> Operation:
        if name not in self._batches:
            size = BATCH.get(self.hardware.device.partition(":")[0], BATCH["cpu"])[compares]
            if (self.row.parameters_m or 0) > LARGE_M:
                size = max(1, size // 8)
            size, most = (
                (self._batch_size, 0) if self._batch_size else (size, min(encoding.GROWTH * size, passes.SHARD))
            )
            self._batches[name] = encoding.BatchSize(size, most=most)
        return Operation(
            title=f"{self.row.key}, {name}",
            unit=unit,
            steps=steps,
            batch=self._batches[name],
            threads=self._threads,
            where=self.hardware.device,
            # A metric without weights uses one core.
            turns=self.hardware.device == "cpu" and bool(self.row.weights or self.row.parameters_m),
            by_length=by_length,
            # A pair without a score does not make its items unusable.
            skip_bad=self._skip_bad and not compares,
        )


def _ready(column: Column, row: int, content: Any, prepare: Callable[[str, Any], Any]) -> Any:
    """Decodes and prepares the content of a column's row. Raises BadItem with the item's name and key."""
    try:
        return encoding.ready(column.modality, content, prepare)
    except BadInput as error:
        raise BadItem(column.name(row), str(error), key=bytes(column.keys[row])) from error


def pairs_of(first: Column, second: Column) -> Column:
    """Pairs each row of `first` with the same row of `second` as one item to compare."""
    keys = [content_key(a + b"+" + b) for a, b in zip(first.keys.tolist(), second.keys.tolist(), strict=True)]
    return Column(
        modality="comparison",
        keys=np.array(keys, dtype="S32"),
        read=lambda row: (first.content(row), second.content(row)),
        name=lambda row: f"{first.name(row)} against {second.name(row)}",
    )
