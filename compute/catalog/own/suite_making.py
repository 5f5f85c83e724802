"""Suites that data makes: a data file named with `run --data`, or several by their names.

Each task has its own data: a file, a folder or a data set of the hub, of one of the shapes in
compute/tasks/own/shapes.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compute.catalog.own.suite import (
    COMPARISONS,
    MAX_NAME,
    MAX_TEXT,
    PAIRS,
    SOURCES,
    OwnSuite,
    benchmark_of,
    key_of,
    slug,
    tasks_start,
)
from compute.tasks.own import OwnData
from compute.tasks.source import OwnFile
from compute.types import BadInput, Suite, Task, shortened

PAIRBENCH = "pairbench"  # the shipped suite that a manifest of pairs stands in for


def from_file(path: Path, *, suite: str, known: Sequence[OwnSuite] = ()) -> OwnSuite:
    """The suite that a manifest of pairs makes in place of PAIRBENCH, or that is known already, its file moved perhaps.

    Raises BadInput for a suite that takes no file, a file that does not hold what it should, or that of another suite.
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
    """A suite of tasks by their names, each with its own data; `name` becomes part of its key.

    `categories` are those of tasks that have another than their shape's. Raises BadInput for data with problems, and
    for names that make one key.
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
    """A manifest of pairs (PairBench): a task a split."""
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
