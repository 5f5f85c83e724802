"""The hub's own form of results: what is written is what the hub's library reads, and imports as it was stored."""

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from compute.catalog import hub_tasks, shipped
from compute.importing import read_eval_results
from compute.metrics import METRICS
from compute.sharing import eval_results
from compute.types import Score
from tests.compute.sharing import results

BY_KEY = {metric.key: metric for metric in METRICS}
TASKS = (
    "mieb/cifar10",
    "mieb/winoground",
    "mieb/sts17multilingualvisualsts",
    "mieb/visualsts17eng",
    "mieb/visualsts17multilingual",
    "mieb/stsbenchmarkmultilingualvisualsts",
    "mieb/xm3600t2iretrieval",
    "unisim/nights",
    "unisim/imagereward",
    "pairbench/coco-cj",
)


def written(root, *, source_url=""):
    return eval_results.files(results.gathered(root).runs, metrics=BY_KEY, source_url=source_url)[0]


def test_a_round_trip_gives_every_score_as_it_was_stored(tmp_path):
    """Values of all a float's digits, and those at the ends, in every unit that the tasks have."""
    stored = {key: results.store(tmp_path / "results", key) for key in TASKS}
    folder = tmp_path / "model"
    for name, text in written(tmp_path / "results").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    imported = read_eval_results(folder, model=results.MODEL, catalog=shipped())
    assert imported.problems == () == imported.skipped
    task_of = {run.id: run.task for run in imported.runs}
    back = {(task_of[score.run], score.subset, score.metric): score for score in imported.scores}
    expected = {
        (key, score.subset, score.metric): score
        for key, run in stored.items()
        for score in run.scores
        if hub_tasks.task_id(shipped().task(key), subset=score.subset, metric=score.metric)
    }
    assert len(expected) > 60 and set(back) == set(expected)
    for place, score in expected.items():
        assert (back[place].value, back[place].n) == (score.value, score.n)
        assert back[place].stderr == pytest.approx(score.stderr, rel=1e-3)


def test_the_hubs_library_reads_a_file_and_finds_all_that_it_should_say(tmp_path):
    scores = [Score(run="", subset="default", metric="accuracy", value=0.825, n=10_000, stderr=0.0038)]
    results.store(tmp_path, "mieb/cifar10", scores=scores)
    [text] = written(tmp_path, source_url="https://example.org/run").values()
    [entry] = parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("mteb/cifar10", "CIFAR10", 82.5)
    assert entry.dataset_revision == shipped().task("mieb/cifar10").revision and len(entry.dataset_revision) == 40
    assert (entry.date, entry.source_url, entry.source_name) == (
        results.STARTED,
        "https://example.org/run",
        "Likeness",
    )
    assert entry.notes == (
        "metric: accuracy; unit: %; n: 10000; 95% interval: 81.8 to 83.2; standard error: 0.38; "
        "protocol: probe (quality=prompt); weights: 3d74acf9a28c; dtype: float32; device: cpu; "
        "code: Likeness 0b2be2804bd1e6ac"
    )


def test_what_rests_on_a_part_of_the_items_says_so(tmp_path):
    score = Score(run="", subset="default", metric="accuracy", value=0.9, n=90, coverage=0.9, lower_bound=0.81)
    results.store(tmp_path, "unisim/nights", scores=[score], settings={"coverage": 0.9})
    [text] = written(tmp_path).values()
    notes = yaml.safe_load(text)[0]["notes"]
    assert "answered: 90.00% of the items; if all others were wrong: 81.0" in notes
    (tmp_path / "one.yaml").write_text(text)
    [back] = read_eval_results(tmp_path / "one.yaml", model="a/b", catalog=shipped()).scores
    assert back.coverage == pytest.approx(0.9)


def test_every_id_stands_for_one_figure_and_mieb_has_mtebs():
    """Reference: the ids that mteb itself writes into `eval.yaml` and `.eval_results`."""
    catalog = shipped()
    ids = [
        (dataset, name)
        for task in catalog.tasks
        if (dataset := hub_tasks.dataset_id(task, catalog=catalog))
        for subset in dict.fromkeys((hub_tasks.whole_subset(task), *task.subsets))
        for metric in task.metrics
        if (name := hub_tasks.task_id(task, subset=subset, metric=metric))
    ]
    assert len(ids) == len(set(ids)) > 400
    mteb = pytest.importorskip("mteb")
    for task in (task for task in catalog.tasks if task.benchmark == "mieb" and len(task.subsets) > 1):
        theirs = {one.id for one in mteb.get_task(task.title)._create_task_hf_config().tasks}
        ours = {name for dataset, name in ids if name.startswith(task.title) and dataset == task.dataset}
        if not mteb.get_task(task.title).is_aggregate:
            assert ours <= theirs and len(ours) >= len(task.subsets), task.title
        assert "|" in task.split or task.title in ours
