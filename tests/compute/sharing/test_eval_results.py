"""Results in the forms of others, read by their own libraries: the hub's, which imports as it was stored, mteb's, and
Every Eval Ever's, by its schema."""

import json
from pathlib import Path
from uuid import UUID

import jsonschema
import mteb
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from compute.catalog import hub_tasks, shipped
from compute.importing import read_eval_results
from compute.metrics import METRICS
from compute.sharing import eval_results, every_eval_ever, mteb_results
from tests.compute.sharing import results
from tests.compute.sharing.results import score

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
    for place, stored in expected.items():
        assert (back[place].value, back[place].n) == (stored.value, stored.n)
        assert back[place].stderr == pytest.approx(stored.stderr, rel=1e-3)


def test_the_hubs_library_reads_a_file_and_finds_all_that_it_should_say(tmp_path):
    results.store(tmp_path, "mieb/cifar10", scores=[score(0.825, n=10_000, stderr=0.0038)])
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
    part = score(0.9, n=90, coverage=0.9, lower_bound=0.81)
    results.store(tmp_path, "unisim/nights", scores=[part], settings={"coverage": 0.9})
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
    for task in (task for task in catalog.tasks if task.benchmark == "mieb" and len(task.subsets) > 1):
        theirs = {one.id for one in mteb.get_task(task.title)._create_task_hf_config().tasks}
        ours = {name for dataset, name in ids if name.startswith(task.title) and dataset == task.dataset}
        if not mteb.get_task(task.title).is_aggregate:
            assert ours <= theirs and len(ours) >= len(task.subsets), task.title
        assert "|" in task.split or task.title in ours


NAME = "openai/clip-vit-base-patch32"
LAYOUTS = (
    "mieb/cifar10",
    "mieb/voc2007",
    "mieb/winoground",
    "mieb/imagenet10clustering",
    "mieb/flickr30kt2iretrieval",
    "mieb/visualsts17eng",
    "mieb/visualsts17multilingual",
    "mieb/stsbenchmarkmultilingualvisualsts",
    "mieb/xflickr30kcot2iretrieval",
)


def cache_of(root, folder):
    """mteb's files of the runs under `root`, in a cache folder of mteb's."""
    texts, _ = mteb_results.files(results.gathered(root), name=NAME)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_mtebs_own_cache_loads_every_task_and_agrees_on_the_main_score(tmp_path):
    stored = {key: results.store(tmp_path / "results", key) for key in LAYOUTS}
    cache = mteb.ResultCache(cache_of(tmp_path / "results", tmp_path / "mteb"))
    [loaded] = cache.load_results(include_remote=False, require_model_meta=True).model_results
    assert (loaded.model_name, loaded.model_revision) == (NAME, results.COMMIT)
    found = {result.task_name: result for result in loaded.task_results}
    assert set(found) == {shipped().task(key).title for key in LAYOUTS}
    for key, run in stored.items():
        task, result = shipped().task(key), found[shipped().task(key).title]
        metric, theirs = task.metrics[0], mteb.get_task(task.title)
        parts = {score.subset: score.value for score in run.scores if score.metric == metric}
        if theirs.is_aggregate:
            expected = {"default": parts.get("default", parts.get("en-en"))}
        else:
            expected = {subset: parts[subset] for subset in task.subsets}
        [split] = result.scores
        assert split in theirs.eval_splits
        assert {row["hf_subset"]: row["main_score"] for row in result.scores[split]} == expected
        for row in result.scores[split]:
            assert row[theirs.metadata.main_score] == row["main_score"]
            if not theirs.is_aggregate:
                assert row["languages"] == theirs.metadata.hf_subsets_to_langscripts[row["hf_subset"]]
        assert result.dataset_revision == task.revision and result.date.isoformat() == results.STARTED
        assert result.get_score() == pytest.approx(sum(expected.values()) / len(expected))
        if len(theirs.eval_splits) == 1:
            kept = result.validate_and_filter_scores(theirs)
            assert {row["hf_subset"]: row["main_score"] for row in kept.scores[split]} == expected


def test_every_task_of_the_catalogue_is_one_of_mtebs():
    wrong = []
    for task in (task for task in shipped().tasks if task.benchmark == "mieb"):
        theirs = mteb.get_task(task.title)
        known = theirs.is_aggregate == (task.title in mteb_results.AGGREGATES)
        known &= task.split.split("|")[-1] in theirs.eval_splits
        known &= mteb_results.FIELDS.get(task.metrics[0], task.metrics)[0] == theirs.metadata.main_score
        if not theirs.is_aggregate:
            scripts = theirs.metadata.hf_subsets_to_langscripts
            known &= all(mteb_results.languages(task, subset) == scripts[subset] for subset in task.subsets)
        wrong += [] if known else [task.key]
    assert wrong == []


def test_a_part_of_the_items_and_another_protocol_are_not_for_mteb(tmp_path):
    part = score(0.9, n=90, coverage=0.9)
    results.store(tmp_path, "mieb/cifar10", scores=[part], settings={"coverage": 0.9})
    results.store(tmp_path, "mieb/voc2007", settings={"variant": "classifier=logistic"})
    results.store(tmp_path, "unisim/nights")
    texts, left_out = mteb_results.files(results.gathered(tmp_path), name=NAME)
    assert texts == {}
    assert set(left_out) == {
        "VOC2007: by another protocol than mteb's (classifier=logistic)",
        "CIFAR10: 90.0% of the items were answered",
    }


def test_no_name_or_revision_leads_out_of_the_folder(tmp_path):
    results.store(tmp_path, "mieb/cifar10", settings={"model": {"revision": "../../../etc"}})
    texts, _ = mteb_results.files(results.gathered(tmp_path), name="../evil/name")
    for path in texts:
        assert path.startswith("results/") and ".." not in Path(path).parts and len(Path(path).parts) == 4
    results.store(tmp_path, "mieb/cifar10", settings={"model": {}})
    texts, _ = mteb_results.files(results.gathered(tmp_path), name=NAME)
    assert json.loads(texts[f"results/openai__clip-vit-base-patch32/no_revision_available/{mteb_results.META}"])


def test_a_subset_without_the_main_score_is_left_out(tmp_path):
    task = shipped().task("mieb/xflickr30kcot2iretrieval")
    first, second = task.subsets[:2]
    scores = [
        score(0.5, task.metrics[0], subset=first),
        score(0.6, "map_at_5", subset=second),
    ]
    results.store(tmp_path / "part", task.key, scores=scores)
    texts, left_out = mteb_results.files(results.gathered(tmp_path / "part"), name=NAME)
    [content] = [json.loads(text) for path, text in texts.items() if path.endswith(f"{task.title}.json")]
    [rows] = content["scores"].values()
    assert [(row["hf_subset"], row["main_score"]) for row in rows] == [(first, 0.5)] and left_out == ()
    results.store(tmp_path / "none", task.key, scores=scores[1:])
    texts, left_out = mteb_results.files(results.gathered(tmp_path / "none"), name=NAME)
    assert texts == {} and left_out == (
        f"{task.title}: no subset that mteb stores has {task.metrics[0]}, its main score",
    )


SCHEMA = json.loads((Path(__file__).parent / "every_eval_ever" / "eval.schema.json").read_text())


def test_a_file_a_suite_is_valid_and_says_interval_items_and_direction(tmp_path):
    part = score(0.75, n=400, stderr=0.02, lower_bound=0.6)
    results.store(tmp_path, "mieb/cifar10", scores=[part], settings={"coverage": 0.8})
    results.store(tmp_path, "unisim/nights")
    made = [every_eval_ever.files(results.gathered(tmp_path), catalog=shipped(), evaluator="A lab") for _ in range(2)]
    assert made[0].keys() == made[1].keys()  # the same runs replace their files
    suites = {path.split("/")[1]: path for path in made[0]}
    of_task = {f"likeness-{suite}" for key in ("mieb/cifar10", "unisim/nights") for suite in shipped().task(key).suites}
    assert suites.keys() == of_task
    for path, text in made[0].items():
        jsonschema.validate(json.loads(text), SCHEMA)
        data, _, *model, name = Path(path).parts
        assert (data, model) == ("data", ["openai", "clip-vit-base-patch32"])
        assert UUID(Path(name).stem).version == 4
    record = json.loads(made[0][suites["likeness-mieb"]])
    assert record["model_info"]["id"] == "openai/clip-vit-base-patch32"
    assert record["source_metadata"]["source_organization_name"] == "A lab"
    [result] = record["evaluation_results"]
    assert (result["source_data"]["hf_repo"], result["source_data"]["source_type"]) == ("mteb/cifar10", "hf_dataset")
    metric, details = result["metric_config"], result["score_details"]
    assert (metric["metric_id"], metric["lower_is_better"]) == ("accuracy", False)
    assert (metric["min_score"], metric["max_score"]) == (0, 1)
    assert details["score"] == 0.75 and details["uncertainty"]["num_samples"] == 400
    assert details["uncertainty"]["standard_error"] == {"value": 0.02}
    ends = details["uncertainty"]["confidence_interval"]
    assert ends["lower"] < 0.75 < ends["upper"] and ends["confidence_level"] == 0.95
    assert details["details"] == {"answered": "0.8", "if_all_others_were_wrong": "0.6"}


def test_a_score_without_bounds_or_error_is_valid(tmp_path):
    results.store(tmp_path, "mieb/cifar10", scores=[score(12.5, "fid")])
    [text, *_] = every_eval_ever.files(results.gathered(tmp_path), catalog=shipped(), evaluator="OpenAI").values()
    record = json.loads(text)
    jsonschema.validate(record, SCHEMA)
    [result] = record["evaluation_results"]
    assert result["metric_config"]["lower_is_better"] and result["metric_config"]["max_score"] == "Infinity"
    assert result["score_details"]["uncertainty"] == {}
    assert record["source_metadata"]["evaluator_relationship"] == "first_party"
