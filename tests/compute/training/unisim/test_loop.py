"""Steps, accumulation, checkpointing, schedules, the best weights, and what stops a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from compute.training.unisim import loop
from compute.training.unisim.data.examples import TASKS, batches
from compute.training.unisim.steps import prepared_batches, preserving
from compute.training.unisim.steps.hinge import hinge
from compute.types import BadInput, LikenessError
from tests.compute.training.unisim.small_training import PLAN, base, losses, sets, trained

LEARN = replace(PLAN, samples=240, dropout=0.0)
STILL = replace(PLAN, dropout=0.0)


@dataclass
class Scores:
    """Measurements in place of an evaluator's: core and OOD by call, the last ones again."""

    core: list[float | None]
    ood: list[float | None]
    vectors: list[np.ndarray] = field(default_factory=list)

    def measure(self, embed_images: Any) -> Any:
        from PIL import Image

        at = min(len(self.vectors), len(self.core) - 1)
        self.vectors.append(embed_images([Image.new("RGB", (40, 30), (200, 30, 60))]))
        record = {"core": self.core[at], "ood": self.ood[at], "tasks": {}}
        return type("Scored", (), {"record": lambda self: record})()


def prepared(encoder, plan) -> dict[str, list[prepared_batches.PreparedExample]]:
    """The batch of the first step."""
    return next(prepared_batches.batches_ahead(encoder, sets(), plan, start=0, end=1))


def test_examples_are_learnt_by_heart_and_the_text_tower_stays(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    frozen = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    folder, state = trained(tmp_path / "run", encoder, plan=LEARN)
    curve = losses(folder)
    assert state.step == len(curve) == 60 and np.mean(curve[-5:]) < 0.3 * np.mean(curve[:5])
    after = encoder.module.state_dict()
    same = {name for name, value in frozen.items() if torch.equal(value, after.get(name, value))}
    assert {name for name in frozen if name.startswith(("text_", "visual_projection", "logit_scale"))} <= same


def test_a_step_s_loss_is_equation_1_summed_over_tasks(tmp_path: Path) -> None:
    """Against the encoder's own vectors, one example at a time."""
    encoder = base(tmp_path / "base")
    by_hand = {}
    for task, examples in batches(sets(), batch_size=4, seed=0, step=0).items():
        of_task = []
        for example in examples:
            vectors = [
                encoder.image_vectors([encoder.prepared(content.image())])
                if content.modality == "image"
                else encoder.text_vectors([content.text()])
                for content in example.contents
            ]
            of_task.append(hinge(*vectors, preferred=torch.tensor([example.preferred]), margin=0.05).item())
        by_hand[task] = np.mean(of_task)
    folder, _ = trained(tmp_path / "run", encoder, plan=STILL)
    first = folder.losses()[0]
    assert {task: first[task] for task in TASKS} == pytest.approx(by_hand, abs=1e-5)
    assert first["total"] == pytest.approx(sum(by_hand.values()), abs=1e-5)


@pytest.mark.parametrize("change", [{"accumulate": 2}, {"accumulate": 4}, {"checkpointing": True}])
@pytest.mark.parametrize("adapter", ["clip", "open_clip"])
def test_what_saves_memory_changes_no_result(tmp_path: Path, adapter: str, change: dict[str, Any]) -> None:
    plain, _ = trained(tmp_path / "plain", base(tmp_path / "base", adapter), plan=STILL)
    saving, _ = trained(tmp_path / "saving", base(tmp_path / "base", adapter), plan=replace(STILL, **change))
    assert losses(saving) == pytest.approx(losses(plain), abs=1e-5)


def test_checkpointing_draws_the_same_dropout_and_stores_less(tmp_path: Path) -> None:
    stored = {}
    for on in (False, True):
        encoder = base(tmp_path / "base")
        plan = replace(PLAN, checkpointing=on, dropout=0.5)
        loop.tune(encoder, plan)
        encoder.training(True)
        bytes_stored = []

        def pack(tensor: torch.Tensor, into=bytes_stored) -> torch.Tensor:
            into.append(tensor.numel())
            return tensor

        torch.manual_seed(3)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            embedded = loop.embed(encoder, prepared(encoder, plan))
        embedded.images[:, 0].sum().backward()
        gradients = {name: weight.grad for name, weight in encoder.parameters().items() if weight.grad is not None}
        stored[on] = (sum(bytes_stored), gradients)
    assert stored[True][0] < 0.5 * stored[False][0]
    assert stored[True][1].keys() == stored[False][1].keys() and stored[True][1]
    assert all(torch.allclose(stored[True][1][name], grad, atol=1e-5) for name, grad in stored[False][1].items())


def test_the_best_core_average_is_what_remains(tmp_path: Path) -> None:
    """Measured at 0, 3 and 6: the weights of step 3 come back, and core and OOD stand side by side in the report."""
    scores, said = Scores([0.5, 0.8, 0.6], [0.4, 0.35, 0.3]), []
    encoder = base(tmp_path / "base")
    _, state = trained(tmp_path / "run", encoder, evaluator=scores, report=said.append)
    assert state.best == 3 and [each.step for each in state.measurements] == [0, 3, 6]
    assert any("core 80.0 (+30.0), OOD 35.0 (-5.0)" in line for line in said)
    again = Scores([0.0], [0.0])
    again.measure(lambda images: encoder.towers.embed("image", [encoder.towers.prepare("image", x) for x in images]))
    assert again.vectors[0] == pytest.approx(scores.vectors[1], abs=1e-6)
    assert np.abs(scores.vectors[2] - scores.vectors[1]).max() > 1e-4


def test_a_loss_of_generalisation_stops_the_run_with_the_best_weights_before(tmp_path: Path) -> None:
    scores, said = Scores([0.5, 0.6, 0.9], [0.40, 0.37, 0.33]), []
    plan = replace(PLAN, samples=40, evaluate_every=2, max_ood_drop=5.0)
    _, state = trained(tmp_path / "run", base(tmp_path / "base"), plan=plan, evaluator=scores, report=said.append)
    assert state.step == 4 < plan.steps and state.best == 2
    assert "fallen by 7.0 points" in state.stopped and said[-1].startswith("Stopped: ")
    on, after = trained(tmp_path / "run", base(tmp_path / "base"), plan=plan, evaluator=scores, report=said.append)
    assert after.step == 4 and len(losses(on)) == 4  # stopped for good


def test_without_a_bound_generalisation_stops_nothing(tmp_path: Path) -> None:
    scores = Scores([0.5, 0.6, 0.9], [0.9, 0.5, 0.1])
    _, state = trained(tmp_path / "run", base(tmp_path / "base"), evaluator=scores)
    assert state.step == PLAN.steps and state.best == 6 and not state.stopped


def test_a_loss_that_is_not_a_number_stops_the_run_and_leaves_the_last_good_state(tmp_path: Path, monkeypatch) -> None:
    encoder = base(tmp_path / "base")
    real, calls = loop.hinge, []

    def spoilt(*vectors, preferred, margin):
        calls.append(1)
        value = real(*vectors, preferred=preferred, margin=margin)
        return value * math.nan if len(calls) == 4 * 4 + 2 else value  # the fifth step's second task

    monkeypatch.setattr(loop, "hinge", spoilt)
    with pytest.raises(LikenessError, match=r"The loss of image-for-text is nan at step 5.*lower learning_rate"):
        trained(tmp_path / "run", encoder)
    monkeypatch.undo()
    weights = {name: value.isfinite().all() for name, value in encoder.parameters().items()}
    assert all(weights.values())
    said: list[str] = []
    folder, state = trained(tmp_path / "run", base(tmp_path / "base"), report=said.append)
    assert said[0] == "Resumed after step 4 of 6" and state.step == 6 and len(losses(folder)) == 6


@pytest.mark.parametrize("step", [1, 2, 6])
def test_the_state_before_the_bad_step_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Before the first stored step too, and whatever number of steps lies between stored ones."""
    plan, real, calls = replace(PLAN, save_every=5), loop.hinge, []

    def spoilt(*vectors, preferred, margin):
        calls.append(1)
        value = real(*vectors, preferred=preferred, margin=margin)
        return value * math.nan if len(calls) > 4 * (step - 1) else value

    monkeypatch.setattr(loop, "hinge", spoilt)
    encoder = base(tmp_path / "base")
    with pytest.raises(LikenessError, match=f"at step {step}. Train again with a lower"):
        trained(tmp_path / "run", encoder, plan=plan)
    monkeypatch.undo()
    assert [state.name for state in (tmp_path / "run" / "training").glob("step-*")] == [f"step-{step - 1:06}"]
    folder, state = trained(tmp_path / "run", base(tmp_path / "base"), plan=plan)
    assert state.step == 6
    (stored,) = folder.training.glob("step-*")
    whole, _ = trained(tmp_path / "whole", base(tmp_path / "base"), plan=plan)
    assert losses(folder) == losses(whole) and stored.name == "step-000006"


@pytest.mark.parametrize("task", ["text-for-image", "quality"])
def test_distilling_takes_a_single_image_and_no_caption(task: str, tmp_path: Path) -> None:
    """One image a part has captions to be compared with; quality has no caption, and then images are compared."""
    plan = replace(PLAN, keep="distill", strength=1.0, accumulate=4)
    terms = preserving.penalties(plan.keep, plan.strength)
    folder, _ = trained(tmp_path / "one", base(tmp_path / "base"), plan=plan, parts=sets(task), penalties=terms)
    terms = [line["distill"] for line in folder.losses()]
    assert all(map(math.isfinite, terms)) and terms[-1] > 0


def test_every_image_is_compared_before_its_step_and_a_hit_ends_the_run_there(tmp_path: Path) -> None:
    """What was trained until then stays; the count of compared images goes on with a run that goes on."""
    compared: list[bytes] = []
    plan = replace(PLAN, save_every=1)
    folder, state = trained(
        tmp_path / "all", base(tmp_path / "base"), plan=plan, compare=lambda image: compared.append(image.key())
    )
    steps = [
        [
            content.key()
            for part in batches(sets(), batch_size=plan.batch_size, seed=0, step=at).values()
            for example in part
            for content in example.contents
            if content.modality == "image"
        ]
        for at in range(plan.steps)
    ]
    assert sorted(compared) == sorted(sum(steps, [])) and state.compared == len(compared)
    late = min(set(steps[1]).difference(steps[0]))

    def refuse(image) -> None:
        if image.key() == late:
            raise BadInput(f"{image.name()} is evaluated too")

    with pytest.raises(BadInput, match="is evaluated too"):
        trained(tmp_path / "hit", base(tmp_path / "base"), plan=plan, compare=refuse)
    (stored,) = (tmp_path / "hit" / "training").glob("step-*")
    assert stored.name == "step-000001"
    _, state = trained(tmp_path / "hit", base(tmp_path / "base"), plan=plan, compare=lambda image: None)
    assert state.compared == len(compared)


def test_a_diverging_rate_is_stopped_too(tmp_path: Path) -> None:
    plan = replace(PLAN, learning_rate=1e30, samples=400, tune="full")
    with pytest.raises(LikenessError, match="at step"):
        trained(tmp_path / "run", base(tmp_path / "base"), plan=plan)


def test_unknown_tasks_and_empty_data_stop_before_the_first_step(tmp_path: Path) -> None:
    empty = replace_rows(sets("quality")[0], 0)
    with pytest.raises(BadInput, match="noise: no example of quality"):
        trained(tmp_path / "run", base(tmp_path / "base"), parts=[empty])
    with pytest.raises(BadInput, match="No training examples"):
        trained(tmp_path / "other", base(tmp_path / "base"), parts=[])


def replace_rows(part, count: int):
    """The set with its first rows alone."""
    rows = np.arange(count)
    return replace(
        part,
        reference=part.reference.take(rows),
        alternatives=tuple(column.take(rows) for column in part.alternatives),
        preferred=part.preferred[:count],
    )


def test_fewer_tasks_and_penalties(tmp_path: Path) -> None:
    """A penalty is added to the losses of the tasks that there are, and sees what the base gave."""

    class Away:
        key = "away"

        def __call__(self, batch: loop.EmbeddedBatch) -> torch.Tensor:
            return (batch.images - batch.base.base_vectors(batch.prepared)[0]).square().sum(-1).mean()

    folder, _ = trained(
        tmp_path / "run", base(tmp_path / "base"), plan=STILL, parts=sets("image-choice"), penalties=[Away()]
    )
    logged = folder.losses()
    assert set(logged[0]) == {"image-choice", "away", "total"}
    assert logged[0]["away"] == pytest.approx(0, abs=1e-6) and logged[-1]["away"] > 1e-4
    assert logged[-1]["total"] == pytest.approx(logged[-1]["away"] + logged[-1]["image-choice"])


def test_the_caller_s_randomness_and_threads_stay(tmp_path: Path) -> None:
    encoder, threads = base(tmp_path / "base"), torch.get_num_threads()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    trained(tmp_path / "run", encoder, plan=replace(PLAN, samples=8))
    assert torch.equal(torch.rand(3), expected) and torch.get_num_threads() == threads


@pytest.mark.parametrize(
    ("plan", "instructions", "expected"),
    [
        ("fast", {"amx_bf16": True}, "bfloat16"),
        ("fast", {"avx512_bf16": True, "amx_bf16": False}, "bfloat16"),
        ("fast", {"avx512_f": True}, "float32"),
        ("auto", {"amx_bf16": True}, "float32"),
        ("bfloat16", {}, "bfloat16"),
    ],
)
def test_a_processor_multiplies_in_bfloat16_where_it_can_and_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: str, instructions: dict[str, bool], expected: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    assert loop.precision(base(tmp_path / "model"), replace(PLAN, precision=plan)) == expected


def test_a_content_that_examples_share_is_embedded_once_and_changes_no_loss(tmp_path: Path) -> None:
    encoder = base(tmp_path / "model")
    batch = prepared(encoder, STILL)
    alone = loop.embed(encoder, batch)
    shared = {
        task: [replace(example, contents=(examples[0].contents[0], *example.contents[1:])) for example in examples]
        for task, examples in batch.items()
    }
    copies = {
        task: [
            replace(example, contents=tuple(each if isinstance(each, str) else dict(each) for each in example.contents))
            for example in examples
        ]
        for task, examples in shared.items()
    }
    once, again = loop.embed(encoder, shared), loop.embed(encoder, copies)
    assert len(once.images) < len(again.images) == len(alone.images)
    assert len(once.prepared) == len(once.images)
    for task in batch:
        torch.testing.assert_close(once.tasks[task], again.tasks[task])
