"""Image and text as one: families with a prompt for both embed them jointly unless told to add vectors up."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from compute.catalog import shipped
from compute.content import items
from compute.engine import plan, run
from compute.procedures import retrieval
from compute.tasks.data import Mixed, Retrieval
from tests.compute.small_bench import CATALOG, EYE, NEAR, Eye, World, changed, square

N = 8
ROW = replace(EYE, key="small/joint", kind="mllm", adapter="gme", weights="small/Joint")
TASK = replace(
    NEAR,
    key="unisim/composed",
    dataset="made/composed",
    procedure="retrieval",
    metrics=("ndcg_at_10",),
    n_items=N,
    modalities=("image", "text"),
)
CATALOGUE = replace(CATALOG, models=(ROW, *CATALOG.models), tasks=(TASK,))
PLACES = np.arange(N)


class Both(Eye):
    """Sees an image with its text as neither; notes what it is shown."""

    def prepare(self, modality, item):
        self.world.shown.append(modality)
        if modality == "pair":
            return np.array([*item[0].getpixel((0, 0))[::-1], len(item[1])], dtype=np.float32)
        return super().prepare(modality, item)


class JointWorld(World):
    shown: list[str]

    def _model(self, row, *, hardware):
        return Both(self, row)


def query_and_documents(*, broken=None):
    """Each query is an image with a text, but the last, which is a text; documents are other images."""
    draw = np.random.default_rng(3)
    files = [square(draw.integers(0, 255, 3)) for _ in range(2 * N)]
    if broken is not None:
        files[broken] = b"no image"
    said = items.texts([f"{'x' * row} {row}" for row in range(N)], of="texts")
    queries = Mixed(
        names=tuple(f"q{row}" for row in range(N)),
        image=items.images(files[: N - 1], of="queries"),
        image_at=np.where(PLACES == N - 1, -1, PLACES),
        text=said,
        text_at=PLACES,
    )
    documents = Mixed(
        names=tuple(f"d{row}" for row in range(N)), image=items.images(files[N:], of="documents"), image_at=PLACES
    )
    return Retrieval(queries=queries, documents=documents, relevant=(PLACES, PLACES, np.ones(N)))


@pytest.fixture
def world(tmp_path):
    made = JointWorld(folder=tmp_path, changed={TASK.key: query_and_documents()})
    made.shown = []
    return made


def executed(world, *options, skip_bad=False):
    bench = changed(world.bench(options=options, skip_bad=skip_bad), procedures={"retrieval": retrieval.PROCEDURE})
    [outcome] = run.execute(plan.make(CATALOGUE, suite="small", models=(ROW.key,), bench=bench), bench=bench)
    assert outcome.stored is not None, outcome.reason
    return outcome


@pytest.mark.parametrize(
    "key, way",
    [
        ("royokong/e5-v", "joint"),
        ("alibaba-nlp/gme-qwen2-vl-2b-instruct", "joint"),
        ("openai/clip-vit-base-patch32", "sum"),
    ],
)
def test_the_default_is_the_familys(key, way):
    row, options = shipped().model(key), retrieval.PROCEDURE.options
    assert plan.defaults(row, options)["fusion"] == way
    assert plan.defaults(row, {"classifier": ("knn", "logistic")}) == {"classifier": "knn"}
    without = replace(row, options={**row.options, "prompts": {"image": "{image}", "text": "{text}"}})
    assert plan.defaults(without, options)["fusion"] == "sum", "a row without a prompt for both"


def test_pairs_are_encoded_as_pairs_only_and_stored_apart(world):
    """Joint: N - 1 pairs, a text alone and N documents, none of them twice; the sum then adds the single sides."""
    first = executed(world)
    assert Counter(world.shown) == {"pair": N - 1, "text": 1, "image": N}
    world.shown.clear()
    second = executed(world, "fusion=sum")
    assert Counter(world.shown) == {"text": N - 1, "image": N - 1}
    assert first.stored.run.settings["procedure"]["options"] == {"fusion": "joint"}
    assert first.stored.folder != second.stored.folder


def test_a_pair_that_cannot_be_used_is_left_out_with_its_query(world):
    world.changed[TASK.key] = query_and_documents(broken=2)
    outcome = executed(world, skip_bad=True)
    assert outcome.stored.coverage == pytest.approx((N - 1) / N)
    (left_out,) = outcome.stored.run.settings["left_out"]
    assert "queries, image 2 with texts, text 2" in left_out
