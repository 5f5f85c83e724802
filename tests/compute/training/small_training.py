"""A training run that takes seconds: a small random CLIP, and examples of noise that it can learn by heart."""

from dataclasses import asdict, dataclass
from itertools import starmap

import numpy as np
import torch

from compute.content.items import images, texts
from compute.tasks.data import Choices
from compute.tasks.mini.album import png
from compute.training import loop, towers
from compute.training.examples import TASKS, Examples
from compute.training.plan import TuningPlan
from compute.training.run_folder import RunFolder
from compute.training.towers import DualEncoder
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU

COUNT = 6  # examples of a task
PLAN = TuningPlan(
    batch_size=4,
    samples=24,
    learning_rate=3e-3,
    warm_up=2,
    rank=4,
    alpha=8,
    weight_decay=0.01,
    precision="float32",
    save_every=2,
    evaluate_every=3,
)


def picture(seed):
    """An image file of noise."""
    return png(np.random.default_rng(seed).integers(0, 256, (40, 40, 3)).astype(np.uint8))


def listed(task, rows, preferred, *, dataset="noise"):
    """Examples in memory: rows of a reference and two alternatives, image files or texts."""
    columns = [(texts if isinstance(side[0], str) else images)(side, of=dataset) for side in zip(*rows, strict=True)]
    names = tuple(map(str, range(len(rows))))
    reference = None if task == "quality" else columns[0]
    data = Choices(names=names, reference=reference, alternatives=tuple(columns[1:]), answer=np.array(preferred))
    return Examples(task=task, dataset=dataset, data=data)


def examples(task, *, count=COUNT):
    """Examples of a task; everything about them is a function of the task."""
    start = 1000 * list(TASKS).index(task)

    def content(modality, part, row):
        if modality == "image":
            return picture(start + 100 * part + row)
        return f"cat {row} dog {part}"

    reference, alternatives = TASKS[task]
    kinds = reference, alternatives, alternatives
    rows = [tuple(content(kind, part, row) for part, kind in enumerate(kinds)) for row in range(count)]
    return listed(task, rows, np.random.default_rng(start).integers(0, 2, count).tolist())


def sets(*tasks):
    """Examples of these tasks, by default of all."""
    return [examples(task) for task in tasks or TASKS]


def base(folder, adapter="clip", *, tasks=tuple(TASKS)):
    """The checkpoint in `folder`, ready to be tuned; a small random one is made where there is none."""
    if not folder.exists():
        getattr(checkpoints, adapter)(folder)
    return towers.load(checkpoints.row(folder, adapter), hardware=CPU, tasks=tasks)


def image_vectors(encoder):
    """Of a few pictures."""
    prepared = [encoder.towers.prepare("image", picture) for picture in checkpoints.images()[:4]]
    return encoder.image_vectors({name: torch.stack([each[name] for each in prepared]) for name in prepared[0]})


def run_folder(path, encoder, plan=PLAN):
    """The folder of a run of this base and plan."""
    data = [part.record() for part in sets()]
    identity = {"base": {"key": encoder.row.key}, "plan": asdict(plan), "suite": {"name": "unisim"}, "data": data}
    return RunFolder(path=path, identity=identity)


def trained(path, encoder, *, plan=PLAN, report=print, **more):
    """The folder and the state after training on the sets of noise; the encoder is tuned in place."""
    folder = run_folder(path, encoder, plan)
    with folder.opened():
        return folder, loop.train(
            encoder, more.pop("parts", None) or sets(), plan=plan, folder=folder, report=report, **more
        )


def losses(folder):
    """The total loss of every step."""
    return [line["total"] for line in folder.losses()]


def score(core, ood):
    """A measurement in place of an evaluator's."""
    return {"core": core, "ood": ood, "tasks": {}}


def scores(*measured):
    """Measures core and OOD as listed, by call."""
    return starmap(score, measured).__next__


@dataclass
class Wavering:
    """Measures a model by a number that follows from its weights alone, and goes up and down with them."""

    encoder: DualEncoder

    def __call__(self):
        core = 0.5 + 0.5 * float(np.sin(100 * sum(float(each.sum()) for each in self.encoder.parameters().values())))
        return score(core, 1 - core)
