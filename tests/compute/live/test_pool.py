"""Models in memory: loaded once, within a budget, the least recently used let go; and what visitors are told of files
that cannot be read."""

import shutil
import threading
from collections import Counter

import pytest
from safetensors import SafetensorError

from compute.catalog import shipped
from compute.catalog.own import models as own_models
from compute.live import pool as module
from compute.live.pool import CHANGED, Pool, load
from compute.models.own.checkpoints import from_folder
from compute.types import BadInput, LikenessError, Model, NotHere
from tests.compute.models import checkpoints

ROW = next(row for row in shipped().models if row.key == "laion/clip-vit-b-32-laion2b-s34b-b79k")


def row(key, size=40):
    return Model(key=key, title=key.upper(), parameters_m=size)


class Loader:
    """Counts loads; one can be held up until `go` is set."""

    def __init__(self):
        self.loads = Counter()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, model):
        self.loads[model.key] += 1
        assert self.go.wait(10)
        if model.key == "broken":
            raise NotHere("no weights")
        return f"model {model.key}"


@pytest.fixture
def loader():
    return Loader()


@pytest.fixture
def pool(loader, monkeypatch):
    monkeypatch.setattr(module, "resident", lambda: 0)
    return Pool(load=loader, size=lambda model: int(model.parameters_m or 0), budget=lambda: 100)


def used(pool, *rows):
    for one in rows:
        with pool.use(one) as model:
            assert model == f"model {one.key}"


def test_the_least_recently_used_goes(pool, loader):
    used(pool, row("a"), row("b"), row("a"), row("c"))
    assert pool.loaded() == ("a", "c")
    used(pool, row("b"))
    assert pool.loaded() == ("c", "b")
    assert loader.loads == {"a": 1, "b": 2, "c": 1}


def test_many_at_once_load_it_once(pool, loader):
    loader.go.clear()
    threads = [threading.Thread(target=used, args=(pool, row("a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    loader.go.set()
    for thread in threads:
        thread.join(10)
    assert loader.loads == {"a": 1}


def test_a_model_at_work_stays(pool):
    with pool.use(row("a", 60)):
        used(pool, row("b", 60))
        assert set(pool.loaded()) == {"a", "b"}  # over the budget rather than pulled away from under its user
    used(pool, row("c", 60))
    assert pool.loaded() == ("c",)


def test_too_large_is_said_before_it_is_loaded_and_a_failed_load_can_be_tried_again(pool, loader):
    for model, said in ((row("huge", 101), "HUGE takes about .* memory"), *[(row("broken"), "no weights")] * 2):
        with pytest.raises(NotHere, match=said), pool.use(model):
            pass
    assert loader.loads == {"broken": 2} and pool.loaded() == ()


def test_what_a_model_really_takes_counts(loader, monkeypatch):
    taken = iter((0, 90, 90, 95))  # before and after each of two loads
    monkeypatch.setattr(module, "resident", lambda: next(taken))
    pool = Pool(load=loader, size=lambda model: None, budget=lambda: 93)
    used(pool, row("a"), row("b"))
    assert pool.loaded() == ("b",)


def test_the_budget_is_half_of_what_is_free_unless_it_is_set(monkeypatch):
    monkeypatch.setattr(module, "available", lambda: 10_000)
    monkeypatch.delenv(module.VARIABLE, raising=False)
    assert module.budget() == 5_000
    monkeypatch.setenv(module.VARIABLE, "300")
    assert module.budget() == 300_000_000


def test_what_is_free_is_the_containers_or_the_machines(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CGROUP", tmp_path)
    monkeypatch.setattr(module, "NVIDIA", tmp_path / "none")
    monkeypatch.setattr(module.sys, "modules", {})
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert module.available() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert module.available() > 3000
    monkeypatch.setattr(module, "MEMINFO", tmp_path / "none")  # as on macOS: half of what the machine has
    monkeypatch.setattr(module.os, "sysconf", {"SC_PHYS_PAGES": 4_000_000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert module.available() == 8_192_000_000


def test_damaged_weights_are_a_sentence_and_a_line_of_the_log(tmp_path, monkeypatch, caplog):
    def damaged(row, hardware):
        raise SafetensorError(f"{tmp_path} is cut")

    monkeypatch.setattr("compute.models.load", damaged)
    with pytest.raises(LikenessError) as raised:
        load(ROW)
    assert str(raised.value).startswith("It could not be loaded (SafetensorError): its files are damaged")
    assert str(tmp_path) not in str(raised.value) and f"{ROW.key} could not be loaded" in caplog.text


def recorded(folder):
    made = from_folder(folder)
    return own_models.record(made.row, digest=made.digest, results=folder.parent / "results", source=made.source)


def test_files_that_changed_since_they_were_recorded_are_not_read(tmp_path, monkeypatch):
    """Else the Try page would show other numbers than the board, under one key."""
    row = recorded(checkpoints.clip(tmp_path / "mine"))
    assert load(row).settings["revision"] == row.revision
    monkeypatch.setattr("compute.models.load", lambda row, hardware: pytest.fail("its files were read"))
    other = checkpoints.clip(tmp_path / "other", seed=1)
    shutil.copy(other / "model.safetensors", tmp_path / "mine")
    with pytest.raises(BadInput, match=CHANGED):
        load(row)
    (tmp_path / "mine" / "model.safetensors").unlink()
    with pytest.raises(BadInput, match=CHANGED):
        load(row)


@pytest.mark.parametrize("changed", ["base", "tuned"])
def test_of_a_lora_neither_its_files_nor_those_of_its_base_may_change(tmp_path, changed):
    base = checkpoints.clip(tmp_path / "base")
    row = recorded(checkpoints.lora(base, tmp_path / "tuned", ["q_proj"]))
    assert load(row).settings["revision"] == row.revision
    for file in (tmp_path / changed).glob("*.json"):
        file.write_text(file.read_text() + " ")
    with pytest.raises(BadInput, match=CHANGED):
        load(row)
