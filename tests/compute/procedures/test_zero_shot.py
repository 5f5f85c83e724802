"""Items by hand; accuracies are compared with the public code in tests/compute/test_parity.py."""

import numpy as np

from compute.content.items import texts
from compute.procedures import zero_shot
from compute.tasks.data import ZeroShot
from tests.compute.procedures.known import BOTH, Known, labelled


def test_the_nearest_prompt_and_of_equal_ones_the_first_class(monkeypatch):
    monkeypatch.setattr(zero_shot, "SCORES", 6)  # several blocks, the last one short
    east, north, known = [0.8, 0.6], [0.6, 0.8], {"east": [1, 0], "north": [0, 1]}
    test = labelled([east, north, east, east, north], np.array([0, 1, 1, 2, 2]), "i", classes=3, known=known)
    data = ZeroShot(test=test, prompts=texts(["east", "north", "east"], of="tests"))
    found = zero_shot.run(Known(known, abilities=BOTH), data, {})
    items = found.items
    assert items["expected"].tolist() == [f"class {at}" for at in (0, 1, 1, 2, 2)]
    assert items["answer"].tolist() == [f"class {at}" for at in (0, 1, 0, 0, 1)]
    assert items["correct"].tolist() == [True, True, False, False, False]
    np.testing.assert_allclose(items["value"], [0, 0.2, -0.2, 0, -0.2], atol=1e-6)
    assert found.settings == {"prompts": 3, "distinct_prompts": 2, "tied": 2}
    detail = items["detail"][1]
    assert detail["hits"] == ["class 1", "class 0", "class 2"] and detail["images"] == [test.items.keys[1].decode()]
    np.testing.assert_allclose(detail["scores"], [0.8, 0.6, 0.6], atol=1e-6)
