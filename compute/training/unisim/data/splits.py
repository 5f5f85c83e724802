"""The training splits of UniSim's Table 5, read by the evaluation's own loaders in the layouts of the public data.

Where a data set has official splits, its own decide: NIGHTS, PieAPP, HPDv2, MagicBrush, HQ-Edit, Polaris and PIPAL
(whose validation images are evaluated). KADID-10k has none: its first 72 reference images are trained on, the last 9
evaluated. `leaks.check` compares the contents all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np

from compute.content.items import content_key
from compute.features.encoding import workers
from compute.progress import Progress
from compute.tasks.data import Choices
from compute.tasks.source import Source, stored_keys
from compute.tasks.unisim import REPO, image_pairs, text_images
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample, looker
from compute.training.unisim.data.examples import QUALITY_PROMPT, TASKS, Content, TrainingExample, check_task
from compute.types import BadInput, NotHere, suggestion

SPLIT = "train"
# Of a data set's examples, at most so many and such a share choose the stored step; Table 5 leaves this open.
VALIDATION_COUNT, VALIDATION_SHARE = 500, 0.1
KEYS_AT_ONCE = 4096  # files whose content keys are stored together: what is lost when a run is stopped meanwhile


@dataclass(frozen=True, kw_only=True)
class TrainingSplit:
    """One data set's examples of one task."""

    task: str
    dataset: str
    draw: Callable[..., list[Sample]]  # draw(files, random, count, split=)
    folder: str  # below the folder of the benchmark's data
    origin: str  # who publishes the training split
    samples: int  # what Table 5 prints


_NIGHTS = "the DreamSim project's page, dreamsim-nights.github.io"
_PIEAPP = "the data set's page, civc.ucsb.edu/graphics/Papers/CVPR2018_PieAPP"
_HQ_EDIT = "hub data set UCSC-VLAA/HQ-Edit"
SPLITS = (
    TrainingSplit(
        task="image-choice", dataset="nights", draw=image_pairs.nights, folder="nights", origin=_NIGHTS, samples=15_900
    ),
    TrainingSplit(
        task="image-choice", dataset="pieapp", draw=image_pairs.pieapp, folder="pie_app", origin=_PIEAPP, samples=50_500
    ),
    TrainingSplit(
        task="image-for-text",
        dataset="hpdv2",
        draw=text_images.hpdv2,
        folder="hpdv2",
        origin="hub data set ymhao/HPDv2",
        samples=645_100,
    ),
    TrainingSplit(
        task="image-for-text",
        dataset="magicbrush",
        draw=text_images.magicbrush,
        folder="MagicBrush",
        origin="hub data set osunlp/MagicBrush",
        samples=11_500,
    ),
    TrainingSplit(
        task="image-for-text",
        dataset="hq-edit",
        draw=text_images.hq_edit_images,
        folder="HQ-Edit",
        origin=_HQ_EDIT,
        samples=100_000,
    ),
    TrainingSplit(
        task="text-for-image",
        dataset="polaris",
        draw=text_images.polaris,
        folder="polaris",
        origin="hub data set yuwd/Polaris",
        samples=245_900,
    ),
    TrainingSplit(
        task="text-for-image",
        dataset="hq-edit",
        draw=text_images.hq_edit_texts,
        folder="HQ-Edit",
        origin=_HQ_EDIT,
        samples=100_000,
    ),
    TrainingSplit(
        task="quality",
        dataset="kadid-10k",
        draw=image_pairs.kadid,
        folder="kadid10k",
        origin="the data set's page, database.mmsp-kn.de",
        samples=9_100,
    ),
    TrainingSplit(
        task="quality",
        dataset="pieapp",
        draw=image_pairs.pieapp_quality,
        folder="pie_app",
        origin=_PIEAPP,
        samples=50_500,
    ),
    TrainingSplit(
        task="quality",
        dataset="pipal",
        draw=image_pairs.pipal,
        folder="PIPAL",
        origin="github.com/HaomingCai/PIPAL-dataset",
        samples=73_700,
    ),
)


@dataclass(frozen=True, kw_only=True)
class FileExamples:
    """Examples whose images are files of a data set. Rows are numbers into lists of distinct names and texts, so that a
    million examples take some 20 MB beside these."""

    task: str
    dataset: str
    files: Files = field(repr=False)
    contents: Mapping[str, Sequence[str]]  # modality -> its distinct names or texts
    rows: np.ndarray  # (n, 3) int32: which content of its modality is reference, first and second alternative
    preferred: np.ndarray  # (n,) int8
    cache: Path | None = None  # where content keys are stored

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> TrainingExample:
        reference, first, second = (
            self._content(modality, int(at)) for modality, at in zip(self.modalities, self.rows[row], strict=True)
        )
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=reference,
            alternatives=(first, second),
            preferred=int(self.preferred[row]),
        )

    @property
    def modalities(self) -> tuple[str, str, str]:
        """Of reference and alternatives."""
        of_reference, of_alternatives = TASKS[self.task]
        return of_reference, of_alternatives, of_alternatives

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives.

        Reads every distinct image once; the keys are stored in parts, under the files' sizes and times of change, so
        that a stopped run goes on and a later one reads nothing.
        """
        known = {"image": self._image_keys(progress or Progress()), "text": self._text_keys()}
        return np.stack([known[kind][self.rows[:, at]] for at, kind in enumerate(self.modalities)], axis=1)

    def _content(self, modality: str, at: int) -> Content:
        value = self.contents[modality][at]
        if modality == "text":
            return Content(modality="text", read=lambda: value, name=lambda: f"{self.dataset}, {value[:40]!r}")
        return Content(modality="image", read=lambda: self._read(value), name=lambda: f"{self.dataset}, {value}")

    def _read(self, name: str) -> bytes:
        try:
            return self.files.read(name)
        except OSError as error:
            raise BadInput(f"{self.dataset}, {name}: cannot be read ({error.strerror or error})") from error

    def _image_keys(self, progress: Progress) -> np.ndarray:
        names = self.contents["image"]
        parts = [np.zeros(0, dtype="S32")]
        title = f"Reading images of {self.dataset}"
        with ThreadPoolExecutor(workers()) as pool, progress.bar(title, total=len(names), unit="image") as done:
            for start in range(0, len(names), KEYS_AT_ONCE):
                part = names[start : start + KEYS_AT_ONCE]
                state = [self._state(name) for name in part]
                parts.append(
                    stored_keys(
                        self.cache,
                        repr((str(self.files.folder), state)),
                        lambda part=part: np.array(list(pool.map(self._key, part)), dtype="S32"),
                    )
                )
                done(len(part))
        return np.concatenate(parts)

    def _key(self, name: str) -> bytes:
        return content_key(self._read(name))

    def _state(self, name: str) -> tuple:
        """What tells that a file is the same as before. Raises NotHere naming a missing one."""
        member = self.files.members.get(name)
        if member is None:
            raise NotHere(f"{self.dataset}: its table names {name}, and there is no such file in {self.files.folder}")
        status = member.container.stat()
        return name, status.st_mtime_ns, status.st_size, member.offset, member.size

    def _text_keys(self) -> np.ndarray:
        return np.array([content_key(text) for text in self.contents["text"]], dtype="S32")


def training(
    datasets: Mapping[str, Sequence[str]] | None = None, *, source: Source, revision: str = "", seed: int = 0
) -> list[FileExamples]:
    """The training splits of these data sets by task, as `chosen` gives them; None: all of Table 5.

    Raises NotHere saying which split is missing and who publishes it, BadInput for tables that are not what they are.
    """
    datasets_by_task = every() if datasets is None else datasets
    rows = [row for row in SPLITS if row.dataset in datasets_by_task.get(row.task, ())]
    try:
        files = Files.of(REPO, source.folder(REPO, revision=revision))
    except NotHere as error:
        named = "; ".join(sorted({f"{row.folder}/ from {row.origin}" for row in rows}))
        raise NotHere(f"{error}. The training splits belong into the same folder: {named}") from error
    return [_read(row, files, cache=source.cache, seed=seed) for row in rows]


def _read(row: TrainingSplit, files: Files, *, cache: Path | None, seed: int) -> FileExamples:
    where = f"{row.dataset}, examples of {row.task}"
    origin = (
        f"The training split is published by {row.origin}; put it into {files.folder / row.folder}, or leave it out"
    )
    try:
        samples = row.draw(files, Random(f"{seed} training {row.task} {row.dataset}"), 0, split=SPLIT)
    except NotHere as error:
        raise NotHere(f"{where}: {error}. {origin}") from error
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise BadInput(
            f"{where}: its table has no {error}, so it is not the training split in its public layout. {origin}"
        ) from error
    if not samples:
        raise BadInput(f"{where}: there is none in the training split. {origin}")
    return packed(samples, task=row.task, dataset=row.dataset, files=files, cache=cache)


def packed(
    samples: Sequence[Sample], *, task: str, dataset: str, files: Files, cache: Path | None = None
) -> FileExamples:
    """Samples as numbers into lists of distinct contents. A quality sample, which has no reference, gets the prompt.

    Raises BadInput where another sample's reference is blank.
    """
    check_task(task)
    of_reference, of_alternatives = TASKS[task]
    numbers: dict[str, dict[str, int]] = {"image": {}, "text": {}}

    def number(modality: str, value: str) -> int:
        return numbers[modality].setdefault(value, len(numbers[modality]))

    def reference(sample: Sample) -> str:
        value = QUALITY_PROMPT if task == "quality" else sample.reference
        if not (value or "").strip():
            raise BadInput(
                f"{dataset}, examples of {task}: the {of_reference} that {' and '.join(sample.alternatives)} are "
                "compared with is blank. Take this row out of the table"
            )
        return value

    rows = np.array(
        [
            (
                number(of_reference, reference(sample)),
                *(number(of_alternatives, value) for value in sample.alternatives),
            )
            for sample in samples
        ],
        dtype=np.int32,
    ).reshape(-1, 3)
    return FileExamples(
        task=task,
        dataset=dataset,
        files=files,
        contents={modality: tuple(values) for modality, values in numbers.items()},
        rows=rows,
        preferred=np.array([sample.answer for sample in samples], dtype=np.int8),
        cache=cache,
    )


def divided(part: FileExamples, *, share: float) -> tuple[FileExamples, FileExamples]:
    """What is trained on, and about a share of the examples to choose a checkpoint by: no image is in both.

    Examples that have an image in common, over however many others, stay together; so do all distortions of one of
    KADID-10k's images. Which side they are on depends on their names alone: of any seed the same are held out.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not 0 < share < 1:
        raise BadInput(f"A share of {share:g} of {part.dataset} cannot be held out: name one between 0 and 1")
    names = [_scene(part.dataset, name) for name in part.contents["image"]]
    scenes, scene = np.unique(names, return_inverse=True)
    shown = scene[part.rows[:, [kind == "image" for kind in part.modalities]]]
    first = np.repeat(shown[:, 0], shown.shape[1])
    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, shown.ravel())), shape=(len(scenes),) * 2)
    _, group = connected_components(links, directed=False)
    by_name = np.unique(group, return_index=True)[1]  # a group's first scene by name stands for it
    fraction = np.array([int(content_key(str(scenes[at]))[:8], 16) / 2**32 for at in by_name])
    held_out = (fraction < share)[group[shown[:, 0]]]
    return _taken(part, ~held_out), _taken(part, held_out)


def divided_all(parts: Sequence[FileExamples]) -> tuple[list[FileExamples], list[FileExamples]]:
    """What is trained on, and what the stored step is chosen by: no image file of any data set is in both.

    Two tasks may show the same images (PieAPP's, HQ-Edit's): examples of one task with an image that is held out of
    another are not trained on either. A data set whose examples all hang together is only trained on.
    """
    pairs = [
        divided(part, share=min(VALIDATION_SHARE, VALIDATION_COUNT / max(1, len(part)))) if len(part) else (part, part)
        for part in parts
    ]
    held_out = [_thinned(held, VALIDATION_COUNT) for train, held in pairs if len(train) and len(held)]
    shown = {name for part in held_out for name in part.contents["image"]}
    training = []
    for part, (train, _) in zip(parts, pairs, strict=True):
        candidate = train if len(train) else part
        is_held = np.array([name in shown for name in candidate.contents["image"]], dtype=bool)
        columns = [kind == "image" for kind in candidate.modalities]
        training.append(_taken(candidate, ~is_held[candidate.rows[:, columns]].any(axis=1)))
    return [part for part in training if len(part)], held_out


def without_images_of(
    training: Sequence[FileExamples], held_out: Sequence[FileExamples], progress: Progress | None = None
) -> list[FileExamples]:
    """The training examples without those that have an image of the held-out ones, whatever its file is called: data
    sets may have the same files. Sets of which nothing is left are dropped. Reads images whose keys are not stored."""
    shown = np.concatenate([_shown_keys(part, progress).ravel() for part in held_out])
    left = [
        _taken(part, ~hit) if (hit := np.isin(_shown_keys(part, progress), shown).any(axis=1)).any() else part
        for part in training
    ]
    return [part for part in left if len(part)]


def _shown_keys(part: FileExamples, progress: Progress | None) -> np.ndarray:
    """(n, 2 or 3) S32: the content keys of each example's images."""
    return part.keys(progress)[:, [kind == "image" for kind in part.modalities]]


def choices(part: FileExamples) -> Choices:
    """Examples as items of an evaluated task, in their order."""
    look = looker(part.files, cache=part.cache)
    reference, first, second = (
        look([part.contents[kind][at] for at in part.rows[:, column]], kind == "image")
        for column, kind in enumerate(part.modalities)
    )
    return Choices(
        names=tuple(f"{part.dataset} {row}" for row in range(len(part))),
        reference=None if part.task == "quality" else reference,
        alternatives=(first, second),
        answer=part.preferred.astype(int),
        question="quality" if part.task == "quality" else "reference",
    )


def _thinned(part: FileExamples, count: int) -> FileExamples:
    """At most `count` examples, evenly from all."""
    if len(part) <= count:
        return part
    rows = np.zeros(len(part), dtype=bool)
    rows[np.linspace(0, len(part) - 1, count).astype(int)] = True
    return _taken(part, rows)


def _scene(dataset: str, name: str) -> str:
    """What an image shows, where its name says so."""
    return name.rpartition("/")[2].partition("_")[0] if dataset == "kadid-10k" else name


def _taken(part: FileExamples, chosen: np.ndarray) -> FileExamples:
    """The examples at `chosen` (n,) bool, with the contents that they have."""
    rows, contents = part.rows[chosen].copy(), {}
    for modality, values in part.contents.items():
        columns = [at for at, kind in enumerate(part.modalities) if kind == modality]
        used, renumbered = np.unique(rows[:, columns], return_inverse=True)
        contents[modality] = tuple(values[at] for at in used.tolist())
        rows[:, columns] = renumbered.reshape(len(rows), len(columns))
    return replace(part, contents=contents, rows=rows, preferred=part.preferred[chosen])


def every() -> dict[str, tuple[str, ...]]:
    """The data sets of each task, in the order of Table 5."""
    return {task: tuple(row.dataset for row in SPLITS if row.task == task) for task in TASKS}


def chosen(options: Sequence[str], *, known: Mapping[str, Sequence[str]] | None = None) -> dict[str, tuple[str, ...]]:
    """The data sets of each task by options such as `image-for-text=hpdv2,magicbrush` (the ablation of Table 4).

    A task without an option has all of `known`, by default of Table 5; `quality=` has none, so that it is not trained
    on. Raises BadInput for an unknown task, or a data set that has no examples of it.
    """
    known = every() if known is None else known
    out = {task: tuple(names) for task, names in known.items()}
    seen: set[str] = set()
    for option in options:
        task, equals, listed = (part.strip() for part in option.partition("="))
        if not equals:
            raise BadInput(f"{option!r} does not say which data sets a task has: write image-for-text=hpdv2,magicbrush")
        check_task(task)
        if task in seen:
            raise BadInput(f"The data sets of {task} are named twice: write them after one =, separated by commas")
        seen.add(task)
        names = [name.strip() for name in listed.split(",") if name.strip()]
        for name in names:
            if name not in known.get(task, ()):
                others = [other for other, sets in known.items() if name in sets]
                hint = f" It has examples of {', '.join(others)}." if others else suggestion(name, known.get(task, ()))
                raise BadInput(
                    f"No data set {name!r} has examples of {task}.{hint} There are: {', '.join(known.get(task, ()))}"
                )
        out[task] = tuple(name for name in known.get(task, ()) if name in names)
    if not any(out.values()):
        raise BadInput("No data set is left to train on: name at least one")
    return {task: names for task, names in out.items() if names}
