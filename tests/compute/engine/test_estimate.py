"""The dry run: counted where the items are here, about where they are not, and what is not known is said."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from compute import models, tasks
from compute.catalog import shipped
from compute.engine import estimate, estimate_lines, plan, run
from compute.engine.estimate import TaskEstimate
from compute.engine.settings import RunSettings
from compute.engine.workspace import Bench
from compute.models.loading import size_of_weights
from compute.tasks.source import Need, Source
from compute.types import Model, NotHere, Task
from tests.compute.small_bench import CATALOG, TASKS, World, data


def estimated(
    world: World,
    bench: Bench | None = None,
    *,
    only: tuple[str, ...] = (),
    model: str = "small/dim",
    **settings: object,
):
    settings = RunSettings(results=world.folder / "r", dry_run=True, **settings)
    bench = replace(bench or world.bench(), settings=settings)
    planned = plan.make(CATALOG, suite="small", models=[model], tasks=only, bench=bench)
    found = estimate.estimate(planned, bench=bench)
    return *found, "\n".join(estimate_lines.lines(planned, *found, results=world.folder / "r"))


NEED = Need(repo="made/up", revision="c" * 40, bytes=None, present=False, images=None, texts=None)


def test_what_is_here_is_counted_and_shared_contents_once(world):
    """And what is encoded is not encoded again."""
    _, [work], said = estimated(world)
    columns = [column for task in TASKS for column in tasks.columns(data(task))]
    distinct = len({(column.modality, key) for column in columns for key in column.keys.tolist()})
    assert (work.items, work.exact, work.unknown, work.vectors) == (distinct, True, 0, distinct * 4 * 4)
    assert f"{distinct} x 4 x 4 bytes" in said
    runs_of(world, "small/dim", "unisim/near")
    before = world.encoded
    _, [work], said = estimated(world)
    assert work.runs == 6 and work.items == distinct - before and world.encoded == before
    assert "Stored already:\n  small/dim, unisim/near: " in said


def test_what_is_not_here_is_about_and_large_data_is_not_read_to_be_counted(world):
    needs = {
        "unisim/near": replace(NEED, bytes=5_000_000, images=30),
        "unisim/said": replace(NEED, repo="made/other"),
        "unisim/fine": replace(NEED, repo="", present=True, images=4, texts=0),
        "unisim/sharp": replace(NEED, bytes=estimate.EXACT_BELOW + 1, present=True, images=7, texts=0),
    }

    def told(task: Task) -> Need:
        if task.key not in needs:
            raise NotHere("no loader for it")
        return needs[task.key]

    bench = world.bench()

    def load(task: Task, options: object) -> dict:
        assert task.key != "unisim/sharp", "read"
        return bench.load(task, options)

    shown, [work], said = estimated(world, replace(bench, need=told, load=load))
    assert not work.exact and work.unknown == 2
    assert "about 30" in said and "3 data sets to fetch, about 5.0 MB and 2 of unknown size" in said
    assert "unisim/odd: no loader for it" in said
    assert {one.task.key: one.exact for one in shown}["unisim/fine"]


def test_weights_are_sized_from_the_cache_or_from_parameters(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    row = Model(key="a/b", title="", weights="A/b", revision="d" * 40, parameters_m=1.5)
    assert size_of_weights(row) == (6_000_000, False)
    assert size_of_weights(replace(row, parameters_m=None)) == (None, False)
    assert size_of_weights(replace(row, weights="")) == (0, True)
    snapshot = tmp_path / "models--A--b" / "snapshots" / ("d" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(bytes(1234))
    assert size_of_weights(row) == size_of_weights(replace(row, weights=str(snapshot), revision="")) == (1234, True)


def runs_of(world: World, model: str, *only: str) -> None:
    bench = world.bench(results=world.folder / "r")
    run.execute(plan.make(CATALOG, suite="small", models=[model], tasks=only, bench=bench), bench=bench)


def test_comparisons_are_those_that_the_run_makes(world):
    """Two alternatives an item, single images of a quality, and of an odd one out every two in both orders."""
    _, [gauge], said = estimated(world, model="small/gauge")
    assert (gauge.comparisons, gauge.items, gauge.exact) == (2 * 12 + 2 * 12 + 2 * 12 + 6 * 12, 0, True)
    assert "144 distinct comparisons; nothing to encode" in said and "; 144 comparisons;" in said
    runs_of(world, "small/gauge")
    made = [json.loads(path.read_text()) for path in (world.folder / "r").rglob("run.json")]
    passes = [one for record in made for one in record["settings"]["encodings"] if "comparison" in one["title"]]
    assert sum(one["encoded"] for one in passes) == gauge.comparisons
    _, [again], _ = estimated(world, model="small/gauge", again=True)
    assert again.comparisons == 0


def test_a_model_with_vectors_of_images_and_a_comparison_of_both_is_counted_by_task(world):
    """Vectors for the tasks of images alone, comparisons for a text with an image: as ImageReward."""
    row = replace(
        CATALOG.models[3], key="small/reward", abilities=("embed_image", "compare"), modalities=("image", "text")
    )
    catalog, only = replace(CATALOG, models=(*CATALOG.models, row)), ("unisim/near", "unisim/said")
    planned = plan.make(catalog, suite="small", models=[row.key], tasks=only, bench=world.bench())
    _, [work] = estimate.estimate(planned, bench=world.bench())
    near = {key for column in tasks.columns(data(TASKS[0])) for key in column.keys.tolist()}
    assert (work.encoded["image"], work.encoded["text"], work.comparisons) == (len(near), 0, 2 * 12)


CIFAR = {"mieb/cifar100": (22.6e6 + 118e6), "mieb/cifar100zeroshot": 22.6e6, "mieb/cifar100clustering": 22.6e6}


def test_cifar_100_is_both_splits_for_a_probe_and_one_for_the_rest():
    source = Source(offline=True)
    needs = {key: tasks.needs(shipped().task(key), source=source) for key in CIFAR}
    assert {key: one.bytes for key, one in needs.items()} == pytest.approx(CIFAR)
    found = [TaskEstimate(task=shipped().task(key), need=one) for key, one in needs.items()]
    assert list(estimate.downloads(found).values()) == [pytest.approx(140.6e6)]
    here = [replace(one, need=replace(one.need, present=True)) for one in found[1:]]
    assert list(estimate.downloads([found[0], *here]).values()) == [pytest.approx(118e6)], "the other split is here"


def test_a_probes_training_items_are_counted_where_they_are_here():
    """As many as the shipped run says that it encoded."""
    from compute.engine import run_folders
    from compute.paths import COMPUTED

    task = shipped().task("mini/shapes")
    loaded = tasks.load(task, source=Source(offline=True))
    found = TaskEstimate(task=task, need=replace(NEED, present=True), loaded=loaded)
    [stored] = run_folders.stored(COMPUTED, model="tiny", task=task.key)
    trained = stored.run.settings["found"]["default"]["train_items"]
    assert sum(len(column) for column in found.columns()) == 150 + trained


def test_the_time_is_that_of_the_given_rate(world):
    _, [work], said = estimated(world, model="small/eye", rate=50.0)
    assert work.seconds == pytest.approx(work.items / 50) and "50.0 items a second" in said and "; about " in said
    assert "0.004 items a second" in estimated(world, model="small/eye", rate=0.004)[-1]
    _, [work], said = estimated(world, model="small/dim")
    assert work.seconds is None and "unknown" in said and "--estimate" in said
    assert not world.loaded and not world.encoded and not list(world.folder.iterdir())


def test_what_a_package_fetches_for_itself_is_counted(tmp_path, monkeypatch):
    """Sizes as torchvision has them: 233.087 MiB of AlexNet."""
    from torchvision.models import AlexNet_Weights

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    row = shipped().model("lpips-alex")
    megabytes = AlexNet_Weights.DEFAULT.meta["_file_size"]
    assert size_of_weights(row) == (pytest.approx(megabytes * 2**20, abs=1), False)
    [file] = models.ADAPTERS[row.adapter].published(row)
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(bytes(77))
    assert size_of_weights(row) == (77, True)
    assert size_of_weights(shipped().model("dreamsim-ensemble"))[1] is False
