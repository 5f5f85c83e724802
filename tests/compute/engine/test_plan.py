"""What is planned: names, options, what decides a run, what cannot be."""

from dataclasses import replace

import pytest

from compute.engine import plan
from compute.procedures import retrieval
from compute.types import BadInput, NotHere, UnknownKey
from tests.compute.small_bench import CATALOG, changed


@pytest.fixture
def make(world):
    def planned(*models, **given):
        settings = {name: given.pop(name) for name in ("options", "again") if name in given}
        asked = {"catalog": CATALOG, "suite": "small", "bench": world.bench(**settings)}
        return plan.make(**{**asked, "models": models or ("small/eye",), **given})

    return planned


FAR = replace(CATALOG, tasks=(*CATALOG.tasks, replace(CATALOG.tasks[0], key="unisim/far", suites=("large",))))


@pytest.mark.parametrize(
    "models, given, error, words",
    [
        (["small/eie"], {}, UnknownKey, "Did you mean 'small/eye'"),
        ([], {"options": ["qualty=prompt"]}, BadInput, "'qualty=prompt'.*quality: prompt, clip-iqa"),
        ([], {"options": ["quality"]}, BadInput, "name=value"),
        ([], {"options": ["quality=loud"]}, BadInput, "'loud'.*clip-iqa"),
        ([], {"models": []}, BadInput, "list models"),
        ([], {"catalog": FAR, "tasks": ("unisim/far",)}, BadInput, "is not in the suite 'small' but in: large"),
        ([], {"catalog": replace(CATALOG, tasks=())}, BadInput, "has no tasks"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest_right_one(make, models, given, error, words):
    with pytest.raises(error, match=words):
        make(*models, **given)


def test_an_option_given_by_hand_is_the_only_way_asked(make):
    planned = make(options=("quality=CLIP-IQA", "wording=code"))
    names = {job.task.key: job.variant for job in planned.of(planned.models[0])}
    assert names["unisim/fine"] == "quality=clip-iqa, wording=code"
    assert names["unisim/near"] == "wording=code"  # it has no quality to ask for
    assert names["unisim/odd"] == ""


def test_what_a_model_cannot_do_is_left_out_with_the_reason(make):
    left = {
        (one.model.key, one.task.key): one.reason for one in make("small/vision", "small/gauge", "small/paper").skipped
    }
    assert "shows text" in left["small/vision", "unisim/said"] and "prompt" in left["small/vision", "unisim/fine"]
    assert "shows text" in left["small/gauge", "unisim/said"]
    assert {key for key in left if key[0] == "small/paper"} == {("small/paper", task.key) for task in CATALOG.tasks}
    assert ("small/vision", "unisim/near") not in left and "prompt" in left["small/gauge", "unisim/fine"]
    late = replace(CATALOG.models[0], key="small/late", late_interaction=True)
    (line,) = plan.reasons(make("small/late", catalog=replace(CATALOG, models=(*CATALOG.models, late))))
    assert "unisim/near" in line and "retrieval" in line
    pages = replace(CATALOG.tasks[1], procedure="retrieval")
    assert plan.obstacle(late, pages, {"retrieval": retrieval.PROCEDURE}) == ""


EYE, NEAR = CATALOG.models[0], CATALOG.tasks[0]


def of_task(**fields):
    return {"catalog": replace(CATALOG, tasks=(replace(NEAR, **fields), *CATALOG.tasks[1:]))}


def test_whatever_decides_the_numbers_is_in_the_fingerprint(make, world):
    bench = world.bench()
    newer = {key: replace(one, version=one.version + 1) for key, one in bench.procedures.items()}
    found = [
        make(**given).jobs[0].fingerprint
        for given in (
            {},
            {"catalog": replace(CATALOG, models=(replace(EYE, revision="c"), *CATALOG.models[1:]))},
            of_task(revision="c"),
            of_task(metrics=("accuracy", "nmi")),
            {"options": ("wording=code",)},
            {"models": ["small/dim"]},
            {"bench": changed(bench, identity=lambda task: {"draw": 2})},
            {"bench": changed(bench, procedures=newer)},
        )
    ]
    assert len(set(found)) == len(found) and make().jobs[0].fingerprint == found[0]


def test_weights_whose_commit_is_not_known_make_a_job_with_a_problem(make, world):
    class Unknown:
        @property
        def identity(self):
            raise NotHere("fetch it")

    job = make(bench=changed(world.bench(), subject=lambda row: Unknown())).jobs[0]
    assert (job.problem, job.fingerprint, job.stored) == ("fetch it", "", None)
