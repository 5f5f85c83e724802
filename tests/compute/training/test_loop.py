"""Steps, the best weights, what keeps generalisation, and what stops a run."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from compute.content import decoding
from compute.content.items import Column
from compute.training import loop, run_folder
from compute.training.examples import QUALITY_PROMPT, TASKS, batches
from compute.training.loop import StepBatches
from compute.training.loss import hinge
from compute.types import BadInput, LikenessError
from tests.compute.models import checkpoints
from tests.compute.training.small_training import (
    PLAN,
    Wavering,
    base,
    image_vectors,
    listed,
    losses,
    picture,
    scores,
    sets,
    trained,
)

STILL = replace(PLAN, dropout=0.0)
FULL = replace(STILL, tune="full", learning_rate=3e-4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small random base."""
    return checkpoints.clip(tmp_path_factory.mktemp("base") / "clip")


@pytest.fixture
def tune(folder, tmp_path):
    """Trains an encoder, by default the base, in a folder of this name."""
    return lambda name="run", encoder=None, **given: trained(tmp_path / name, encoder or base(folder), **given)


def test_examples_are_learnt_by_heart_and_the_text_tower_stays(folder, tune):
    encoder = base(folder)
    frozen = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    run, state = tune("run", encoder, plan=replace(STILL, samples=240))
    curve = losses(run)
    assert state.step == len(curve) == 60 and np.mean(curve[-5:]) < 0.3 * np.mean(curve[:5])
    after = encoder.module.state_dict()
    same = {name for name, value in frozen.items() if torch.equal(value, after.get(name, value))}
    assert {name for name in frozen if name.startswith(("text_", "visual_projection", "logit_scale"))} <= same


def test_a_step_s_loss_is_equation_1_summed_over_tasks(folder, tune):
    """Against the encoder's own vectors, one example at a time."""
    encoder = base(folder)

    def vector(column: Column, row: int) -> torch.Tensor:
        if column.modality == "text":
            return encoder.text_vectors([column.read(row)])
        prepared = encoder.towers.prepare("image", decoding.decode(column.read(row)))
        return encoder.image_vectors({name: values[None] for name, values in prepared.items()})

    by_hand = {}
    for task, rows in batches(sets(), batch_size=4, seed=0, step=0).items():
        vectors = [[vector(column, row) for column in part.columns] for part, row in rows]
        preferred = [torch.tensor([part.data.answer[row]]) for part, row in rows]
        each = [hinge(*of, preferred=one, margin=0.05).item() for of, one in zip(vectors, preferred, strict=True)]
        by_hand[task] = np.mean(each)
    run, _ = tune("run", encoder, plan=replace(STILL, samples=4))
    first = run.losses()[0]
    assert {task: first[task] for task in TASKS} == pytest.approx(by_hand, abs=1e-5)
    assert first["total"] == pytest.approx(sum(by_hand.values()), abs=1e-5)


def test_a_text_that_examples_share_comes_once(folder):
    batch = StepBatches(base(folder), sets("quality"), PLAN)[0]
    assert len(batch.images["pixel_values"]) == 2 * PLAN.batch_size and batch.texts == [QUALITY_PROMPT]
    of_prompt, *of_images = batch.rows["quality"].T.tolist()
    assert set(of_prompt) == {2 * PLAN.batch_size} and sorted(sum(of_images, [])) == list(range(2 * PLAN.batch_size))


@pytest.mark.parametrize("adapter", ["clip", "open_clip"])
def test_checkpointing_changes_no_result(tmp_path, adapter):
    plain, saving = (
        losses(trained(tmp_path / f"{on}", base(tmp_path / "base", adapter), plan=replace(STILL, checkpointing=on))[0])
        for on in (False, True)
    )
    assert saving == pytest.approx(plain, abs=1e-5)


def test_muon_has_the_matrices_of_linear_layers(folder):
    encoder = base(folder)
    encoder.unfreeze(text=True)
    adamw, muon = loop.optimisers_of(encoder, replace(FULL, optimiser="muon"))
    names = {id(weight): name for name, weight in encoder.parameters().items()}
    matrices = {names[id(weight)] for group in muon.param_groups for weight in group["params"]}
    assert "text_model.encoder.layers.0.mlp.fc1.weight" in matrices and isinstance(muon, torch.optim.Muon)
    assert not any("embedding" in name or "bias" in name for name in matrices)
    decayed, rest = ([names[id(weight)] for weight in group["params"]] for group in adamw.param_groups)
    assert len(matrices) + len(decayed) + len(rest) == len(names)
    assert [group["weight_decay"] for group in adamw.param_groups] == [0.01, 0.0]
    assert all("bias" in name or "norm" in name or "class_embedding" in name for name in rest)


def test_the_best_core_average_is_what_remains(folder, tune):
    """Measured at 0, 3 and 6: the weights of step 3 come back, and core and OOD stand side by side in the report."""
    said, seen = [], []
    encoder, measured = base(folder), scores((0.5, 0.4), (0.8, 0.35), (0.6, 0.3))

    def measure():
        seen.append(image_vectors(encoder).detach())
        return measured()

    _, state = tune("run", encoder, measure=measure, report=said.append)
    assert state.best == 3 and [each.step for each in state.measurements] == [0, 3, 6]
    assert any("core 80.0 (+30.0), OOD 35.0 (-5.0)" in line for line in said)
    assert torch.equal(image_vectors(encoder), seen[1]) and not torch.equal(seen[1], seen[2])


@pytest.mark.parametrize("plan", [STILL, FULL], ids=["lora", "full"])
def test_interpolation_lies_between_the_base_and_plain_tuning(folder, tune, plan):
    before, away = image_vectors(base(folder)).detach(), []
    for keep in ({}, {"keep": "interpolate", "strength": 0.5}, {"keep": "interpolate", "strength": 1.0}):
        encoder = base(folder)
        tune(str(len(away)), encoder, plan=replace(plan, **keep))
        away.append(float((image_vectors(encoder).detach() - before).square().sum()))
    assert away[0] > away[1] > away[2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("plan", [STILL, replace(FULL, towers="both")], ids=["lora", "both"])
def test_distill_holds_the_model_near_its_base(tune, plan):
    """The same steps with the term end nearer to the base, by what the term measures."""
    ends = []
    for strength in (1e-9, 100.0):
        run, _ = tune(f"{strength}", plan=replace(plan, keep="distill", strength=strength, samples=40))
        ends.append(run.losses()[-1]["distill"] / strength)
        assert run.losses()[0]["distill"] == pytest.approx(0, abs=1e-6)
    assert ends[1] < ends[0] / 2


def state_of(path: Path) -> dict:
    return run_folder.RunFolder(path=path, identity={}).load()


@pytest.mark.parametrize("change", [{"learning_rate": 1e30, "tune": "full"}, {"margin": 1e38, "alpha": 1e38}])
def test_a_loss_that_is_not_finite_ends_the_run_with_the_last_good_state(tune, tmp_path, change):
    with pytest.raises(LikenessError, match="not finite"):
        tune(plan=replace(PLAN, samples=400, **change))
    assert all(value.isfinite().all() for value in state_of(tmp_path / "run").get("weights", {}).values())


@pytest.mark.parametrize(
    ("task", "row", "word"),
    [("quality", ("p", b"x", b"y"), "broken, image 0"), ("text-for-image", (picture(0), " ", "b"), "broken, text 0")],
)
def test_what_cannot_be_read_is_named(tune, task, row, word):
    with pytest.raises(BadInput, match=word):
        tune(parts=[listed(task, [row], [0], dataset="broken")])


def test_a_killed_process_that_prepares_is_named(tune, monkeypatch):
    monkeypatch.setattr(StepBatches, "__getitem__", lambda batches, step: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(LikenessError, match="killed"):
        tune()


@pytest.mark.parametrize(
    ("plan", "processor", "expected"),
    [
        ("auto", {"amx_bf16": True}, "bfloat16"),
        ("auto", {"avx512_f": True}, "float32"),
        ("float32", {"amx_bf16": True}, "float32"),
        ("bfloat16", {}, "bfloat16"),
    ],
)
def test_a_processor_multiplies_in_bfloat16_where_it_can_and_may(folder, monkeypatch, plan, processor, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: processor)
    assert loop.precision(base(folder), replace(PLAN, precision=plan)) == expected


EVERYTHING = replace(
    PLAN, tune="full", towers="both", optimiser="muon", learning_rate=1e-3, keep="distill", strength=1.0
)


@pytest.mark.parametrize("plan", [PLAN, EVERYTHING], ids=["lora", "full"])
def test_a_stopped_run_goes_on_to_the_same_weights(folder, tune, monkeypatch, plan):
    """Dropout, both optimisers, the best weights and the log; who stops it is told from where it goes on."""
    whole = base(folder)
    run, state = tune("whole", whole, plan=plan, measure=Wavering(whole))
    step, said = loop.Tuning.step, []

    def stop(tuning, batch):
        if tuning.state.step == 3:
            raise KeyboardInterrupt
        return step(tuning, batch)

    monkeypatch.setattr(loop.Tuning, "step", stop)
    stopped = base(folder)
    with pytest.raises(KeyboardInterrupt):
        tune("parts", stopped, plan=plan, measure=Wavering(stopped), report=said.append)
    assert "after step 2 of 6" in said[-1]
    monkeypatch.undo()
    again = base(folder)
    resumed, end = tune("parts", again, plan=plan, measure=Wavering(again), report=said.append)
    assert "Resumed after step 2 of 6" in said
    assert losses(resumed) == losses(run)
    assert replace(end, seconds=0.0) == replace(state, seconds=0.0)
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in whole.parameters().items())
