"""What is encoded, how often, and in what batches; stand-ins for the models."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from compute.content import items
from compute.content.items import Column
from compute.features import passes
from compute.types import CannotDo, LikenessError
from tests.compute.features.standin import COMPARER, ENCODER, LATE, Standin, file, files, subject


def test_settings_are_known_without_loading_once_stored(tmp_path):
    model = Standin()
    subject(tmp_path, model).embed(files(1))
    later = subject(tmp_path, model)
    assert later.settings["loaded"] == {"pooling": "none"} and later.settings["dtype"] == "float32"
    assert model.loads == 1
    model.settings = {"pooling": "mean"}
    with pytest.raises(LikenessError, match="pooling"):
        later.embed(files(2))


def test_texts_of_like_length_go_together_and_batches_keep_their_size(tmp_path):
    model = Standin()
    lengths = np.random.default_rng(0).permutation(np.arange(1, 23))
    column = items.texts(["x" * length for length in lengths.tolist()], of="texts")
    shown = []
    model.trouble = lambda found: shown.append(found[:, 0].tolist()) or found
    found = subject(tmp_path, model, batch_size=8).embed(column)
    assert [len(batch) for batch in shown] == [8, 8, 6]
    assert sum(shown, []) == list(range(22, 0, -1))
    assert np.array_equal(found[:, 0], lengths)


@pytest.mark.parametrize(
    "seconds, at_most, options, sizes",
    [
        (lambda size: 1, 128, {}, [32] * 4 + [64] * 2 + [128] * 3),  # larger is faster
        (lambda size: 1, 100, {}, [32] * 4 + [64] * 8),  # until memory is spent
        (lambda size: 1, 128, {"batch_size": 32}, [32] * 20),
        (lambda size: size, 128, {}, [32] * 4 + [64] * 2 + [32] * 12),  # larger is as fast
    ],
)
def test_batches_grow_while_that_is_faster(
    tmp_path,
    monkeypatch,
    seconds,
    at_most,
    options,
    sizes,
):
    model, clock = Standin(), [0]
    model.at_most = at_most
    monkeypatch.setattr(passes, "SHARD", 128)
    monkeypatch.setattr(passes, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def timed(found):
        clock[0] += seconds(len(found))
        return found

    model.trouble = timed
    asked = subject(tmp_path, model, **options)
    assert asked.embed(files(*range(640)))[:, 0].tolist() == [colour % 256 for colour in range(640)]
    assert [size for _, size in model.batches] == sizes
    assert (asked.done[0].batch, asked.done[0].effective) == (32, sizes[-1])


def test_what_a_model_cannot_do(tmp_path):
    model = Standin()
    only_texts = subject(tmp_path, model, row=replace(ENCODER, abilities=("embed_text",)))
    only_texts.prepare([files(1)])
    assert model.loads == 0
    for ask in (
        lambda: only_texts.embed(files(1)),
        lambda: only_texts.compare(files(1), files(1)),
        lambda: only_texts.choose([]),
        lambda: subject(tmp_path, model, row=LATE).embed(files(1)),  # many vectors an item
    ):
        with pytest.raises(CannotDo, match="made/up"):
            ask()


def test_each_ordered_pair_is_compared_once(tmp_path):
    model = Standin()
    asked = subject(tmp_path, model, row=COMPARER)
    first, second = files(1, 2, 1, 3), files(5, 1, 5, 3)
    assert asked.compare(first, second).tolist() == [7, 5, 7, 9]
    assert asked.compare(second, first).tolist() == [11, 4, 11, 9]
    assert asked.compare(first, second).dtype == np.float64
    assert model.encoded == 3 + 2  # 3 against 3 is the same either way round
    assert asked.compare(files(), files()).tolist() == []
    assert subject(tmp_path, model, row=COMPARER).compare(first, second).tolist() == [7, 5, 7, 9]
    assert model.loads == 1


def test_reading_is_never_two_at_once_and_never_far_ahead(tmp_path):
    model = Standin()
    held, most, reads = threading.Lock(), [0], [0]
    data = [file(at) for at in range(400)]

    def read(row):
        assert held.acquire(blocking=False)
        reads[0] += 1
        most[0] = max(most[0], reads[0] - model.encoded)
        held.release()
        return data[row]

    column = Column(modality="image", keys=items.images(data, of="squares").keys, read=read, name=str)
    subject(tmp_path, model, batch_size=8).prepare([column])
    assert model.encoded == reads[0] == 400
    assert most[0] <= 8 + 4 * 2 * 4 + 8 + 2 * 4
