"""Records of Every Eval Ever: valid by that project's own schema, with what a score is known by."""

import json
from pathlib import Path
from uuid import UUID

import jsonschema

from compute.catalog import shipped
from compute.sharing import every_eval_ever
from compute.types import Score
from tests.compute.sharing import results

SCHEMA = json.loads((Path(__file__).parent / "every_eval_ever" / "eval.schema.json").read_text())


def test_a_file_a_suite_is_valid_and_says_interval_items_and_direction(tmp_path):
    part = Score(run="", subset="default", metric="accuracy", value=0.75, n=400, stderr=0.02, lower_bound=0.6)
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
    results.store(tmp_path, "mieb/cifar10", scores=[Score(run="", subset="default", metric="fid", value=12.5)])
    [text, *_] = every_eval_ever.files(results.gathered(tmp_path), catalog=shipped(), evaluator="OpenAI").values()
    record = json.loads(text)
    jsonschema.validate(record, SCHEMA)
    [result] = record["evaluation_results"]
    assert result["metric_config"]["lower_is_better"] and result["metric_config"]["max_score"] == "Infinity"
    assert result["score_details"]["uncertainty"] == {}
    assert record["source_metadata"]["evaluator_relationship"] == "first_party"
