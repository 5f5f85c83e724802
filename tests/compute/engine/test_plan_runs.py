"""What the plan lets through runs, and what cannot run is refused: every model of the catalogue on every kind of task.

Models stand in for the real ones: they embed what their row says, and compare two images.
"""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from compute.content.items import images, texts
from compute.content.messages import Reply
from compute.engine import plan
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.models import ADAPTERS
from compute.procedures import PROCEDURES
from compute.tasks import computable
from compute.tasks.data import (
    Choices,
    Clusters,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    RatedPairs,
    Retrieval,
    Sentences,
    ZeroShot,
)
from compute.types import CannotDo
from tests.compute.small_bench import HARDWARE, square

BY_KEY = {procedure.key: procedure for procedure in PROCEDURES}
N = 12
NAMES = tuple(f"item {row}" for row in range(N))
ROWS = np.arange(N)


def files(seed):
    return [square(colour) for colour in np.random.default_rng(seed).integers(0, 256, (N, 3))]


A, B, C = (images(files(seed), of=f"images {seed}") for seed in range(3))
X, Y = (texts([f"{letter} {row}" for row in range(N)], of=letter) for letter in "xy")
ANSWER = ROWS % 2
LABELS = Labelled(names=NAMES, items=A, labels=ANSWER, classes=("even", "odd"))
IMAGES, TEXTS = Mixed(names=NAMES, image=A, image_at=ROWS), Mixed(names=NAMES, text=X, text_at=ROWS)
BOTH = Mixed(names=NAMES, image=B, image_at=ROWS, text=Y, text_at=ROWS)
OWN = (ROWS, ROWS, np.ones(N))
CANDIDATES = (np.repeat(ROWS, 2), np.stack([ROWS, (ROWS + 1) % N], axis=1).ravel())


def choices(reference, *alternatives, question="reference"):
    return Choices(names=NAMES, alternatives=alternatives, answer=ANSWER, reference=reference, question=question)


def rated(second, *transformations):
    variants = (A, B, C, B, C) if second.modality == "image" else ()
    return RatedPairs(
        names=NAMES,
        first=A,
        second=second,
        expected=np.array([10, 8, 1])[ROWS % 3],
        types=np.array(["identical", "transformed", "irrelevant"])[ROWS % 3],
        sources=np.array([f"{row // 3}" for row in ROWS]),
        templates=ROWS % 5,
        condition="invariant",
        transformations=transformations,
        first_variants=variants,
        second_variants=variants,
    )


# A kind of task: its procedure, what it shows, and whether it asks for a quality. Several sets of items are one kind
# where the catalogue does not tell them apart; all of them must run.
ITEMS = {
    "choice image": (choices(A, B, C),),
    "choice image text": (choices(X, A, B), choices(A, X, Y)),
    "choice image quality": (choices(None, A, B, question="quality"),),
    "odd_one_out image": (OddOneOut(names=NAMES, members=(A, B, C), odd=ROWS % 3),),
    "retrieval image": (Retrieval(queries=IMAGES, documents=IMAGES, relevant=OWN),),
    "retrieval text": (Retrieval(queries=TEXTS, documents=TEXTS, relevant=OWN),),
    "retrieval image text": (
        Retrieval(queries=TEXTS, documents=IMAGES, relevant=OWN),
        Retrieval(queries=IMAGES, documents=TEXTS, relevant=OWN),
        Retrieval(queries=BOTH, documents=IMAGES, relevant=OWN),
    ),
    "multiple_choice image text": (Retrieval(queries=BOTH, documents=TEXTS, relevant=OWN, candidates=CANDIDATES),),
    "matching image text": (
        Matches(names=NAMES, images=(A,), captions=(X, Y)),
        Matches(names=NAMES, images=(A, B), captions=(X,)),
        Matches(names=NAMES, images=(A, B), captions=(X, Y)),
    ),
    "sts image": (Sentences(names=NAMES, first=A, second=B, human=ROWS.astype(float)),),
    "sts text": (Sentences(names=NAMES, first=X, second=Y, human=ROWS.astype(float)),),
    "zero_shot image text": (ZeroShot(test=LABELS, prompts=texts(["an even one", "an odd one"], of="prompts")),),
    "probe image": (Probe(train=LABELS, test=replace(LABELS, items=B), samples_per_label=3, draws=2),),
    "clustering image": (Clusters(test=LABELS),),
    "judging image": (rated(B, "rotate"), rated(B, "position")),
    "judging image text": (rated(X, "position"),),
}


def kind(task):
    return " ".join([task.procedure, *sorted(set(task.modalities)), *["quality"] * plan.is_quality(task)])


TASKS = [task for task in shipped().tasks if computable(task) and task.procedure in BY_KEY]
KINDS = {kind(task): task for task in TASKS}


def ways(row):
    """All that a row and its family say of what the model can do."""
    able = frozenset(row.abilities), frozenset(row.modalities)
    return *able, ADAPTERS[row.adapter].joint, bool(row.late_interaction)


MODELS = {ways(row): row for row in shipped().models if row.adapter}


class StandIn:
    """Vectors of what its row embeds; comparisons of two images; always answer A."""

    settings = {}

    def __init__(self, row):
        self.row = row

    def prepare(self, modality, item):
        kinds = ("image", "text") if modality == "pair" else (modality,)
        if any(f"embed_{one}" not in self.row.abilities for one in kinds):
            raise AssertionError(f"{self.row.key} was shown a {modality}")
        return np.random.default_rng(sum(repr(item).encode()[:9])).standard_normal(6).astype(np.float32)

    def embed(self, modality, prepared):
        return [one.reshape(2, 3) for one in prepared] if self.row.late_interaction else np.stack(prepared)

    def compare(self, first, second):
        if not all(isinstance(one, Image.Image) for one in (*first, *second)):
            raise TypeError(f"{self.row.key} compares images")
        return np.arange(len(second), dtype=float)

    def reply(self, questions):
        return [Reply(item=question.item, text="(A)" if question.choices else "Score: 1") for question in questions]


def subject(row, folder):
    return Subject(
        row,
        store=FeatureStore(folder),
        hardware=HARDWARE,
        load=lambda row, *, hardware: StandIn(row),
        identity=lambda row, *, hardware: {"row": row.key},
    )


@pytest.mark.parametrize("key", MODELS, ids=lambda key: MODELS[key].key)
def test_a_model_runs_what_the_plan_lets_through_and_nothing_else(key, tmp_path):
    row, wrong = MODELS[key], []
    loaded = subject(row, tmp_path)
    for what, task in KINDS.items():
        procedure = BY_KEY[task.procedure]
        options = plan.defaults(row, procedure.options)
        reason = plan.obstacle(row, task, BY_KEY)
        for data in () if row.late_interaction and reason else ITEMS[what]:  # the plan alone refuses many vectors
            try:
                procedure.run(loaded, data, options)
                ran = ""
            except CannotDo as error:
                ran = str(error)
            if bool(reason) != bool(ran):
                wrong.append((what, f"plan: {reason}", f"run: {ran}"))
    assert wrong == []
