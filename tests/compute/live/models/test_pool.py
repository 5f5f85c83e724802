"""Models in memory: loaded once, within a budget, the least recently used let go."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from compute.live.models.pool import Pool
from compute.types import Model, NotHere


def row(key: str, size: int = 40) -> Model:
    return Model(key=key, title=key.upper(), parameters_m=size)


class Loader:
    """Counts loads; one can be held up until `go` is set."""

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, model: Model) -> str:
        self.loads[model.key] += 1
        assert self.go.wait(10)
        if model.key == "broken":
            raise NotHere("no weights")
        return f"model {model.key}"


@pytest.fixture
def loader() -> Loader:
    return Loader()


@pytest.fixture
def pool(loader: Loader, monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.setattr("compute.live.models.memory.resident", lambda: 0)
    return Pool(load=loader, size=lambda model: int(model.parameters_m or 0), budget=lambda: 100)


def used(pool: Pool, *rows: Model) -> None:
    for one in rows:
        with pool.use(one) as model:
            assert model == f"model {one.key}"


def test_the_least_recently_used_goes(pool: Pool, loader: Loader) -> None:
    used(pool, row("a"), row("b"), row("a"), row("c"))
    assert pool.loaded() == ("a", "c")
    used(pool, row("b"))
    assert pool.loaded() == ("c", "b")
    assert loader.loads == {"a": 1, "b": 2, "c": 1}


def test_many_at_once_load_it_once(pool: Pool, loader: Loader) -> None:
    loader.go.clear()
    threads = [threading.Thread(target=used, args=(pool, row("a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    loader.go.set()
    for thread in threads:
        thread.join(10)
    assert loader.loads == {"a": 1}


def test_a_model_at_work_stays(pool: Pool) -> None:
    with pool.use(row("a", 60)):
        used(pool, row("b", 60))
        assert set(pool.loaded()) == {"a", "b"}  # over the budget rather than pulled away from under its user
    used(pool, row("c", 60))
    assert pool.loaded() == ("c",)


def test_too_large_is_said_before_it_is_loaded(pool: Pool, loader: Loader) -> None:
    with (
        pytest.raises(NotHere, match="HUGE takes about .* of memory, and .* set aside for models"),
        pool.use(row("huge", 101)),
    ):
        pass
    assert not loader.loads


def test_a_failed_load_can_be_tried_again(pool: Pool, loader: Loader) -> None:
    for _ in range(2):
        with pytest.raises(NotHere, match="no weights"), pool.use(row("broken")):
            pass
    assert loader.loads["broken"] == 2
    assert pool.loaded() == ()


def test_what_a_model_really_takes_counts(loader: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter((0, 90, 90, 95))  # before and after each of two loads
    monkeypatch.setattr("compute.live.models.memory.resident", lambda: next(taken))
    pool = Pool(load=loader, size=lambda model: None, budget=lambda: 93)
    used(pool, row("a"), row("b"))
    assert pool.loaded() == ("b",)
