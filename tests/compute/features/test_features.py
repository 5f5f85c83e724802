"""What is encoded, how often, and what happens to items that cannot be used; stand-ins for the models."""

from __future__ import annotations

import errno
import io
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute import items
from compute.features import LoadedSubject, passes, shards
from compute.features.store import FeatureStore
from compute.items import Column, content_key
from compute.messages import Question, Reply
from compute.models.adapter import Hardware
from compute.progress import Progress
from compute.types import BadItem, CannotDo, LikenessError, Model

CPU = Hardware(device="cpu", dtype="float32")
ENCODER = Model(key="made/up", title="Made up", abilities=("embed_image", "embed_text"))
COMPARER = Model(key="made/metric", title="Made up", abilities=("compare",))


def file(colour: int, *, size: int = 4) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (size, size), (colour % 256, colour // 256, 7)).save(held, "PNG")
    return held.getvalue()


def files(*colours: int) -> Column:
    return items.images([file(colour) for colour in colours], of="squares")


def seen(item: Any) -> np.ndarray:
    """What the stand-in makes of an item: numbers that tell items apart."""
    if isinstance(item, tuple):
        return np.concatenate([seen(part)[:2] for part in item])
    if isinstance(item, str):
        return np.array([len(item), sum(map(ord, item)), 1, 1], dtype=np.float32)
    return np.array([*item.getpixel((0, 0)), 0], dtype=np.float32)


class Standin:
    """Counts what it is given; fails where told to."""

    def __init__(self, *, multi: bool = False) -> None:
        self.settings: dict[str, Any] = {"pooling": "none"}
        self.multi_vector = multi
        self.loads = 0
        self.batches: list[tuple[str, int]] = []
        self.at_most = 10**9
        self.trouble: Callable[[np.ndarray], np.ndarray] = lambda found: found

    def load(self, row: Model, *, hardware: Hardware) -> Standin:
        self.loads += 1
        return self

    def prepare(self, modality: str, item: Any) -> np.ndarray:
        return seen(item)

    def embed(self, modality: str, prepared: Sequence[np.ndarray]) -> Any:
        if len(prepared) > self.at_most:
            raise RuntimeError("CUDA error: out of memory")
        self.batches.append((modality, len(prepared)))
        found = np.stack(prepared)
        return [np.tile(row, (int(row[0]) % 4, 1)) for row in found] if self.multi_vector else self.trouble(found)

    def compare(self, first: Sequence[Any] | None, second: Sequence[Any]) -> np.ndarray:
        self.batches.append(("compare", len(second)))
        right = np.stack([seen(item) for item in second])
        return right[:, 0] if first is None else 2 * np.stack([seen(item) for item in first])[:, 0] + right[:, 0]

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        return [Reply(item=question.item, text="A") for question in questions]

    @property
    def encoded(self) -> int:
        return sum(size for _, size in self.batches)


def subject(folder: Path, model: Standin, *, row: Model = ENCODER, hardware: Hardware = CPU,
            **options: Any) -> LoadedSubject:
    return LoadedSubject(row, store=FeatureStore(folder), hardware=hardware, load=model.load, threads=2,
                         identity=lambda row, *, hardware: {"model": row.key, "dtype": hardware.dtype}, **options)


def test_every_distinct_item_is_encoded_once_over_columns_tasks_and_runs(tmp_path: Path) -> None:
    model = Standin()
    first, second = files(1, 2, 3, 2, 1), files(3, 4, 1)
    prompts = items.texts(["a cat", "a dog", "a cat"], of="prompts")
    asked = subject(tmp_path, model)
    asked.prepare([first, prompts, second])
    assert sorted(model.batches) == [("image", 4), ("text", 2)]
    assert np.array_equal(asked.embed(first)[:, 0], [1, 2, 3, 2, 1])
    assert np.array_equal(asked.embed(second)[:, 0], [3, 4, 1])
    assert np.array_equal(asked.embed(prompts)[:, 0], [5, 5, 5])
    later = subject(tmp_path, model)
    later.prepare([first, prompts, second])
    assert np.array_equal(later.embed(second), asked.embed(second))
    assert (model.encoded, model.loads, later.done) == (6, 1, [])
    later.prepare([first, files(4, 5, 6)])
    assert (model.encoded, model.loads) == (8, 2)
    assert [(done.wanted, done.stored, done.encoded) for done in later.done] == [(6, 4, 2)]


def test_another_identity_is_another_shelf(tmp_path: Path) -> None:
    model = Standin()
    subject(tmp_path, model).embed(files(1, 2))
    subject(tmp_path, model, hardware=replace(CPU, dtype="bfloat16")).embed(files(1, 2))
    assert model.encoded == 4


def test_settings_are_known_without_loading_once_stored(tmp_path: Path) -> None:
    model = Standin()
    subject(tmp_path, model).embed(files(1))
    later = subject(tmp_path, model)
    assert later.settings["loaded"] == {"pooling": "none"} and later.settings["dtype"] == "float32"
    assert model.loads == 1
    model.settings = {"pooling": "mean"}
    with pytest.raises(LikenessError, match="pooling"):
        later.embed(files(2))


def test_texts_of_like_length_go_together_and_batches_keep_their_size(tmp_path: Path) -> None:
    model = Standin()
    lengths = np.random.default_rng(0).permutation(np.arange(1, 23))
    column = items.texts(["x" * length for length in lengths.tolist()], of="texts")
    shown: list[list[float]] = []
    model.trouble = lambda found: shown.append(found[:, 0].tolist()) or found
    found = subject(tmp_path, model, batch_size=8).embed(column)
    assert [len(batch) for batch in shown] == [8, 8, 6]
    assert sum(shown, []) == list(range(22, 0, -1))
    assert np.array_equal(found[:, 0], lengths)


def test_many_vectors_an_item(tmp_path: Path) -> None:
    model = Standin(multi=True)
    column = files(1, 2, 3, 4, 5, 2)
    asked = subject(tmp_path, model, batch_size=2)
    vectors, offsets = asked.embed_many(column)
    assert np.diff(offsets).tolist() == [1, 2, 3, 0, 1, 2]
    assert vectors[:, 0].tolist() == [1, 2, 2, 3, 3, 3, 5, 2, 2]
    with pytest.raises(CannotDo, match="many vectors"):
        asked.embed(column)


def test_an_image_with_a_text_is_one_item(tmp_path: Path) -> None:
    model = Standin()
    pairs = items.paired(files(1, 1, 2), items.texts(["a", "b", "a"], of="captions"))
    assert len(np.unique(subject(tmp_path, model).embed(pairs), axis=0)) == 3
    assert model.batches == [("pair", 3)]


def test_what_a_model_cannot_do(tmp_path: Path) -> None:
    model = Standin()
    only_texts = subject(tmp_path, model, row=replace(ENCODER, abilities=("embed_text",)))
    only_texts.prepare([files(1)])
    assert model.loads == 0
    for ask in (lambda: only_texts.embed(files(1)), lambda: only_texts.compare(None, files(1)),
                lambda: only_texts.choose([])):
        with pytest.raises(CannotDo, match="made/up"):
            ask()


def test_each_ordered_pair_is_compared_once(tmp_path: Path) -> None:
    model = Standin()
    asked = subject(tmp_path, model, row=COMPARER)
    first, second = files(1, 2, 1, 3), files(5, 1, 5, 3)
    assert asked.compare(first, second).tolist() == [7, 5, 7, 9]
    assert asked.compare(second, first).tolist() == [11, 4, 11, 9]
    assert asked.compare(None, first).tolist() == [1, 2, 1, 3]
    assert asked.compare(first, second).dtype == np.float64
    assert model.encoded == 3 + 2 + 3  # 3 against 3 is the same either way round
    assert asked.compare(files(), files()).tolist() == []
    assert subject(tmp_path, model, row=COMPARER).compare(first, second).tolist() == [7, 5, 7, 9]
    assert model.loads == 1


def test_replies_are_passed_through(tmp_path: Path) -> None:
    asked = subject(tmp_path, Standin(), row=replace(COMPARER, abilities=("choose",)))
    assert asked.choose([Question(item="q1", parts=("?",))]) == [Reply(item="q1", text="A")]


BROKEN = items.images([file(1), file(2), file(3)[:45], file(4), b"", file(5)], of="squares")


def test_a_bad_item_is_named_and_what_was_encoded_before_is_kept(tmp_path: Path) -> None:
    model = Standin()
    with pytest.raises(BadItem, match="squares, image 2: a damaged image") as caught:
        subject(tmp_path, model, batch_size=2).prepare([BROKEN])
    assert caught.value.key == BROKEN.keys[2]
    assert model.batches == [("image", 2)]
    found = subject(tmp_path, model).embed(BROKEN.take(np.array([1, 0, 3])))
    assert found[:, 0].tolist() == [2, 1, 4]
    assert model.batches == [("image", 2), ("image", 1)]


def test_bad_items_are_left_out_now_and_on_later_runs(tmp_path: Path) -> None:
    model = Standin()
    asked = subject(tmp_path, model, skip_bad=True)
    asked.prepare([BROKEN])
    assert asked.bad == {BROKEN.keys[2]: asked.bad[BROKEN.keys[2]], BROKEN.keys[4]: "an empty file"}
    assert "damaged" in asked.bad[BROKEN.keys[2]]
    with pytest.raises(BadItem, match="squares, image 2"):
        asked.embed(BROKEN)
    good = BROKEN.take(np.array([0, 1, 3, 5]))
    assert asked.embed(good)[:, 0].tolist() == [1, 2, 4, 5]

    later = subject(tmp_path, model, skip_bad=True)
    later.prepare([BROKEN])
    assert later.bad == asked.bad
    with pytest.raises(BadItem, match="squares, image 2"):
        subject(tmp_path, model).prepare([BROKEN])
    assert (model.encoded, model.loads) == (4, 1)
    again = subject(tmp_path, model, skip_bad=True, retry_bad=True)
    again.prepare([BROKEN])
    assert again.bad == asked.bad
    assert (model.encoded, model.loads, again.done[0].bad) == (4, 2, 2)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_caption(tmp_path: Path, text: str) -> None:
    column = items.texts(["a cat", text], of="captions")
    with pytest.raises(BadItem, match="captions, text 1: an empty text"):
        subject(tmp_path, Standin()).embed(column)
    asked = subject(tmp_path, Standin(), skip_bad=True)
    asked.prepare([column])
    assert asked.bad == {content_key(text): "an empty text"}


@pytest.mark.parametrize("multi", [False, True])
def test_values_that_are_not_finite(tmp_path: Path, multi: bool) -> None:
    model = Standin(multi=multi)
    column = files(1, 2, 3)

    def spoilt(modality: str, prepared: Sequence[np.ndarray]) -> Any:
        rows = [np.where(row[0] == 2, np.nan, row) for row in prepared]
        return [row[None] for row in rows] if multi else np.stack(rows)

    model.embed = spoilt
    with pytest.raises(BadItem, match="squares, image 1: .*not finite"):
        subject(tmp_path, model).prepare([column])
    asked = subject(tmp_path, model, skip_bad=True)
    asked.prepare([column])
    assert list(asked.bad) == [column.keys[1]]
    assert asked.embed_many(column.take(np.array([2, 0])))[0][:, 0].tolist() == [3, 1]


def test_what_preprocessing_refuses_is_a_bad_item_and_other_errors_are_not(tmp_path: Path) -> None:
    model = Standin()
    model.prepare = lambda modality, item: int("wide")
    with pytest.raises(BadItem, match="squares, image 0: refused by the model's preprocessing"):
        subject(tmp_path, model).embed(files(1))
    model.prepare = lambda modality, item: None + 1
    with pytest.raises(TypeError):
        subject(tmp_path, model).embed(files(2))


def test_a_metric_finds_bad_items_before_it_compares(tmp_path: Path) -> None:
    model = Standin()
    asked = subject(tmp_path, model, row=COMPARER, skip_bad=True)
    asked.prepare([BROKEN, files(1, 9)])
    assert list(asked.bad) == [BROKEN.keys[2], BROKEN.keys[4]]
    assert model.loads == 0
    with pytest.raises(BadItem, match="^squares, image 2: ") as caught:
        asked.compare(files(*range(6)), BROKEN)
    assert caught.value.key == BROKEN.keys[2]
    other = subject(tmp_path, Standin(), row=replace(COMPARER, key="made/other"), skip_bad=True)
    other.prepare([BROKEN])
    assert other.bad == asked.bad and other.done == []  # what a file is does not depend on the model


def test_an_infinite_score_is_one_and_no_score_is_none(tmp_path: Path) -> None:
    model = Standin()
    model.compare = lambda first, second: np.where(np.stack([seen(item) for item in second])[:, 0] == 1, np.inf, np.nan)
    asked = subject(tmp_path, model, row=COMPARER)
    assert asked.compare(None, files(1)).tolist() == [np.inf]
    with pytest.raises(BadItem, match="squares, image 1 against squares, image 1: .*not finite") as caught:
        asked.compare(files(5, 5), files(1, 2))
    assert caught.value.key == files(2).keys[0]


def test_a_spent_memory_halves_the_batch_and_goes_on(tmp_path: Path) -> None:
    model = Standin()
    model.at_most = 3
    column = files(*range(40))
    asked = subject(tmp_path, model, batch_size=16)
    assert asked.embed(column)[:, 0].tolist() == list(range(40))
    assert asked.done[0].effective == 2 and asked.done[0].batch == 16
    assert "batch 2 instead of 16" in asked.done[0].line("image")
    assert model.batches == [("image", 2)] * 20
    asked.embed(files(*range(50, 56)))
    assert model.batches[20:] == [("image", 2)] * 3
    model.at_most = 0
    with pytest.raises(LikenessError, match="cpu has too little memory for a single item"):
        asked.embed(files(99))


def test_a_wrong_shape_is_told_of(tmp_path: Path) -> None:
    model = Standin()
    model.trouble = lambda found: found[:1]
    with pytest.raises(LikenessError, match=r"made/up: its adapter gave an array of shape \(1, 4\) for 3 items"):
        subject(tmp_path, model).embed(files(1, 2, 3))


def test_a_full_disk_keeps_what_was_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Standin()
    column = files(*range(12))
    monkeypatch.setattr(passes, "FLUSH_SECONDS", 0)
    write, written = shards.put, []

    def fills(handle: Any, data: bytes) -> None:
        written.append(len(data))
        if len(written) > 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(handle, data)

    with monkeypatch.context() as patched:
        patched.setattr(shards, "put", fills)
        with pytest.raises(LikenessError, match=f"{tmp_path}.*No space left.*run again"):
            subject(tmp_path, model, batch_size=2).embed(column)
    before = model.encoded
    assert before < 12
    found = subject(tmp_path, model, batch_size=2).embed(column)
    assert found[:, 0].tolist() == list(range(12))
    assert model.encoded < 12 + before
    assert not list(tmp_path.rglob("*.draft"))


def test_ctrl_c_stops_the_threads_and_can_be_taken_up(tmp_path: Path) -> None:
    model = Standin()
    column = files(*range(300))

    def interrupted(found: np.ndarray) -> np.ndarray:
        if model.encoded == 40:
            raise KeyboardInterrupt
        return found

    model.trouble = interrupted
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        subject(tmp_path, model, batch_size=8).prepare([column])
    assert time.perf_counter() - began < 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("prepare")]
    model.trouble = lambda found: found
    assert subject(tmp_path, model, batch_size=8).embed(column)[:, 0].tolist() == [at % 256 for at in range(300)]
    assert model.encoded == 300 + 8


def test_reading_is_never_two_at_once_and_never_far_ahead(tmp_path: Path) -> None:
    model = Standin()
    held, most, reads = threading.Lock(), [0], [0]
    data = [file(at) for at in range(400)]

    def read(row: int) -> bytes:
        assert held.acquire(blocking=False)
        reads[0] += 1
        most[0] = max(most[0], reads[0] - model.encoded)
        held.release()
        return data[row]

    column = Column(modality="image", keys=items.images(data, of="squares").keys, read=read, name=str)
    subject(tmp_path, model, batch_size=8).prepare([column])
    assert model.encoded == reads[0] == 400
    assert most[0] <= 8 + 4 * 2 * 4 + 8 + 2 * 4


def test_nothing_is_prepared_while_a_model_runs_on_the_same_cores(tmp_path: Path) -> None:
    model = Standin()
    runs, together = threading.Event(), []

    def prepare(modality: str, item: Any) -> np.ndarray:
        together.append(runs.is_set())
        return seen(item)

    def embed(modality: str, prepared: Sequence[np.ndarray]) -> np.ndarray:
        time.sleep(0.01)  # what was in hand when the model began is finished
        runs.set()
        time.sleep(0.01)
        runs.clear()
        return np.stack(prepared)

    model.prepare, model.embed = prepare, embed
    subject(tmp_path, model, row=replace(ENCODER, weights="made/up"), batch_size=8).prepare([files(*range(64))])
    assert len(together) == 64 and not any(together)


def test_a_file_that_cannot_be_read_is_no_bad_item(tmp_path: Path) -> None:
    def read(row: int) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    column = Column(modality="image", keys=files(1).keys, read=read, name=lambda row: f"photos, image {row}")
    asked = subject(tmp_path, Standin(), skip_bad=True)
    with pytest.raises(LikenessError, match="photos, image 0: cannot be read") as caught:
        asked.prepare([column])
    assert not isinstance(caught.value, BadItem) and asked.bad == {}


def test_a_pass_says_what_it_did(tmp_path: Path) -> None:
    lines: list[str] = []
    asked = subject(tmp_path, Standin(), progress=Progress(say=lines.append))
    asked.prepare([files(1, 2, 2)])
    assert len(lines) == 1 and lines[0].startswith("made/up, image: 2 images in ")


def test_an_encoder_by_default_comes_from_the_models(tmp_path: Path) -> None:
    """Loading and identity are those of compute.models where nothing else is given."""
    import compute.models

    asked = LoadedSubject(ENCODER, store=FeatureStore(tmp_path), hardware=CPU)
    assert asked.can("embed_image") and not asked.can("choose")
    if hasattr(compute.models, "ADAPTERS"):
        with pytest.raises(LikenessError):
            asked.embed(files(1))
