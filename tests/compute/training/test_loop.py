"""Steps, the best weights, what keeps generalisation, and what stops a run."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from compute.training import loop, run_folder
from compute.training.examples import TASKS, Content, batches
from compute.training.loop import StepBatches
from compute.training.loss import hinge
from compute.types import BadInput, LikenessError
from tests.compute.models import checkpoints
from tests.compute.training.small_training import (
    PLAN,
    ListedExamples,
    Scores,
    Wavering,
    base,
    examples,
    image_vectors,
    losses,
    sets,
    trained,
)

STILL = replace(PLAN, dropout=0.0)
FULL = replace(STILL, tune="full", learning_rate=3e-4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small random base."""
    return checkpoints.clip(tmp_path_factory.mktemp("base") / "clip")


def test_examples_are_learnt_by_heart_and_the_text_tower_stays(folder, tmp_path):
    encoder = base(folder)
    frozen = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    run, state = trained(tmp_path / "run", encoder, plan=replace(STILL, samples=240))
    curve = losses(run)
    assert state.step == len(curve) == 60 and np.mean(curve[-5:]) < 0.3 * np.mean(curve[:5])
    after = encoder.module.state_dict()
    same = {name for name, value in frozen.items() if torch.equal(value, after.get(name, value))}
    assert {name for name in frozen if name.startswith(("text_", "visual_projection", "logit_scale"))} <= same


def test_a_step_s_loss_is_equation_1_summed_over_tasks(folder, tmp_path):
    """Against the encoder's own vectors, one example at a time."""
    encoder = base(folder)
    by_hand = {}
    for task, part in batches(sets(), batch_size=4, seed=0, step=0).items():
        of_task = []
        for example in part:
            contents = [
                encoder.image_vectors(
                    {name: value[None] for name, value in encoder.towers.prepare("image", content.image()).items()}
                )
                if content.modality == "image"
                else encoder.text_vectors([content.text()])
                for content in example.contents
            ]
            of_task.append(hinge(*contents, preferred=torch.tensor([example.preferred]), margin=0.05).item())
        by_hand[task] = np.mean(of_task)
    run, _ = trained(tmp_path / "run", encoder, plan=replace(STILL, samples=4))
    first = run.losses()[0]
    assert {task: first[task] for task in TASKS} == pytest.approx(by_hand, abs=1e-5)
    assert first["total"] == pytest.approx(sum(by_hand.values()), abs=1e-5)


def test_a_content_that_examples_share_comes_once(folder):
    part = examples("image-choice")
    shared = part[0].reference

    class Shared:
        task, dataset, group_size = "image-choice", "shared", 1

        def __len__(self) -> int:
            return len(part)

        def __getitem__(self, row: int):
            return replace(part[row], reference=shared)

    batch = StepBatches(base(folder), [Shared()], PLAN)[0]
    assert len(batch.images["pixel_values"]) == 1 + 2 * PLAN.batch_size and not batch.texts
    assert batch.rows["image-choice"][:, 0].tolist() == [0] * PLAN.batch_size


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


def test_the_best_core_average_is_what_remains(folder, tmp_path):
    """Measured at 0, 3 and 6: the weights of step 3 come back, and core and OOD stand side by side in the report."""
    said, seen = [], []
    encoder, scores = base(folder), Scores([0.5, 0.8, 0.6], [0.4, 0.35, 0.3])

    def measure():
        seen.append(image_vectors(encoder).detach())
        return scores()

    _, state = trained(tmp_path / "run", encoder, measure=measure, report=said.append)
    assert state.best == 3 and [each.step for each in state.measurements] == [0, 3, 6]
    assert any("core 80.0 (+30.0), OOD 35.0 (-5.0)" in line for line in said)
    assert torch.equal(image_vectors(encoder), seen[1]) and not torch.equal(seen[1], seen[2])


def test_interpolation_lies_between_the_base_and_plain_tuning(folder, tmp_path):
    for tune, plan in (("lora", STILL), ("full", FULL)):
        made = {}
        for share in (0.0, 0.5, 1.0):
            encoder = base(folder)
            keep = {"keep": "interpolate", "strength": share} if share else {}
            trained(tmp_path / f"{tune}-{share}", encoder, plan=replace(plan, **keep))
            made[share] = image_vectors(encoder).detach()
        plain, half, whole = (
            (made[share] - image_vectors(base(folder)).detach()).square().sum() for share in (0.0, 0.5, 1.0)
        )
        assert float(plain) > float(half) > float(whole) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("plan", [STILL, replace(FULL, towers="both")], ids=["lora", "both"])
def test_distill_holds_the_model_near_its_base(folder, tmp_path, plan):
    """The same steps with the term end nearer to the base, by what the term measures."""
    ends = []
    for strength in (1e-9, 100.0):
        run, _ = trained(
            tmp_path / f"{strength}", base(folder), plan=replace(plan, keep="distill", strength=strength, samples=40)
        )
        ends.append(run.losses()[-1]["distill"] / strength)
        assert run.losses()[0]["distill"] == pytest.approx(0, abs=1e-6)
    assert ends[1] < ends[0] / 2


@pytest.mark.parametrize("change", [{"learning_rate": 1e30, "tune": "full"}, {"margin": 1e38, "alpha": 1e38}])
def test_a_loss_that_is_not_finite_ends_the_run_with_the_last_good_state(folder, tmp_path, change):
    plan = replace(PLAN, samples=400, **change)
    with pytest.raises(LikenessError, match="not finite"):
        trained(tmp_path / "run", base(folder), plan=plan)
    stored = run_folder.RunFolder(path=tmp_path / "run", identity={}).load()
    assert all(value.isfinite().all() for value in stored.get("weights", {}).values())


def test_a_refused_image_ends_the_run_before_its_step_and_an_unreadable_one_is_named(folder, tmp_path):
    def shown(step: int) -> set[bytes]:
        drawn = batches(sets(), batch_size=4, seed=0, step=step).values()
        return {each.key() for part in drawn for row in part for each in row.contents}

    def refuse(image: Content) -> None:
        if image.key() in shown(1) - shown(0):
            raise BadInput(f"{image.name} is evaluated too")

    with pytest.raises(BadInput, match="evaluated"):
        trained(tmp_path / "hit", base(folder), compare=refuse, plan=replace(PLAN, save_every=1))
    assert run_folder.RunFolder(path=tmp_path / "hit", identity={}).load()["state"]["step"] == 1
    broken = ListedExamples(task="quality", rows=[("p", b"x", b"y")], preferred=[0], dataset="broken")
    with pytest.raises(BadInput, match="broken 0"):
        trained(tmp_path / "broken", base(folder), parts=[broken])


def test_a_killed_process_that_prepares_is_named(folder, tmp_path):
    with pytest.raises(LikenessError, match="killed"):
        trained(tmp_path / "run", base(folder), compare=lambda image: os.kill(os.getpid(), signal.SIGKILL))


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
def test_a_stopped_run_goes_on_to_the_same_weights(folder, tmp_path, monkeypatch, plan):
    """Dropout, both optimisers, the best weights and the log; who stops it is told from where it goes on."""
    whole = base(folder)
    run, state = trained(tmp_path / "whole", whole, plan=plan, measure=Wavering(whole))
    step, said = loop.Tuning.step, []

    def stop(tuning, batch):
        if tuning.state.step == 3:
            raise KeyboardInterrupt
        return step(tuning, batch)

    monkeypatch.setattr(loop.Tuning, "step", stop)
    stopped = base(folder)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "parts", stopped, plan=plan, measure=Wavering(stopped), report=said.append)
    assert "after step 2 of 6" in said[-1]
    monkeypatch.undo()
    again = base(folder)
    resumed, end = trained(tmp_path / "parts", again, plan=plan, measure=Wavering(again), report=said.append)
    assert "Resumed after step 2 of 6" in said
    assert losses(resumed) == losses(run)
    assert replace(end, seconds=0.0) == replace(state, seconds=0.0)
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in whole.parameters().items())
