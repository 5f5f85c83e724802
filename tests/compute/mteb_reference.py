"""MIEB's public evaluation code (the package mteb) beside ours: the same files, the same small encoder, both scores."""

import io
import zlib
from functools import cache
from types import SimpleNamespace

import datasets
import mteb
import numpy as np
from mteb.models.abs_encoder import AbsEncoder
from PIL import Image
from threadpoolctl import threadpool_limits

from compute import tasks
from compute.catalog import shipped
from compute.engine import scoring
from compute.procedures import procedure
from compute.tasks.source import Source
from compute.types import Model
from tests.compute.tasks import hub_files

SIDE, BUCKETS, DIM = 4, 97, 24
MATRICES = np.random.default_rng(11)
OF_PIXELS, OF_TRIPLES = (MATRICES.standard_normal((size, DIM)) for size in (SIDE * SIDE * 3, BUCKETS))


def of_image(picture):
    """(DIM,) float32: a projection of sixteen mean colours. It depends on nothing but the pixels."""
    small = np.asarray(picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=float)
    return np.tanh((small.ravel() / 255 - 0.5) @ OF_PIXELS).astype(np.float32)


@cache
def of_text(text):
    """(DIM,) float32: a projection of the counts of its three-byte pieces, so that every character counts."""
    data = f"  {text}  ".encode()
    counts = np.zeros(BUCKETS)
    for start in range(len(data) - 2):
        counts[zlib.crc32(data[start : start + 3]) % BUCKETS] += 1
    return np.tanh(counts @ OF_TRIPLES / np.sqrt(len(data))).astype(np.float32)


class Theirs(AbsEncoder):
    """The encoder as mteb calls it; an item of image and text is their sum, as most of MIEB's models make it."""

    mteb_model_meta = None

    def __init__(self):
        self.texts = set()

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, **rest):
        vectors = []
        for batch in inputs:
            self.texts |= set(batch.get("text", ()))
            read = {"image": of_image, "text": of_text}
            vectors.append(sum(np.stack([*map(read[name], batch[name])]) for name in read if name in batch))
        return np.concatenate(vectors)


class Ours:
    """The same encoder as our procedures ask it."""

    row = Model(key="small", title="Small", abilities=("embed_image", "embed_text"), modalities=("image", "text"))

    def __init__(self):
        self.texts = set()

    def can(self, ability):
        return ability in self.row.abilities

    def embed(self, column):
        contents = [column.read(row) for row in range(len(column))]
        if column.modality == "image":
            return np.stack([of_image(Image.open(io.BytesIO(content))) for content in contents])
        self.texts |= set(contents)
        return np.stack([*map(of_text, contents)])


def compared(name, tables, *, folder, monkeypatch, aggregate_of="", metrics=()):
    """Writes the data set's files as the hub holds them, and evaluates the task with both.

    `theirs`: every score that mteb reports by subset; `ours`: values by metric and subset; `settings`: what our
    procedure reports by subset; `texts`: those that either encoder got.

    `aggregate_of`: the task that mteb itself runs where `name` only averages its subsets. `metrics`: ours beside the
    task's own. mteb reads the folder by the hub's library, told the folder in place of the repository.
    """
    row, root = shipped().task(f"mieb/{name.lower()}"), folder / "data"
    place = hub_files.write(root / row.dataset, tables)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "cache")
    monkeypatch.setattr(datasets.Dataset, "map", _in_this_process(datasets.Dataset.map))
    task = type(mteb.get_task(aggregate_of or name))()
    monkeypatch.setitem(task.metadata.dataset, "path", str(place))
    their_model, our_model = Theirs(), Ours()
    subsets = list(row.subsets) if task.metadata.is_multilingual else None
    if subsets:
        task.hf_subsets = subsets
    with threadpool_limits(1):
        theirs = task.evaluate(
            their_model, row.split, subsets, encode_kwargs={"batch_size": 16, "show_progress_bar": False}
        )
    data = tasks.load(row, source=Source(root=root, offline=True))
    how = procedure(row.procedure)
    options = {option: values[0] for option, values in how.options.items()}
    evidence = {subset: how.run(our_model, part, options) for subset, part in data.items()}
    frames = {subset: part.items for subset, part in evidence.items()}
    values = {(metric, subset): figure.value for metric, subset, figure in scoring.scored(row, frames)[0]}
    for metric in metrics:
        values |= {(metric, subset): float(frame[metric].mean()) for subset, frame in frames.items()}
    settings = {subset: part.settings for subset, part in evidence.items()}
    texts = their_model.texts, our_model.texts
    return SimpleNamespace(theirs=theirs, ours=values, settings=settings, texts=texts)


def _in_this_process(function):
    """The library's `map` without worker processes, which take longer to start than such small tables to read."""

    def run(self, *args, num_proc=None, **rest):
        return function(self, *args, **rest)

    return run
