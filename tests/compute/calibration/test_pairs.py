"""Which pairs of a task's items match, and that drawn unrelated ones do not."""

from __future__ import annotations

import numpy as np

from compute.calibration import pairs
from compute.calibration.pairs import Pairs, PairSample, deranged, matching, material
from compute.content.items import Column, images, texts
from compute.tasks.data import Choices, Mixed, Retrieval

N = 40


def pictures(letter: str, count: int = N) -> Column:
    return images([f"{letter}{row}".encode() for row in range(count)], of=letter)


def words(letter: str, count: int = N) -> Column:
    return texts([f"{letter}{row}" for row in range(count)], of=letter)


def choices(reference: Column, right: Column, wrong: Column) -> Choices:
    """Of images; the right alternative is the second in every other row."""
    answer = np.arange(len(right)) % 2
    both = [[(right, wrong)[int(at != place)].read(row) for row, at in enumerate(answer)] for place in range(2)]
    return Choices(
        names=tuple(map(str, range(len(right)))),
        reference=reference,
        answer=answer,
        alternatives=tuple(images(side, of="alternative") for side in both),
    )


def of_side(column: Column) -> Mixed:
    given = {column.modality: column, f"{column.modality}_at": np.arange(len(column))}
    return Mixed(names=tuple(map(str, range(len(column)))), **given)


def contents(columns: tuple[Column, ...]) -> list[tuple]:
    return [tuple(column.read(row) for column in columns) for row in range(len(columns[0]))]


def read(found: Pairs) -> list[tuple]:
    return contents(found.take(found.rows))


def drawn(data: Choices | Retrieval, *, most: int = 1000) -> dict[str, list[PairSample]]:
    return material({"t": {"default": data}}, most=most, seed=0)


def test_a_reference_matches_its_right_alternative():
    data = choices(words("r"), pictures("a"), pictures("b"))
    [found] = matching(data)
    assert found.pairing == "image-text" and read(found) == [(f"r{row}", f"a{row}".encode()) for row in range(N)]
    quality = Choices(names=data.names, alternatives=data.alternatives, answer=data.answer, question="quality")
    assert matching(quality) == []


def test_queries_match_relevant_documents_and_texts_of_one_image_match():
    """Query 0 has two captions, one of grade 0; query 2 is an image with a text, which is in no pair."""
    data = Retrieval(
        queries=Mixed(
            names=("0", "1", "2"),
            image=pictures("q", 3),
            image_at=np.arange(3),
            text=words("t", 1),
            text_at=np.array([-1, -1, 0]),
        ),
        documents=of_side(words("d", 4)),
        relevant=(np.array([0, 0, 0, 1, 2]), np.array([0, 1, 3, 2, 3]), np.array([1, 2, 0, 1, 1])),
    )
    across, of_one = matching(data)
    assert read(across) == [(b"q0", "d0"), (b"q0", "d1"), (b"q1", "d2")]
    assert read(of_one) == [("d0", "d1")] and of_one.pairing == "text-text"
    rows = np.arange(4)
    assert across.related(np.array([0, 1]), rows).tolist() == [[True, True, False, True], [False, False, True, False]]
    assert of_one.related(np.array([0, 2]), np.array([1, 2])).tolist() == [[True, False], [False, True]]


def test_unrelated_pairs_are_of_the_same_items_and_never_match():
    """Each image is near two others: as relevant, or as ignored, or as the same content under another row."""
    twice = images([f"d{row // 2}".encode() for row in range(2 * N)], of="documents")
    query, document = np.repeat(np.arange(N), 2), np.arange(2 * N)
    data = Retrieval(
        queries=of_side(pictures("q")),
        documents=of_side(twice),
        relevant=(query, document, np.ones(2 * N)),
        ignored=(np.arange(N), (2 * np.arange(N) + 2) % (2 * N)),
    )
    [sample] = drawn(data)["image-image"]
    alike, other = contents(sample.matching), contents(sample.unrelated)
    assert sorted(alike) == sorted((f"q{row}".encode(), f"d{row}".encode()) for row in range(N))
    assert len(set(other)) == len(other) == N and set(other).isdisjoint(alike)
    assert {first for first, _ in other} == {first for first, _ in alike}
    assert {second for _, second in other} == {second for _, second in alike}
    near = {(f"q{row}".encode(), f"d{(row + 1) % N}".encode()) for row in range(N)}
    assert near.isdisjoint(other)


def test_an_item_is_no_pair_with_itself():
    same = pictures("a")
    data = Retrieval(
        queries=of_side(same),
        documents=of_side(same),
        relevant=(np.repeat(np.arange(N), 2), np.arange(2 * N) // 2 ^ np.arange(2 * N) % 2, np.ones(2 * N)),
    )
    [sample] = drawn(data)["image-image"]
    assert len(sample.matching[0]) == N // 2, "a pair in both orders is one"
    assert all(first != second for first, second in contents(sample.matching) + contents(sample.unrelated))


def test_the_draw_follows_from_the_seed_and_tasks_share_it():
    held = {
        "small": {"default": choices(words("r", 10), pictures("a", 10), pictures("b", 10))},
        "large": {"default": choices(words("s"), pictures("c"), pictures("d"))},
        "again": {wrong: choices(words("u"), pictures("e"), pictures(wrong)) for wrong in "fg"},
    }

    def draw(seed: int = 0, most: int = 50) -> dict[str, list[tuple]]:
        found = material(held, most=most, seed=seed)["image-text"]
        return {one.task: contents(one.matching) + contents(one.unrelated) for one in found}

    assert {task: len(rows) for task, rows in draw().items()} == {"small": 20, "large": 40, "again": 40}
    assert draw() == draw() and draw()["large"] != draw(1)["large"]
    assert {task: len(rows) for task, rows in draw(most=1000).items()} == {"small": 20, "large": 2 * N, "again": 2 * N}


def test_single_images_are_all_alternatives_once():
    sides = pictures("a"), images([b"a0", *(f"b{row}".encode() for row in range(1, N))], of="b")
    data = Choices(
        names=tuple(map(str, range(N))), alternatives=sides, answer=np.zeros(N, dtype=int), question="sharpness"
    )
    found = drawn(data)
    assert list(found) == ["sharpness"] and all(one.matching == () for one in found["sharpness"])
    keys = [key for one in found["sharpness"] for key in one.unrelated[0].keys.tolist()]
    assert len(keys) == len(set(keys)) == 2 * N - 1
    assert pairs.count(found["sharpness"]) == (0, 2 * N - 1)
    assert pairs.count(drawn(data, most=30)["sharpness"]) == (0, 30)


def test_a_derangement_avoids_what_belongs_together():
    for seed in range(20):
        lots = np.random.default_rng(seed)
        together = np.eye(12, dtype=bool) | (lots.random((12, 12)) < 0.4)
        order = deranged(together, lots)
        there = np.flatnonzero(order >= 0)
        assert not together[there, order[there]].any() and len(set(order[there].tolist())) == len(there) >= 11
    assert deranged(np.ones((3, 3), dtype=bool), np.random.default_rng(0)).tolist() == [-1] * 3
    assert deranged(np.eye(2, dtype=bool), np.random.default_rng(0)).tolist() == [1, 0]
    assert deranged(np.zeros((0, 0), dtype=bool), np.random.default_rng(0)).tolist() == []
