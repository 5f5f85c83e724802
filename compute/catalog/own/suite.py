"""Suites of user data.

Their tasks belong to the benchmark `own`, so that they are never listed among published scores. `from_file` and
`of_data` build a suite from data of the shapes in compute/tasks/own/shapes.py, suite_file.py builds one from a file of
several tasks, and a comparison of the user's generators (`frechet`) is a suite too. suite_records.py stores suites and
adds them to the catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compute import types
from compute.content.items import content_key
from compute.tasks.source import OwnFile
from compute.types import BadInput, Benchmark, Model, Suite, Task, shortened

if TYPE_CHECKING:
    from compute.tasks.own import OwnData

MAX_NAME, MAX_TEXT = 200, 2000  # characters
PAIRS = "pairs"  # a manifest of pairs, which judges rate (compute/tasks/pairbench/manifest.py)
# Shapes without a file: a comparison of generators, and one of backbones over generators. In the latter each task is an
# image backbone, and only the first, the headline, is ranked by.
GENERATORS, GRID = "generators", "grid"
COMPARISONS = (GENERATORS, GRID)
PAIRBENCH = "pairbench"  # the shipped suite that a manifest of pairs replaces
AGGREGATES = ("task-mean", "category-mean")
MAX_WEIGHT = 100.0  # of a category, as on the board
BENCHMARK = Benchmark(
    key="own",
    title="Own data",
    paper="Your own data",
    url="",
    description="Suites made from your own files with `likeness run --data FILE`, or from your own images "
    "with `likeness frechet`. They cannot be compared with published scores.",
    bibtex="",
)
SYNTHETIC = replace(
    BENCHMARK,
    key="own-synthetic",
    title="Own data (synthetic)",
    description=f"{BENCHMARK.description} Synthetic: a program drew the images, so that the scores say nothing of "
    "photographs.",
)
BENCHMARKS = {benchmark.key: benchmark for benchmark in (BENCHMARK, SYNTHETIC)}
SYNTHETIC_BENCHMARKS = ("mini", SYNTHETIC.key)  # all whose items a program draws, both user suites and shipped ones
# Descriptions of the image source that a manifest states.
SOURCES = {
    True: "Synthetic: a program drew the images.",
    False: "The images are not synthetic.",
    None: "Whether the images are synthetic is not known.",
}


@dataclass(frozen=True, kw_only=True)
class OwnSuite:
    """A suite of user data, and the files that each task's items are read from."""

    suite: Suite
    tasks: tuple[Task, ...]
    data: tuple[OwnFile, ...]  # one per task, its shape one of KNOWN; tasks may share a file
    models: tuple[Model, ...] = ()  # user generators, which the catalogue does not list
    synthetic: bool | None = None  # whether a program drew the images; None if unknown
    name: str = ""  # of a suite's file, to distinguish suites of the same data; empty: identified by its data
    shared: tuple[str, ...] = ()  # keys of catalogue tasks that are part of it

    @property
    def shape(self) -> str:
        """The distinct shapes of its tasks, joined by commas."""
        return ", ".join(dict.fromkeys(file.shape for file in self.data))

    @property
    def digest(self) -> str:
        """Digest of all content: without a name, the same content is the same suite."""
        digests = [*filter(None, [self.name]), *dict.fromkeys(file.digest for file in self.data)]
        return digests[0] if len(digests) == 1 and self.data else content_key(json.dumps(digests)).decode()


def headline_first(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Returns the tasks of a grid with only the first one ranked by, because distances over different features have no
    common mean.
    """
    return tuple(replace(task, ranked=at == 0) for at, task in enumerate(tasks))


def own_generator(name: str, *, title: str) -> Model:
    """Returns the row of a user generator; `name` is its part of the key: lower-case letters,
    digits, dots and dashes.
    """
    return Model(
        key=f"{BENCHMARK.key}/{name}",
        title=title,
        organisation="Own data",
        kind="generator",
        abilities=("generate",),
        modalities=("image",),
    )


def benchmark_of(synthetic: bool | None) -> Benchmark:
    """Returns the benchmark of user data: a separate one if a program drew the images. None (unknown) counts as not
    drawn.
    """
    return SYNTHETIC if synthetic else BENCHMARK


def key_of(name: str, *, mark: str = BENCHMARK.key) -> str:
    """Returns the key of a suite from its name: the mark and the name, which may already begin with the mark."""
    short = slug(name)
    return short if short.startswith(f"{mark}-") else f"{mark}-{short}"


def tasks_start(suite: str) -> str:
    """Returns the prefix of the keys of a suite's tasks: `own/` and the suite's key without its mark."""
    return f"{BENCHMARK.key}/{suite.removeprefix(f'{BENCHMARK.key}-')}/"


def slug(text: str) -> str:
    """Returns a file's name as part of a key; `data` if nothing of it can be used."""
    return types.slug(text, default="data")


def from_file(path: Path, *, suite: str, known: Sequence[OwnSuite] = ()) -> OwnSuite:
    """Returns the suite of a manifest of pairs in place of PAIRBENCH, or a known suite whose file may have moved.

    Raises BadInput for a suite that takes no file, for a file with wrong content, or for the file of another suite.
    """
    same = next((own for own in known if own.suite.key == suite), None)
    if same is not None and same.shape in COMPARISONS:
        raise BadInput(f"The suite {suite} is a comparison of generators: run likeness frechet again")
    if same is None and suite != PAIRBENCH:
        raise BadInput(
            f"{path.name} is a file, and only these suites take one: {PAIRBENCH}. To make a suite of it, name no suite "
            f"with it; to run the suite {suite}, omit the file or name a folder of data sets in its place"
        )
    made = _pairs(path)
    if same is not None and made.digest != same.digest:
        raise BadInput(
            f"{path.name} is not the file of the suite {suite}. To make another suite of it, name the suite {PAIRBENCH}"
        )
    return made


def of_data(
    data: Mapping[str, OwnData],
    *,
    name: str,
    title: str = "",
    categories: Mapping[str, str] | None = None,
    synthetic: bool | None = None,
) -> OwnSuite:
    """Returns a suite of tasks by name, each with its data; `name` becomes part of its key.

    `categories` are those of tasks whose category is not that of their shape. Raises BadInput for data with problems,
    and for names that give the same key.
    """
    key = key_of(name)
    benchmark = benchmark_of(synthetic).key
    tasks = []
    for own_name, part in data.items():
        facts = part.facts
        tasks.append(
            Task(
                key=f"{tasks_start(key)}{slug(own_name)}",
                title=f"{name[:80]}: {part.shape.title.lower()}" if len(data) == 1 else own_name[:MAX_NAME],
                benchmark=benchmark,
                category=(categories or {}).get(own_name, facts.category),
                dataset=part.file.name,
                revision=part.digest,
                subsets=facts.subsets,
                procedure=part.shape.procedure,
                metrics=facts.metrics,
                chance=facts.chance,
                n_items=facts.n_items,
                modalities=facts.modalities,
                notes=" ".join(filter(None, (f"{facts.counts} in {part.title}.", facts.notes))),
                suites=(key,),
            )
        )
    keys = [task.key for task in tasks]
    if twice := next((task for task in keys if keys.count(task) > 1), None):
        raise BadInput(f"Two tasks of {name} make one key, {twice}: choose more distinct names")
    about = "; ".join(f"{part.facts.counts} in {part.title}" for part in data.values())
    return OwnSuite(
        suite=Suite(
            key=key,
            title=title or f"Own data: {name[:80]}{' (synthetic)' if synthetic else ''}",
            benchmark=benchmark,
            aggregate="task-mean",
            description=(
                f"Your own data: {shortened(about, MAX_TEXT // 2)}. No published score compares with these. "
                f"{SOURCES[synthetic]}"
            ),
        ),
        tasks=tuple(tasks),
        data=tuple(part.file for part in data.values()),
        synthetic=synthetic,
    )


def _pairs(path: Path) -> OwnSuite:
    """Returns the suite of a manifest of pairs (PairBench): a task per split."""
    from compute.tasks.pairbench import manifest as manifests
    from compute.tasks.pairbench.splits import SPLITS, in_sentence

    manifest = manifests.read(path)
    key = key_of(path.stem, mark=PAIRS)
    short = path.stem[:80]
    synthetic = manifest.synthetic
    benchmark = benchmark_of(synthetic).key
    about = (
        f"Your own data: {len(manifest.pairs):,} pairs of {manifest.items:,} images in {path.name}, rated from 1 to 10 "
        f"in both orders, as PairBench does. No published score compares with these. {SOURCES[synthetic]}"
    )
    counts = manifest.counts()
    file = OwnFile(shape=PAIRS, digest=manifest.digest, path=path.absolute())
    return OwnSuite(
        data=(file,) * len(manifest.splits),
        synthetic=synthetic,
        suite=Suite(
            key=key,
            title=f"Own pairs: {short}{' (synthetic)' if synthetic else ''}",
            benchmark=benchmark,
            aggregate="task-mean",
            description=about,
        ),
        tasks=tuple(
            Task(
                key=f"{tasks_start(key)}{split}",
                title=f"{short}: {in_sentence(SPLITS[split].title)}",
                benchmark=benchmark,
                category="Image pairs" if SPLITS[split].second == "image" else "Image-text pairs",
                dataset=path.name,
                revision=manifest.digest,
                split=split,
                subsets=("sensitive", "invariant"),
                procedure="judging",
                metrics=("mmscore", "relax_sym", "smoothness", "controllability"),
                chance=0.0,
                n_items=2 * counts[split].total(),  # comparisons of a condition, as Table 8 counts them
                modalities=("image",) if SPLITS[split].second == "image" else ("image", "text"),
                notes=f"{counts[split].total():,} pairs; both orders of every pair are rated.",
                suites=(key,),
            )
            for split in manifest.splits
        ),
    )
