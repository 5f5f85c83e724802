"""What happens to items that cannot be used, to full disks, spent memory and interrupts; stand-ins for the models."""

import numpy as np
import pytest

from compute.content import items
from compute.types import BadItem, LikenessError
from tests.compute.features.standin import COMPARER, ENCODER, LATE, Standin, file, files, seen, subject

BROKEN = items.images([file(1), file(2), file(3)[:45], file(4), b"", file(5)], of="squares")


def test_a_bad_item_is_named_and_what_was_encoded_before_is_kept(tmp_path):
    model = Standin()
    with pytest.raises(BadItem, match="squares, image 2: a damaged image") as caught:
        subject(tmp_path, model, batch_size=2).prepare([BROKEN])
    assert caught.value.key == BROKEN.keys[2]
    assert model.batches == [("image", 2)]
    found = subject(tmp_path, model).embed(BROKEN.take(np.array([1, 0, 3])))
    assert found[:, 0].tolist() == [2, 1, 4]
    assert model.batches == [("image", 2), ("image", 1)]


def test_bad_items_are_left_out_and_tried_by_the_next_run(tmp_path):
    model = Standin()
    for loads in (1, 2):
        asked = subject(tmp_path, model, skip_bad=True)
        for _ in range(2):
            asked.prepare([BROKEN])
        assert asked.bad == {BROKEN.keys[2]: asked.bad[BROKEN.keys[2]], BROKEN.keys[4]: "an empty file"}
        assert "damaged" in asked.bad[BROKEN.keys[2]]
        assert (model.encoded, model.loads, len(asked.done), asked.done[0].bad) == (4, loads, 1, 2)
        with pytest.raises(BadItem, match="squares, image 2"):
            asked.embed(BROKEN)
    with pytest.raises(BadItem, match="squares, image 2"):
        subject(tmp_path, model).prepare([BROKEN])


@pytest.mark.parametrize("multi", [False, True])
def test_values_that_are_not_finite(tmp_path, multi):
    model, row = Standin(), LATE if multi else ENCODER
    column = files(1, 2, 3)

    def spoilt(modality, prepared):
        rows = [np.where(row[0] == 2, np.nan, row) for row in prepared]
        return [row[None] for row in rows] if multi else np.stack(rows)

    model.embed = spoilt
    with pytest.raises(BadItem, match="squares, image 1: .*not finite"):
        subject(tmp_path, model, row=row).prepare([column])
    asked = subject(tmp_path, model, row=row, skip_bad=True)
    asked.prepare([column])
    assert list(asked.bad) == [column.keys[1]]
    left = column.take(np.array([2, 0]))
    found = asked.embed_many(left).read(np.arange(2)) if multi else asked.embed(left)
    assert np.reshape(found, (2, -1))[:, 0].tolist() == [3, 1]


def test_what_preprocessing_refuses_is_a_bad_item_and_other_errors_are_not(tmp_path):
    model = Standin()
    model.prepare = lambda modality, item: int("wide")
    with pytest.raises(BadItem, match="squares, image 0: refused by the model's preprocessing"):
        subject(tmp_path, model).embed(files(1))
    model.prepare = lambda modality, item: None + 1
    with pytest.raises(TypeError):
        subject(tmp_path, model).embed(files(2))


def test_a_comparison_names_the_side_that_cannot_be_used(tmp_path):
    with pytest.raises(BadItem, match="^squares, image 2: ") as caught:
        subject(tmp_path, Standin(), row=COMPARER, skip_bad=True).compare(files(*range(6)), BROKEN)
    assert caught.value.key == BROKEN.keys[2]


def test_an_infinite_score_is_one_and_no_score_is_none(tmp_path):
    model = Standin()
    model.compare = lambda first, second: np.where(np.stack([seen(item) for item in second])[:, 0] == 1, np.inf, np.nan)
    asked = subject(tmp_path, model, row=COMPARER)
    assert asked.compare(files(5), files(1)).tolist() == [np.inf]
    with pytest.raises(BadItem, match="squares, image 1 against squares, image 1: .*not finite") as caught:
        asked.compare(files(5, 5), files(1, 2))
    assert caught.value.key == files(2).keys[0]


def test_a_spent_memory_halves_the_batch_and_goes_on(tmp_path):
    model = Standin()
    model.at_most = 3
    column = files(*range(40))
    asked = subject(tmp_path, model, batch_size=16)
    assert asked.embed(column)[:, 0].tolist() == list(range(40))
    assert asked.done[0].effective == 2 and asked.done[0].batch == 16
    assert model.batches == [("image", 2)] * 20
    asked.embed(files(*range(50, 56)))
    assert model.batches[20:] == [("image", 2)] * 3
    model.at_most = 0
    with pytest.raises(LikenessError, match="cpu has too little memory for a single item"):
        asked.embed(files(99))
