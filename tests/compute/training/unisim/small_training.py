"""A training run that takes seconds: a small random CLIP, and examples of noise that it can learn by heart."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from compute.content import items
from compute.models.adapter import Hardware
from compute.training.unisim import loop, trainable
from compute.training.unisim.checkpoints import RunFolder, TuningState
from compute.training.unisim.data.examples import QUALITY_PROMPT, TASKS, ColumnExamples
from compute.training.unisim.plan import TuningPlan
from compute.training.unisim.trainable import DualEncoder
from tests.compute.models import checkpoints

CPU = Hardware(device="cpu", dtype="float32")
COUNT = 6  # examples of a task
PLAN = TuningPlan(
    batch_size=4,
    samples=24,
    learning_rate=3e-3,
    warm_up=2,
    rank=4,
    alpha=8,
    weight_decay=0.01,
    save_every=2,
    evaluate_every=3,
    threads=1,
)


def picture(seed: int) -> bytes:
    """An image file of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def examples(task: str, *, count: int = COUNT) -> ColumnExamples:
    """Examples of a task; everything about them is a function of the task."""
    start = 1000 * list(TASKS).index(task)

    def column(modality: str, part: int) -> items.Column:
        if modality == "image":
            return items.images([picture(start + 100 * part + row) for row in range(count)], of=task)
        words = [QUALITY_PROMPT if task == "quality" else f"cat {row} dog {part}" for row in range(count)]
        return items.texts(words, of=task)

    reference, alternatives = TASKS[task]
    return ColumnExamples(
        task=task,
        dataset="noise",
        reference=column(reference, 0),
        alternatives=(column(alternatives, 1), column(alternatives, 2)),
        preferred=np.random.default_rng(start).integers(0, 2, count),
    )


def sets(*tasks: str) -> list[ColumnExamples]:
    """Examples of these tasks, by default of all."""
    return [examples(task) for task in tasks or TASKS]


def base(folder: Path, adapter: str = "clip", *, tasks: Sequence[str] = tuple(TASKS)) -> DualEncoder:
    """The checkpoint in `folder`, ready to be tuned; a small random one is made where there is none."""
    if not folder.exists():
        getattr(checkpoints, adapter)(folder)
    return trainable.load(checkpoints.row(folder, adapter), hardware=CPU, tasks=tasks)


def run_folder(path: Path, encoder: DualEncoder, plan: TuningPlan = PLAN) -> RunFolder:
    """The folder of a run of this base and plan, open."""
    folder = RunFolder(
        path=path,
        identity={
            "base": {"key": encoder.row.key, "revision": encoder.revision},
            "plan": asdict(plan),
            "suite": {"name": "mini"},
            "data": [
                {"task": part.task, "dataset": part.dataset, "key": part.dataset, "examples": len(part)}
                for part in sets()
            ],
        },
    )
    folder.open()
    return folder


def trained(
    path: Path, encoder: DualEncoder, *, plan: TuningPlan = PLAN, report: Callable[[str], None] = print, **more: Any
) -> tuple[RunFolder, TuningState]:
    """The folder and the state after training on the sets of noise; the encoder is tuned in place."""
    folder = run_folder(path, encoder, plan)
    return folder, loop.train(encoder, more.pop("parts", sets()), plan=plan, folder=folder, report=report, **more)


def losses(folder: RunFolder) -> list[float]:
    """The total loss of every step."""
    return [line["total"] for line in folder.losses()]


class Wavering:
    """Measures a model by a number that follows from its weights alone, and goes up and down with them."""

    def measure(self, embed_images: Callable[[Sequence[Image.Image]], np.ndarray]) -> Any:
        """Core from 0 to 1, and so out of distribution."""
        vectors = embed_images([Image.open(io.BytesIO(picture(seed))) for seed in range(4)])
        core = 0.5 + 0.5 * float(np.sin(10 * vectors.sum()))
        return SimpleNamespace(record=lambda: {"core": core, "ood": 1 - core, "tasks": {}})


def main(out: str, folder: str, *, kill_after: int | None = None, delay: float = 0.0) -> None:
    """Trains and measures in this process, for a test that starts it by itself; it kills itself `delay` seconds after
    so many steps of this process."""
    import os
    import signal
    import threading
    import time

    from compute.training.unisim import checkpoints as states

    log = Path(out) / states.FOLDER / states.LOSSES

    def lines() -> int:
        return len(log.read_text().splitlines()) if log.is_file() else 0

    def kill(start: int) -> None:
        while lines() < start + kill_after:
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    if kill_after is not None:
        # What the last process logged after its last stored step is taken out first, so this only moves the moment.
        threading.Thread(target=kill, args=(max(0, lines() - LONG.save_every),), daemon=True).start()
    trained(Path(out), base(Path(folder)), plan=LONG, evaluator=Wavering())


LONG = replace(PLAN, samples=160, save_every=3)  # 40 steps
