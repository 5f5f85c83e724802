"""Suites of one's own data, recorded as `suites/<key>.json`.

Data named with `run --data` make one, a file of several tasks does (compute/catalog/own_suite_file.py), and so does a
comparison of one's own generators (`frechet`). Each task has data of its own: a file, a folder or a data set of the
hub, of one of the shapes in compute/tasks/own/shapes.py.

The record lies in the results folder, where anyone may have put or changed it: it is read with limits, and a build
leaves out what cannot be. Its tasks are of the benchmark `own`, so that they never stand among published figures.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compute import drafts, records, types
from compute.catalog.catalog import Catalog
from compute.content.items import content_key
from compute.tasks.own import OwnData, shapes
from compute.tasks.own.hub import PREFIX as HUB
from compute.tasks.source import OwnFile
from compute.types import BadInput, Benchmark, Model, Suite, Task, shortened

VERSION, FOLDER = 2, "suites"
EARLIER = 1  # the version of records whose tasks have one file and shape together
KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}")
MAX_SUITES, MAX_TASKS, MAX_SUBSETS = 200, 100, 50
MAX_NAME, MAX_TEXT = 200, 2000  # characters
MAX_COLUMNS = 50  # of a file that are mapped
MAX_FOLDERS = 100  # of a file's images
MODALITIES = ("image", "text")
MAX_MODELS = 200  # generators of one suite
PAIRS = "pairs"  # a manifest of pairs, which judges rate (compute/tasks/pairbench/manifest.py)
# Shapes that no file can be given to: a comparison of generators, and one of backbones over generators, where each task
# is an image backbone and only the first, the headline, is ranked by.
GENERATORS, GRID = "generators", "grid"
COMPARISONS = (GENERATORS, GRID)
KNOWN = (PAIRS, *shapes.KEYS, *COMPARISONS)
AGGREGATES = ("task-mean", "category-mean")
AGGREGATES_OF_GENERATORS = ("task-mean", "human")  # the latter where people rated them
MAX_WEIGHT = 100.0  # of a category, as on the board
BENCHMARK = Benchmark(
    key="own",
    title="Own data",
    paper="Your own data",
    url="",
    description="Suites made from your own files with `python -m compute run --data FILE`, or from your own images "
    "with `python -m compute frechet`. Their scores stand apart: they compare with no published figure.",
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
SYNTHETIC_BENCHMARKS = ("mini", SYNTHETIC.key)  # all whose items a program draws, one's own and those that are shipped
# What a manifest says of its images, in words.
SOURCES = {
    True: "Synthetic: a program drew the images.",
    False: "The images are not synthetic.",
    None: "Whether the images are synthetic is not known.",
}
# What a record holds of a suite and of each task; the rest follows.
OF_SUITE = ("title", "description", "aggregate")
OF_TASK = (
    "key",
    "title",
    "category",
    "split",
    "subsets",
    "procedure",
    "metrics",
    "chance",
    "n_items",
    "modalities",
    "languages",
    "notes",
)


@dataclass(frozen=True, kw_only=True)
class OwnSuite:
    """A suite of one's own data, and what the items of each of its tasks are read from."""

    suite: Suite
    tasks: tuple[Task, ...]
    data: tuple[OwnFile, ...]  # of each task, its shape one of KNOWN; tasks may share it
    models: tuple[Model, ...] = ()  # one's own generators, which no catalogue lists
    synthetic: bool | None = None  # whether a program drew the images; None: nobody said
    name: str = ""  # of a suite's file, which tells suites of the same data apart; empty: known by its data alone
    shared: tuple[str, ...] = ()  # keys of tasks of the catalogue that are part of it

    @property
    def shape(self) -> str:
        """The shape of all tasks, or those of each."""
        return ", ".join(dict.fromkeys(file.shape for file in self.data))

    @property
    def digest(self) -> str:
        """Of all content: the same content is the same suite, where it has no name."""
        digests = [*filter(None, [self.name]), *dict.fromkeys(file.digest for file in self.data)]
        return digests[0] if len(digests) == 1 and self.data else content_key(json.dumps(digests)).decode()


def from_file(path: Path, *, suite: str, known: Sequence[OwnSuite] = ()) -> OwnSuite:
    """The suite that a data file makes in place of a shipped one, or that is known already, its file moved perhaps.

    Raises BadInput for a suite that takes no file, a file that does not hold what it should, or that of another suite.
    """
    same = next((own for own in known if own.suite.key == suite), None)
    if same is not None and same.shape in COMPARISONS:
        raise BadInput(f"The suite {suite} is a comparison of generators: run python -m compute frechet again")
    shape = same.shape if same else next((name for name, (replaced, _) in SHAPES.items() if replaced == suite), None)
    if shape is None:
        takes = ", ".join(replaced for replaced, _ in SHAPES.values())
        raise BadInput(
            f"{path.name} is a file, and only these suites take one: {takes}. To make a suite of it, name no suite "
            f"beside it; to run the suite {suite}, leave the file out or name a folder of data sets in its place"
        )
    made = SHAPES[shape][1](path)
    if same and made.digest != same.digest:
        takes = SHAPES[shape][0]
        raise BadInput(
            f"{path.name} is not the file of the suite {suite}. To make another suite of it, name the suite {takes}"
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
    """A suite of tasks by their names, each with data of its own; `name` becomes part of its key.

    `categories` are those of tasks that have another than their shape's. Raises BadInput for data with problems, and
    for names that make one key.
    """
    key = f"{BENCHMARK.key}-{slug(name)}"
    benchmark = _benchmark(synthetic).key
    tasks = []
    for own_name, part in data.items():
        facts = part.facts
        tasks.append(
            Task(
                key=f"{BENCHMARK.key}/{key}/{slug(own_name)}",
                title=f"{name[:80]}: {part.shape.title.lower()}" if len(data) == 1 else own_name[:MAX_NAME],
                benchmark=benchmark,
                category=(categories or {}).get(own_name, facts.category),
                dataset=part.file.name,
                revision=part.digest,
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
        raise BadInput(f"Two tasks of {name} make one key, {twice}: name them more differently")
    about = "; ".join(f"{part.facts.counts} in {part.title}" for part in data.values())
    return OwnSuite(
        suite=Suite(
            key=key,
            title=title or f"Own data: {name[:80]}{' (synthetic)' if synthetic else ''}",
            benchmark=benchmark,
            aggregate="task-mean",
            description=(
                f"Your own data: {shortened(about, MAX_TEXT // 2)}. No published figure compares with these. "
                f"{SOURCES[synthetic]}"
            ),
        ),
        tasks=tuple(tasks),
        data=tuple(part.file for part in data.values()),
        synthetic=synthetic,
    )


def replaced() -> frozenset[str]:
    """Keys of the shipped suites that take a file of one's own."""
    return frozenset(suite for suite, _ in SHAPES.values())


def record(own: OwnSuite, *, results: Path) -> OwnSuite:
    """Writes the suite's record, unless one of the same content is there; the suite as it is recorded.

    A name that another content has already gets the beginning of its digest. Raises CannotWrite.
    """
    named = settled(own, results=results)
    path = results / FOLDER / f"{named.suite.key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    files = list({(file.shape, file.digest): file for file in named.data}.values())
    at = {(file.shape, file.digest): index for index, file in enumerate(files)}
    content = {
        "version": VERSION,
        "data": [
            {
                "shape": file.shape,
                "file": file.name,
                "path": os.path.relpath(file.path, path.parent) if file.path else "",
                "digest": file.digest,
                "columns": dict(file.columns),
                **_images(file, folder=path.parent),
            }
            for file in files
        ],
        "synthetic": named.synthetic,
        "suite": {name: getattr(named.suite, name) for name in OF_SUITE},
        **({"name": named.name} if named.name else {}),
        **({"weights": named.suite.category_weights} if named.suite.category_weights else {}),
        **({"shared": named.shared} if named.shared else {}),
        "tasks": [
            {name: getattr(task, name) for name in OF_TASK} | {"data": at[file.shape, file.digest]}
            for task, file in zip(named.tasks, named.data, strict=True)
        ],
        **({"models": [{"key": row.key, "title": row.title} for row in named.models]} if named.models else {}),
    }
    drafts.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return named


def _images(file: OwnFile, *, folder: Path) -> dict[str, list[str]]:
    """The folders of a file's images as a record in `folder` has them."""
    folders = [os.path.relpath(images, folder) for images in (*file.images, *file.elsewhere)[:MAX_FOLDERS]]
    return {"images": folders} if folders else {}


def settled(own: OwnSuite, *, results: Path) -> OwnSuite:
    """The suite under the key that `record` gives it."""
    known, _ = recorded(results)
    same = next((other for other in known if (other.shape, other.digest) == (own.shape, own.digest)), None)
    if same is not None:
        datasets = {task.revision: task.dataset for task in same.tasks}  # a file that was renamed is the same data
        tasks = tuple(replace(task, dataset=datasets.get(task.revision, task.dataset)) for task in own.tasks)
        data = tuple(replace(file, title=datasets.get(file.digest, "")) for file in own.data)
        return _renamed(replace(own, tasks=tasks, data=data), same.suite.key)
    if any(other.suite.key == own.suite.key for other in known):
        return _renamed(own, f"{own.suite.key[:70]}-{own.digest[:8]}")
    return own


def _renamed(own: OwnSuite, key: str) -> OwnSuite:
    """The suite under a key; where that is not the file's name, titles say so too."""

    def task_key(task: Task) -> str:
        return f"{BENCHMARK.key}/{key}/{task.key.rpartition('/')[2]}"

    own = replace(
        own,
        suite=replace(own.suite, key=key),
        tasks=tuple(replace(task, key=task_key(task), suites=(key,)) for task in own.tasks),
    )
    digest = own.digest[:8]
    if not key.endswith(f"-{digest}"):
        return own
    return replace(
        own,
        suite=replace(own.suite, title=f"{own.suite.title} ({digest})"),
        tasks=tuple(replace(task, title=f"{task.title} ({digest})") for task in own.tasks),
    )


def files(results: Path) -> list[Path]:
    """Every record in a results folder."""
    return sorted((results / FOLDER).glob("*.json"))


def recorded(results: Path) -> tuple[list[OwnSuite], list[str]]:
    """The recorded suites, and why others are left out."""
    suites, problems = [], []
    for path in files(results):
        if path.name.startswith("."):
            continue
        try:
            if len(suites) >= MAX_SUITES:
                raise ValueError(f"there are more than {MAX_SUITES} suites")
            suites.append(_read(path, root=results))
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            problems.append(
                f"The suite {path.name} is left out ({reason}): remove it, and run again with --data (in Python data=) "
                "to make it anew"
            )
    return suites, problems


def extended(catalog: Catalog, suites: Sequence[OwnSuite]) -> tuple[Catalog, list[str]]:
    """The catalogue with these suites, and why others are left out: keys or metrics that it does not allow."""
    taken = {row.key for row in (*catalog.suites, *catalog.tasks)}
    models = {row.key: row for row in catalog.models}
    metrics = {row.key for row in catalog.metrics}
    added, problems = [], []
    shipped_tasks = {task.key for task in catalog.tasks}
    shared: dict[str, tuple[str, ...]] = {}  # a task of the catalogue -> one's own suites that it is part of
    for own in suites:
        unknown = sorted({name for task in own.tasks for name in task.metrics} - metrics)
        gone = sorted(set(own.shared) - shipped_tasks)
        if own.suite.key in taken or unknown or gone:
            why = f"no metric {unknown[0]!r} is known" if unknown else "a suite of the catalogue has its name"
            why = f"no task {gone[0]!r} is known" if gone else why
            problems.append(f"The suite {own.suite.key} of your own data is left out: {why}")
            continue
        added.append(own)
        taken.add(own.suite.key)
        shared |= {key: (*shared.get(key, ()), own.suite.key) for key in own.shared}
        models = {row.key: row for row in own.models} | models
    if not added:
        return catalog, problems
    return replace(
        catalog,
        benchmarks=(*catalog.benchmarks, *(BENCHMARKS[key] for key in sorted({own.suite.benchmark for own in added}))),
        suites=(*catalog.suites, *(own.suite for own in added)),
        tasks=(
            *(replace(task, suites=(*task.suites, *shared.get(task.key, ()))) for task in catalog.tasks),
            *(task for own in added for task in own.tasks),
        ),
        models=(*catalog.models, *(row for key, row in models.items() if key.startswith(f"{BENCHMARK.key}/"))),
    ), problems


def with_runs(suites: Sequence[OwnSuite], *, tasks: Set[str]) -> tuple[list[OwnSuite], list[str]]:
    """The suites that have a run on any of their tasks, and a sentence on each of the others.

    `tasks` are the keys of all tasks with a run; of the catalogue's tasks there are published figures without one. A
    suite whose runs all failed has nothing that a page could show.
    """
    shown = [own for own in suites if own.shared or any(task.key in tasks for task in own.tasks)]
    return shown, [
        f"The suite {own.suite.key} of your own data has no complete run: it is left out until one is made"
        for own in suites
        if own not in shown
    ]


def _read(path: Path, *, root: Path) -> OwnSuite:
    """A record. Raises OSError, and ValueError with what is wrong with it."""
    content = records.read(path, root=root)
    key = path.stem
    if not KEY.fullmatch(key):
        raise ValueError("its name is no key: lower-case letters, digits, dots and dashes")
    if content.get("version") not in (EARLIER, VERSION):
        raise ValueError(f"it is of version {records.short(content.get('version'))}; this program reads {VERSION}")
    if content["version"] == EARLIER:
        content = _of_earlier(content)
    data, suite, tasks = content.get("data"), content.get("suite"), content.get("tasks")
    for name, value, kind in (("data", data, list), ("suite", suite, dict), ("tasks", tasks, list)):
        if not isinstance(value, kind):
            raise ValueError(f"it has no {name}")
    shared = content.get("shared", [])
    if not isinstance(shared, list) or len(shared) > MAX_TASKS:
        raise ValueError(f"its shared tasks are no list of at most {MAX_TASKS}")
    for task in shared:
        records.check_text(task, name="a shared task", most=MAX_NAME)
    for name, values in (("files", data), ("tasks", tasks)):
        if not (0 if shared else 1) <= len(values) <= MAX_TASKS:
            raise ValueError(f"it has {len(values)} {name}; 1 to {MAX_TASKS} are read")
    files = [_file(file, folder=path.parent) for file in data]
    of_tasks = [files[_index(task, len(files))] for task in tasks]
    for name in OF_SUITE:
        records.check_text(suite.get(name), name=f"the suite's {name}", most=MAX_TEXT)
    kinds = {file.shape for file in of_tasks}
    if len(kinds) > 1 and kinds & set(COMPARISONS):
        raise ValueError("a comparison of generators stands beside other tasks")
    aggregates = AGGREGATES_OF_GENERATORS[: 2 if GENERATORS in kinds else 1] if kinds & set(COMPARISONS) else AGGREGATES
    if suite["aggregate"] not in aggregates:
        raise ValueError(f"its aggregate is {records.short(suite['aggregate'])}, not {' or '.join(aggregates)}")
    synthetic = content.get("synthetic")  # earlier records have none
    if synthetic is not None and not isinstance(synthetic, bool):
        raise ValueError(f"synthetic is {records.short(synthetic)}, neither true, false nor null")
    benchmark = _benchmark(synthetic).key
    parsed = tuple(
        _task(task, suite=key, benchmark=benchmark, file=file) for task, file in zip(tasks, of_tasks, strict=True)
    )
    if GRID in kinds:
        parsed = headline_first(parsed)
    if len({task.key for task in parsed}) < len(parsed):
        raise ValueError("two of its tasks have one key")
    return OwnSuite(
        suite=Suite(
            key=key,
            benchmark=benchmark,
            category_weights=_weights(content.get("weights", {})),
            **{name: suite[name] for name in OF_SUITE},
        ),
        name=_name(content.get("name", "")),
        shared=tuple(shared),
        tasks=parsed,
        data=tuple(of_tasks),
        models=_models(content.get("models", [])),
        synthetic=synthetic,
    )


def _weights(content: Any) -> dict[str, float]:
    if not isinstance(content, dict) or len(content) > MAX_TASKS:
        raise ValueError(f"its weights are no object of at most {MAX_TASKS}")
    for category, weight in content.items():
        records.check_text(category, name="a category", most=MAX_NAME)
        if records.number(weight, name="a weight", most=MAX_WEIGHT) <= 0:
            raise ValueError("a weight is not above 0")
    return {category: float(weight) for category, weight in content.items()}


def _name(content: Any) -> str:
    records.check_text(content, name="its name", most=MAX_NAME)
    return content


def _of_earlier(content: dict[str, Any]) -> dict[str, Any]:
    """A record of the first version as one of this: its tasks have one file and shape together."""
    data, tasks = content.get("data"), content.get("tasks")
    return {
        **content,
        "data": [{"columns": {}, **data, "shape": content.get("shape")}] if isinstance(data, dict) else None,
        "tasks": [{**task, "data": 0} if isinstance(task, dict) else task for task in tasks]
        if isinstance(tasks, list)
        else None,
    }


def _file(content: Any, *, folder: Path) -> OwnFile:
    """What the items of tasks are read from. Raises ValueError with what is wrong with it."""
    if not isinstance(content, dict) or set(content) - {"images"} != {"shape", "file", "path", "digest", "columns"}:
        raise ValueError("one of its files has not the fields shape, file, path, digest, columns")
    shape, columns = content["shape"], content["columns"]
    if not isinstance(shape, str) or shape not in KNOWN:
        raise ValueError(f"its shape is {records.short(shape)}; there are: {', '.join(KNOWN)}")
    for name in ("file", "path", "digest"):
        records.check_text(content[name], name=name, most=MAX_TEXT)
    if not content["path"] and not content["file"].startswith(HUB):
        raise ValueError(f"its data {records.short(content['file'])} has no path and is of no hub")
    if not isinstance(columns, dict) or len(columns) > MAX_COLUMNS:
        raise ValueError(f"its columns are no object of at most {MAX_COLUMNS}")
    for name, own in columns.items():
        records.check_text(name, name="a column", most=MAX_NAME)
        records.check_text(own, name="a column", most=MAX_NAME)
    named = content.get("images", [])
    if not isinstance(named, list) or len(named) > MAX_FOLDERS:
        raise ValueError(f"its folders of images are no list of at most {MAX_FOLDERS}")
    for name in named:
        records.check_text(name, name="a folder of images", most=MAX_TEXT)
    path = Path(os.path.normpath(folder / content["path"])) if content["path"] else None
    images = [Path(os.path.normpath(folder / name)) for name in named]
    inside = [
        each for each in images if path is not None and records.is_inside(each, path if path.is_dir() else path.parent)
    ]
    return OwnFile(
        shape=shape,
        digest=content["digest"],
        path=path,
        hub="" if content["path"] else content["file"],
        columns=columns,
        images=tuple(inside),
        elsewhere=tuple(each for each in images if each not in inside),
        title=content["file"],
    )


def _index(task: Any, files: int) -> int:
    """Which file a task's items are read from."""
    if not isinstance(task, dict) or set(task) != {*OF_TASK, "data"}:
        raise ValueError(f"a task has not the fields {', '.join(OF_TASK)}, data")
    if records.integer(task["data"], name="a task's data") >= files:
        raise ValueError(f"a task's data is file {task['data']}, there are {files}")
    return task["data"]


def headline_first(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks of a grid: distances over unlike features make no mean, so that only the first is ranked by."""
    return tuple(replace(task, ranked=at == 0) for at, task in enumerate(tasks))


def _models(content: Any) -> tuple[Model, ...]:
    if not isinstance(content, list) or len(content) > MAX_MODELS:
        raise ValueError(f"its models are no list of at most {MAX_MODELS}")
    for row in content:
        if not isinstance(row, dict) or set(row) != {"key", "title"}:
            raise ValueError("a model has not the fields key, title")
        for name in ("key", "title"):
            records.check_text(row[name], name=f"a model's {name}", most=MAX_NAME)
        if not row["key"].startswith(f"{BENCHMARK.key}/") or not KEY.fullmatch(row["key"].partition("/")[2]):
            raise ValueError(f"the model {records.short(row['key'])} is not {BENCHMARK.key}/ and a name")
    return tuple(own_generator(row["key"].partition("/")[2], title=row["title"]) for row in content)


def own_generator(name: str, *, title: str) -> Model:
    """The row of one's own generator: `name` is its part of the key, lower-case letters, digits, dots and dashes."""
    return Model(
        key=f"{BENCHMARK.key}/{name}",
        title=title,
        organisation="Own data",
        kind="generator",
        abilities=("generate",),
        modalities=("image",),
    )


def _benchmark(synthetic: bool | None) -> Benchmark:
    return SYNTHETIC if synthetic else BENCHMARK


def _task(content: Mapping[str, Any], *, suite: str, benchmark: str, file: OwnFile) -> Task:
    for name in ("key", "title", "category", "split", "procedure"):
        records.check_text(content[name], name=f"a task's {name}", most=MAX_NAME)
    records.check_text(content["notes"], name="a task's notes", most=MAX_TEXT)
    start = f"{BENCHMARK.key}/{suite}/"
    if not content["key"].startswith(start) or not KEY.fullmatch(content["key"].removeprefix(start)):
        raise ValueError(f"the task {records.short(content['key'])} does not begin with {start}")
    lists = {}
    for name, least in (("subsets", 1), ("metrics", 1), ("modalities", 1), ("languages", 0)):
        values = content[name]
        if not isinstance(values, list) or not least <= len(values) <= MAX_SUBSETS:
            raise ValueError(f"a task's {name} are no list of {least} to {MAX_SUBSETS}")
        for value in values:
            records.check_text(value, name=f"one of a task's {name}", most=MAX_NAME)
        lists[name] = tuple(values)
    if set(lists["modalities"]) - set(MODALITIES):
        raise ValueError(f"a task's modalities are {', '.join(lists['modalities'])}")
    if content["chance"] is not None:
        records.number(content["chance"], name="a task's chance")
    records.integer(content["n_items"], name="a task's n_items")
    return Task(
        **{name: lists.get(name, content[name]) for name in OF_TASK},
        benchmark=benchmark,
        dataset=file.name,
        revision=file.digest,
        suites=(suite,),
    )


def _pairs(path: Path) -> OwnSuite:
    """A manifest of pairs (PairBench): a task a split."""
    from compute.tasks.pairbench import manifest as manifests
    from compute.tasks.pairbench.splits import SPLITS, in_sentence

    manifest = manifests.read(path)
    name = slug(path.stem)
    key = name if name.startswith("pairs-") else f"pairs-{name}"
    short = path.stem[:80]
    synthetic = manifest.synthetic
    benchmark = _benchmark(synthetic).key
    about = (
        f"Your own data: {len(manifest.pairs):,} pairs of {manifest.items:,} images in {path.name}, rated from 1 to 10 "
        f"in both orders, as PairBench does. No published figure compares with these. {SOURCES[synthetic]}"
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
                key=f"{BENCHMARK.key}/{key}/{split}",
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


def slug(text: str) -> str:
    """A file's name as part of a key; `data` where nothing of it can be."""
    return types.slug(text, default="data")


# What a data file can hold in place of a shipped suite's: the suite that `--data` gives it to, and what reads it. All
# other shapes are rows of compute/tasks/own/shapes.py.
SHAPES: dict[str, tuple[str, Callable[[Path], OwnSuite]]] = {PAIRS: ("pairbench", _pairs)}
