"""The dry run: counted where the items are here, about where they are not, and what is not known is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compute import tasks
from compute.engine import estimate, plan, run
from compute.engine.bench import Bench
from compute.tasks.source import Need
from compute.types import Model, NotHere
from tests.compute.small_bench import CATALOG, TASKS, World, data


def estimated(world: World, bench: Bench | None = None, *, only: tuple[str, ...] = (), model: str = "small/dim"):
    bench = bench or world.bench()
    planned = plan.make(CATALOG, suite="small", models=[model], tasks=only, bench=bench, results=world.folder / "r")
    found = estimate.estimate(planned, bench=bench)
    return *found, "\n".join(estimate.lines(planned, *found, results=world.folder / "r"))


def need(**changes: object) -> Need:
    return Need(
        **{
            "repo": "made/up",
            "revision": "c" * 40,
            "bytes": None,
            "present": False,
            "images": None,
            "texts": None,
            **changes,
        }
    )


def test_what_is_here_is_counted_and_shared_contents_once(world: World) -> None:
    _, [work], said = estimated(world)
    columns = [column for task in TASKS for column in tasks.columns(data(task))]
    distinct = len({(column.modality, key) for column in columns for key in column.keys.tolist()})
    assert (work.items, work.exact, work.unknown, work.vectors) == (distinct, True, 0, distinct * 4 * 4)
    assert f"{distinct} x 4 x 4 bytes" in said and "about 156" not in said


def test_what_is_encoded_is_not_encoded_again(world: World) -> None:
    bench = world.bench()
    planned = plan.make(
        CATALOG, suite="small", models=["small/dim"], tasks=["unisim/near"], bench=bench, results=world.folder / "r"
    )
    run.execute(planned, bench=bench, results=world.folder / "r")
    before = world.encoded
    _, [work], said = estimated(world)
    assert work.runs == 6 and work.items == 156 - before and world.encoded == before
    assert "Stored already:\n  small/dim, unisim/near: " in said


def test_what_is_not_here_is_about(world: World) -> None:
    def missing(task) -> Need:
        if task.key == "unisim/near":
            return need(bytes=5_000_000, images=30)
        return need(repo="made/other") if task.key == "unisim/said" else need(repo="", present=True, images=4, texts=0)

    shown, [work], said = estimated(world, replace(world.bench(), need=missing))
    assert not work.exact and work.unknown == 1
    assert "about 5.0 MB" in said and "about 30" in said and "size unknown" in said and "made at run time" in said
    assert "1 of unknown size" in said and "2 data sets to fetch, about 5.0 MB" in said
    assert {one.task.key: one.exact for one in shown}["unisim/fine"]


def test_data_of_which_nothing_can_be_told_is_named(world: World) -> None:
    def missing(task) -> Need:
        raise NotHere("no loader for it")

    _, [work], said = estimated(world, replace(world.bench(), need=missing), only=("unisim/odd",))
    assert "unisim/odd: no loader for it" in said and work.unknown == 1


def test_large_data_is_not_read_to_be_counted(world: World) -> None:
    large = need(bytes=estimate.EXACT_BELOW + 1, present=True, images=7, texts=0)
    bench = replace(world.bench(), need=lambda task: large, load=lambda task, options: pytest.fail("read"))
    _, [work], _ = estimated(world, bench, only=("unisim/odd",))
    assert (work.items, work.exact) == (7, False)


def test_weights_are_sized_from_the_cache_or_from_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    row = Model(key="a/b", title="", weights="A/b", revision="d" * 40, parameters_m=1.5)
    assert estimate.weights(row) == (6_000_000, False)
    assert estimate.weights(replace(row, parameters_m=None)) == (None, False)
    assert estimate.weights(replace(row, weights="")) == (0, True)
    snapshot = tmp_path / "models--A--b" / "snapshots" / ("d" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(bytes(1234))
    assert estimate.weights(row) == (1234, True)
    (tmp_path / "models--A--b" / "refs").mkdir()
    (tmp_path / "models--A--b" / "refs" / "main").write_text("d" * 40)
    assert estimate.weights(replace(row, revision="")) == (1234, True)
    assert estimate.weights(replace(row, weights=str(snapshot), revision="")) == (1234, True)
    assert estimate.weights(replace(row, weights="A/c", revision="")) == (6_000_000, False)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (None, "size unknown"),
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (25_400_000, "25 MB"),
        (3_100_000_000_000, "3.1 TB"),
        (np.int64(4_000_000_000), "4.0 GB"),
        (10**16, "10000 TB"),
    ],
)
def test_sizes_are_said_as_people_do(count: int | None, said: str) -> None:
    assert estimate.size(count) == said


def test_nothing_is_said_to_be_uncounted_where_nothing_is_encoded(world: World) -> None:
    missing = replace(world.bench(), need=lambda task: need(images=30))
    _, [gauge, _], said = estimated(world, missing, only=("unisim/near",), model="small/gauge")
    assert (gauge.model.key, gauge.items, gauge.unknown) == ("small/gauge", 0, 0)
    assert "not counted" not in said
