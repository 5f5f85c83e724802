"""The ground truth's reader against Python's own pickle (which only these tests run, on what they wrote themselves)."""

import pickle

import numpy as np
import pytest

from compute.tasks.unisim import ground_truth
from compute.types import BadInput

TRUTH = {
    "imlist": ["all_souls_000013", "bodleian_1"],
    "qimlist": ["query"],
    "gnd": [{"bbx": [1.5, 2.0, 3.25, 4.0], "easy": [0, 1, 70000], "hard": [], "junk": [5_000_000_000]}],
}


def test_plain_data_of_every_protocol():
    for protocol in range(5):
        assert ground_truth.read(pickle.dumps(TRUTH, protocol=protocol), of="truth") == TRUTH


@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_and_numbers_of_numpy(protocol):
    box = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    whole = {"easy": np.array([3, 1, 2]), "bbx": box, "one": np.float64(1.5), "again": [np.int64(7)] * 2}
    found = ground_truth.read(pickle.dumps(whole, protocol=protocol), of="truth")
    assert found["easy"].tolist() == [3, 1, 2]
    assert found["bbx"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (found["one"], found["again"]) == (1.5, [7, 7])


class Trap:
    """What a hostile pickle would hold: a call on loading."""

    def __reduce__(self):
        return (print, ("ran",))


HOSTILE = [Trap(), {"gnd": [Trap()]}, np.array([Trap()], dtype=object), np.random.default_rng]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_anything_that_could_run_is_refused_and_does_not_run(hostile, capsys):
    with pytest.raises(BadInput, match="truth"):
        ground_truth.read(pickle.dumps(hostile, protocol=2), of="truth")
    assert capsys.readouterr().out == ""


def test_cut_and_random_files_are_damaged_not_a_crash():
    data = pickle.dumps(TRUTH, protocol=2)
    for length in range(0, len(data) - 1, 7):
        with pytest.raises(BadInput, match="truth"):
            ground_truth.read(data[:length], of="truth")
    random = np.random.default_rng(0)
    for _ in range(50):
        noise = random.integers(0, 256, size=int(random.integers(1, 60)), dtype=np.uint8).tobytes()
        try:
            ground_truth.read(noise, of="truth")
        except BadInput:
            continue
