"""The dry run: counted where the items are here, about where they are not, and what is not known is said."""

from dataclasses import replace
from functools import partial

import pytest

from compute import models, tasks
from compute.catalog import shipped
from compute.engine import estimate, estimate_lines, plan, run_folders
from compute.engine.estimate import TaskEstimate
from compute.models.model_rows import size_of_weights
from compute.paths import COMPUTED
from compute.tasks.source import Need, Source
from compute.types import Model, NotHere
from tests.compute.small_bench import CATALOG, KEYS, MODELS, changed, data, executed

NEED = Need(repo="made/up", revision="c" * 40, bytes=None, present=False, images=None, texts=None)
JUDGE = Model(key="small/judge", title="", kind="mllm", adapter="judge", abilities=("choose",))


def estimated(
    world,
    model="small/dim",
    *only,
    bench=None,
    **settings,
):
    dry = world.bench(results=world.folder / "r", dry_run=True, **settings)
    bench = changed(bench, settings=dry.settings) if bench else dry
    catalog = replace(CATALOG, models=(*MODELS, JUDGE))
    planned = plan.make(catalog, suite="small", models=[model], tasks=only, bench=bench)
    shown, [work] = estimate.estimate(planned, bench=bench)
    return work, "\n".join(estimate_lines.lines(planned, shown, [work], settings=bench.settings))


def test_what_is_here_is_counted_and_shared_contents_once(world):
    """And what is encoded is not encoded again."""
    work, said = estimated(world)
    assert (work.items, work.exact, work.unknown) == (len(KEYS), True, 0)
    assert f"{len(KEYS)} x 4 x 4 bytes" in said
    assert not world.loaded and not world.encoded and not list(world.folder.iterdir())
    executed(world, only=("unisim/near",), results=world.folder / "r")
    work, said = estimated(world)
    assert work.runs == 6 and "Stored already:\n  small/dim, unisim/near: " in said
    executed(world, results=world.folder / "r")
    work, said = estimated(world, again=True)
    assert (work.work.total(), work.runs) == (0, 7) and "0 distinct items to encode" in said


def test_what_is_not_here_is_about_and_large_data_is_not_read_to_be_counted(world):
    needs = {
        "unisim/near": replace(NEED, bytes=5_000_000, images=30),
        "unisim/said": replace(NEED, repo="made/other"),
        "unisim/fine": replace(NEED, repo="", present=True, images=4, texts=0),
        "unisim/sharp": replace(NEED, bytes=estimate.EXACT_BELOW + 1, present=True, images=7, texts=0),
        "unisim/odd": NotHere("no loader for it"),
    }

    def told(task):
        if isinstance(needs[task.key], Exception):
            raise needs[task.key]
        return needs[task.key]

    def load(task, options):
        assert task.key == "unisim/fine", "read"
        return {"default": data(task)}

    work, said = estimated(world, bench=changed(world.bench(), need=told, load=load))
    assert not work.exact and work.unknown == 2 and work.items == 24 + 30 + 7
    assert "about 30" in said and "3 data sets to fetch, about 5.0 MB and 2 of unknown size" in said
    assert "unisim/odd: no loader for it" in said


@pytest.mark.parametrize(
    "model, only, work, said",
    [
        ("small/gauge", ("unisim/near", "unisim/odd"), {"comparison": 24 + 72}, "96 comparisons; nothing to encode"),
        ("small/judge", ("unisim/near", "unisim/odd"), {"question": 24}, "24 questions; nothing to encode"),
    ],
)
def test_each_kind_of_model_is_counted_by_task_and_nothing_is_asked(world, model, only, work, said):
    counted = {"unisim/near": 24, "unisim/odd": 72}
    bench = changed(world.bench(), need=lambda task: replace(NEED, present=True, comparisons=counted[task.key]))
    found, text = estimated(world, model, *only, bench=bench)
    assert (+found.work, world.loaded) == (work, 0) and said in text
    assert not list(world.folder.iterdir())


def test_weights_are_sized_from_the_cache_or_from_parameters(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    row = Model(key="a/b", title="", weights="A/b", revision="d" * 40, parameters_m=1.5)
    assert size_of_weights(row) == (6_000_000, False)
    assert size_of_weights(replace(row, parameters_m=None)) == (None, False)
    assert size_of_weights(replace(row, weights="")) == (0, True)
    snapshot = tmp_path / "models--A--b" / "snapshots" / ("d" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(bytes(1234))
    assert size_of_weights(row) == size_of_weights(replace(row, weights=str(snapshot), revision="")) == (1234, True)


def test_what_a_package_fetches_for_itself_is_counted(tmp_path, monkeypatch):
    """As large as torchvision says: 233.087 MiB of AlexNet."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    row = shipped().model("lpips-alex")
    assert size_of_weights(row) == (pytest.approx(233.087 * 2**20, abs=1), False)
    [file] = models.ADAPTERS[row.adapter].published(row)
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(bytes(77))
    assert size_of_weights(row) == (77, True)
    assert size_of_weights(shipped().model("dreamsim-ensemble"))[1] is False


PROBE, SHOT, CLUSTERS = (shipped().task(f"mieb/cifar100{name}") for name in ("", "zeroshot", "clustering"))
needs = partial(tasks.needs, source=Source(offline=True))


def test_items_that_tasks_share_are_counted_once_and_those_of_training_besides():
    def items(*some):
        found = estimate.item_counts(some, needs=needs)
        return found["images"] + found["texts"]

    once, trained = items(SHOT), items(PROBE) - items(CLUSTERS)
    assert items(SHOT, CLUSTERS) == once > items(CLUSTERS) and 7000 < trained < 8000
    assert items(PROBE, SHOT, CLUSTERS) == once + trained


def test_a_probes_training_items_are_counted_where_they_are_here():
    """As many as the shipped run says that it encoded."""
    task = shipped().task("mini/shapes")
    loaded = tasks.load(task, source=Source(offline=True))
    found = TaskEstimate(task=task, need=replace(NEED, present=True), loaded=loaded)
    [stored] = run_folders.stored(COMPUTED, model="tiny", task=task.key)
    trained = stored.run.settings["found"]["default"]["train_items"]
    assert sum(len(column) for column in found.columns()) == 150 + trained
