"""The training splits of UniSim's Table 5, read by the evaluation's own loaders in the layouts of the public data.

Where a data set has official splits, its own decide: NIGHTS, PieAPP, HPDv2, MagicBrush, HQ-Edit, Polaris and PIPAL
(whose validation images are evaluated). KADID-10k has none: its first 72 reference images are trained on, the last 9
evaluated. `leaks.check` compares the contents all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np

from compute.content.items import content_key
from compute.features.encoding import workers
from compute.tasks.data import Choices
from compute.tasks.source import Source, stored_keys
from compute.tasks.unisim import REPO, image_pairs, text_images
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample, looker
from compute.training.examples import QUALITY_PROMPT, TASKS, Content, TrainingExample, check_task
from compute.types import BadInput, NotHere, suggestion

# Of a data set's examples, at most so many and such a share choose the stored step; Table 5 leaves this open.
VALIDATION_COUNT, VALIDATION_SHARE = 500, 0.1


@dataclass(frozen=True, kw_only=True)
class TrainingSplit:
    """One data set's examples of one task."""

    task: str
    dataset: str
    draw: Callable[..., list[Sample]]  # draw(files, random, count, split=)
    folder: str  # below the folder of the benchmark's data
    origin: str  # who publishes the training split
    evaluated: str  # the task of the catalogue whose questions are like these


_NIGHTS = "the DreamSim project's page, dreamsim-nights.github.io"
_PIEAPP = "the data set's page, civc.ucsb.edu/graphics/Papers/CVPR2018_PieAPP"
_HPDV2, _MAGICBRUSH = "hub data set ymhao/HPDv2", "hub data set osunlp/MagicBrush"
_HQ_EDIT, _POLARIS = "hub data set UCSC-VLAA/HQ-Edit", "hub data set yuwd/Polaris"
_KADID, _PIPAL = "the data set's page, database.mmsp-kn.de", "github.com/HaomingCai/PIPAL-dataset"
SPLITS = tuple(
    TrainingSplit(task=task, dataset=dataset, draw=draw, folder=folder, origin=origin, evaluated=f"unisim/{evaluated}")
    for task, dataset, draw, folder, origin, evaluated in (
        ("image-choice", "nights", image_pairs.nights, "nights", _NIGHTS, "nights"),
        ("image-choice", "pieapp", image_pairs.pieapp, "pie_app", _PIEAPP, "pieapp-2afc"),
        ("image-for-text", "hpdv2", text_images.hpdv2, "hpdv2", _HPDV2, "hpdv2"),
        ("image-for-text", "magicbrush", text_images.magicbrush, "MagicBrush", _MAGICBRUSH, "magicbrush"),
        ("image-for-text", "hq-edit", text_images.hq_edit_images, "HQ-Edit", _HQ_EDIT, "hq-edit-it"),
        ("text-for-image", "polaris", text_images.polaris, "polaris", _POLARIS, "polaris"),
        ("text-for-image", "hq-edit", text_images.hq_edit_texts, "HQ-Edit", _HQ_EDIT, "hq-edit-text"),
        ("quality", "kadid-10k", image_pairs.kadid, "kadid10k", _KADID, "kadid-10k"),
        ("quality", "pieapp", image_pairs.pieapp_quality, "pie_app", _PIEAPP, "pieapp-iqa"),
        ("quality", "pipal", image_pairs.pipal, "PIPAL", _PIPAL, "pipal"),
    )
)


@dataclass(frozen=True, kw_only=True)
class FileExamples:
    """Examples whose images are files of a data set. Rows are numbers into lists of distinct names and texts, so that a
    million examples take some 20 MB besides these."""

    task: str
    dataset: str
    files: Files = field(repr=False)
    contents: Mapping[str, Sequence[str]]  # modality -> its distinct names or texts
    rows: np.ndarray  # (n, 3) int32: which content of its modality is reference, first and second alternative
    preferred: np.ndarray  # (n,) int8
    cache: Path | None = None  # where content keys are stored
    group_size: int = 1

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> TrainingExample:
        reference, *alternatives = (
            self._content(modality, int(at)) for modality, at in zip(self.modalities, self.rows[row], strict=True)
        )
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=reference,
            alternatives=tuple(alternatives),
            preferred=int(self.preferred[row]),
        )

    @property
    def modalities(self) -> tuple[str, str, str]:
        """Of reference and alternatives."""
        of_reference, of_alternatives = TASKS[self.task]
        return of_reference, of_alternatives, of_alternatives

    @property
    def shows_image(self) -> list[bool]:
        """Which of reference and alternatives are images."""
        return [kind == "image" for kind in self.modalities]

    def identity(self) -> str:
        """A digest of all contents, in their order, and of the answers."""
        return sha256(np.ascontiguousarray(self.keys()).tobytes() + self.preferred.tobytes()).hexdigest()

    def keys(self) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives. Every distinct image is read once; the keys are
        stored under the files' sizes and times of change."""
        names, texts = self.contents["image"], self.contents["text"]

        def read() -> np.ndarray:
            with ThreadPoolExecutor(workers()) as pool:
                return np.array(list(pool.map(lambda name: content_key(self._read(name)), names)), dtype="S32")

        facts = repr((str(self.files.folder), [self._state(name) for name in names]))
        known = {
            "image": stored_keys(self.cache, facts, read),
            "text": np.array([content_key(text) for text in texts], dtype="S32"),
        }
        return np.stack([known[kind][self.rows[:, at]] for at, kind in enumerate(self.modalities)], axis=1)

    def image_keys(self) -> np.ndarray:
        """(n, 2 or 3) S32: the content keys of each example's images."""
        return self.keys()[:, self.shows_image]

    def take(self, chosen: np.ndarray) -> FileExamples:
        """The examples at `chosen` (n,) bool or int, with the contents that they have."""
        rows, contents = self.rows[chosen].copy(), {}
        for modality, values in self.contents.items():
            columns = [at for at, kind in enumerate(self.modalities) if kind == modality]
            used, renumbered = np.unique(rows[:, columns], return_inverse=True)
            contents[modality] = tuple(values[at] for at in used.tolist())
            rows[:, columns] = renumbered.reshape(len(rows), len(columns))
        return replace(self, contents=contents, rows=rows, preferred=self.preferred[chosen])

    def _content(self, modality: str, at: int) -> Content:
        value = self.contents[modality][at]
        read = (lambda: value) if modality == "text" else (lambda: self._read(value))
        return Content(modality=modality, name=f"{self.dataset}, {value[:80]}", read=read)

    def _read(self, name: str) -> bytes:
        try:
            return self.files.read(name)
        except OSError as error:
            raise BadInput(f"{self.dataset}, {name}: cannot be read ({error.strerror or error})") from error

    def _state(self, name: str) -> tuple:
        """What tells that a file is the same as before. Raises NotHere naming a missing one."""
        member = self.files.members.get(name)
        if member is None:
            raise NotHere(f"{self.dataset}: its table names {name}, and there is no such file in {self.files.folder}")
        status = member.container.stat()
        return name, status.st_mtime_ns, status.st_size, member.offset, member.size


def training(datasets: Mapping[str, Sequence[str]], *, source: Source, seed: int = 0) -> list[FileExamples]:
    """The training splits of these data sets by task, as `chosen` gives them.

    Raises NotHere saying which split is missing and who publishes it, BadInput for tables that are not what they are.
    """
    rows = [row for row in SPLITS if row.dataset in datasets.get(row.task, ())]
    try:
        files = Files.of(REPO, source.folder(REPO, revision=""))
    except NotHere as error:
        named = "; ".join(sorted({f"{row.folder}/ from {row.origin}" for row in rows}))
        raise NotHere(f"{error}. The training splits belong into the same folder: {named}") from error
    return [_read(row, files, cache=source.cache, seed=seed) for row in rows]


def _read(row: TrainingSplit, files: Files, *, cache: Path | None, seed: int) -> FileExamples:
    where = f"{row.dataset}, examples of {row.task}"
    remedy = f"The training split is published by {row.origin}; put it into {files.folder / row.folder}, or omit it"
    try:
        samples = row.draw(files, Random(f"{seed} training {row.task} {row.dataset}"), 0, split="train")
    except NotHere as error:
        raise NotHere(f"{where}: {error}. {remedy}") from error
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise BadInput(
            f"{where}: its table has no {error}, so it is not the training split in its public layout. {remedy}"
        ) from error
    if not samples:
        raise BadInput(f"{where}: the training split is empty. {remedy}")
    return packed(samples, task=row.task, dataset=row.dataset, files=files, cache=cache)


def packed(
    samples: Sequence[Sample], *, task: str, dataset: str, files: Files, cache: Path | None = None
) -> FileExamples:
    """Samples as numbers into lists of distinct contents. A quality sample, which has no reference, gets the prompt."""
    of_reference, of_alternatives = TASKS[task]
    numbers: dict[str, dict[str, int]] = {"image": {}, "text": {}}

    def number(modality: str, value: str) -> int:
        return numbers[modality].setdefault(value, len(numbers[modality]))

    rows = [
        (
            number(of_reference, QUALITY_PROMPT if task == "quality" else sample.reference),
            *(number(of_alternatives, value) for value in sample.alternatives),
        )
        for sample in samples
    ]
    return FileExamples(
        task=task,
        dataset=dataset,
        files=files,
        contents={modality: tuple(values) for modality, values in numbers.items()},
        rows=np.array(rows, dtype=np.int32),
        preferred=np.array([sample.answer for sample in samples], dtype=np.int8),
        cache=cache,
    )


def divided(parts: Sequence[FileExamples]) -> tuple[list[FileExamples], list[FileExamples]]:
    """What is trained on, and at most VALIDATION_COUNT examples of each data set to choose the stored step by.

    No image is in both, whatever its file is called or its data set: two tasks may show the same images (PieAPP's,
    HQ-Edit's). A data set whose examples all hang together is only trained on.
    """
    held = [held_out(part, share=VALIDATION_SHARE) for part in parts]
    validation = [
        part.take(rows[np.linspace(0, len(rows) - 1, min(len(rows), VALIDATION_COUNT)).astype(int)])
        for part, chosen in zip(parts, held, strict=True)
        if len(rows := np.flatnonzero(chosen))
    ]
    shown = np.concatenate([np.zeros(0, "S32"), *(part.image_keys().ravel() for part in validation)])
    training = [
        part.take(~chosen & ~np.isin(part.image_keys(), shown).any(axis=1))
        for part, chosen in zip(parts, held, strict=True)
    ]
    return [part for part in training if len(part)], validation


def held_out(part: FileExamples, *, share: float) -> np.ndarray:
    """(n,) bool: about this share of the examples, fewer of large sets; none where that would be all or none.

    Examples that have an image in common, over however many others, stay together; so do all distortions of one of
    KADID-10k's images. Which side they are on depends on their names alone: of any seed the same are held out.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    names = part.contents["image"]
    if part.dataset == "kadid-10k":
        names = [name.rpartition("/")[2].partition("_")[0] for name in names]
    scenes, scene = np.unique(names, return_inverse=True)
    shown = scene[part.rows[:, part.shows_image]]
    first = np.repeat(shown[:, 0], shown.shape[1])
    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, shown.ravel())), shape=(len(scenes),) * 2)
    _, group = connected_components(links, directed=False)
    by_name = np.unique(group, return_index=True)[1]  # a group's first scene by name stands for it
    fraction = np.array([int(content_key(str(scenes[at]))[:8], 16) / 2**32 for at in by_name])
    held = (fraction < min(share, VALIDATION_COUNT / len(part)))[group[shown[:, 0]]]
    return held & ~held.all()


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


Datasets = Annotated[
    list[str] | Sequence[str],
    "With --suite unisim: the data sets of a task, image-for-text=hpdv2,magicbrush; repeatable. Default: all.",
]


def chosen(options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The data sets of each task by options such as `image-for-text=hpdv2,magicbrush` (the ablation of Table 4).

    A task without an option has all of Table 5. Raises BadInput for an unknown task, or a data set that has no examples
    of it.
    """
    out = {task: tuple(row.dataset for row in SPLITS if row.task == task) for task in TASKS}
    for option in options:
        task, equals, listed = (part.strip() for part in option.partition("="))
        if not equals:
            raise BadInput(f"{option!r} does not map a task to data sets: write image-for-text=hpdv2,magicbrush")
        check_task(task)
        names = [name.strip() for name in listed.split(",") if name.strip()]
        known = [row.dataset for row in SPLITS if row.task == task]
        if unknown := [name for name in names if name not in known]:
            raise BadInput(
                f"No data set {unknown[0]!r} has examples of {task}.{suggestion(unknown[0], known)} There are: "
                f"{', '.join(known)}"
            )
        out[task] = tuple(names)
    return out
