"""Steps, the best weights, what keeps generalisation, and what stops a run."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from compute.content import decoding
from compute.training import loop
from compute.training.examples import QUALITY_PROMPT, TASKS, batches
from compute.training.loop import distance
from compute.training.run_folder import RunFolder
from compute.types import BadInput, LikenessError
from tests.compute.training.small_training import (
    PLAN,
    Wavering,
    image_vectors,
    listed,
    losses,
    picture,
    scores,
    sets,
    trained,
)

STILL = replace(PLAN, dropout=0.0)


@pytest.fixture(scope="module")
def still(bases):
    """The base, which no test tunes."""
    return bases()


@pytest.fixture
def tune(bases, tmp_path):
    """Trains an encoder, by default the base, in a folder of this name."""
    return lambda name="run", encoder=None, **given: trained(tmp_path / name, encoder or bases(), **given)


@pytest.fixture
def tuned(bases, tmp_path):
    """A base whose weights to be tuned are far from where they began, without training, in a run of this plan."""

    def made(**plan):
        run = loop.Tuning(bases(), replace(STILL, **plan), RunFolder(path=tmp_path, identity={}))
        torch.manual_seed(1)
        with torch.no_grad():
            for weight in run.weights.values():
                weight.add_(torch.randn_like(weight), alpha=0.05)
        return run

    return made


def test_examples_are_learnt_by_heart_and_the_text_tower_stays(bases, tune):
    encoder = bases()
    frozen = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    run, state = tune("run", encoder, plan=replace(STILL, samples=160), parts=sets("image-choice"))
    curve = losses(run)
    assert state.step == len(curve) == 40 and np.mean(curve[-5:]) < 0.3 * np.mean(curve[:5])
    after = encoder.module.state_dict()
    same = {name for name, value in frozen.items() if torch.equal(value, after.get(name, value))}
    assert {name for name in frozen if name.startswith(("text_", "visual_projection", "logit_scale"))} <= same


def test_a_step_s_loss_is_equation_1_summed_over_tasks(bases, tune):
    """Against the encoder's own vectors, one example at a time."""
    encoder = bases()

    def vector(column, row):
        if column.modality == "text":
            return encoder.text_vectors([column.read(row)])
        prepared = encoder.towers.prepare("image", decoding.decode(column.read(row)))
        return encoder.image_vectors({name: values[None] for name, values in prepared.items()})

    def loss(part, row):
        asked, *both = (vector(column, row).detach().numpy() for column in part.columns)
        better, worse = both[:: 1 - 2 * part.data.answer[row]]
        return max(0.0, 0.01 + ((worse - better) @ asked.T).item())

    by_hand = {
        task: np.mean([loss(*one) for one in rows])
        for task, rows in batches(sets(), batch_size=4, seed=0, step=0).items()
    }
    run, _ = tune("run", encoder, plan=replace(STILL, samples=4, margin=0.01))
    first = run.losses()[0]
    assert {task: first[task] for task in TASKS} == pytest.approx(by_hand, abs=1e-5)
    assert first["total"] == pytest.approx(sum(by_hand.values()), abs=1e-5)


@pytest.mark.parametrize("adapter", ["clip", "open_clip"])
def test_checkpointing_changes_no_result(bases, tmp_path, adapter):
    parts, curves = sets("image-choice"), []
    for on in (False, True):
        encoder, plan = bases(adapter), replace(STILL, samples=8, checkpointing=on)
        curves.append(losses(trained(tmp_path / f"{on}", encoder, plan=plan, parts=parts)[0]))
    assert curves[0] == pytest.approx(curves[1], abs=1e-5) and curves[0][0] != curves[0][1]


def test_the_best_core_average_is_what_remains(bases, tune):
    """Measured at 0, 3 and 6: the weights of step 3 come back, and core and OOD stand side by side in the report."""
    said, seen = [], []
    encoder, measured = bases(), scores((0.5, 0.4), (0.8, 0.35), (0.6, 0.3))

    def measure():
        seen.append(image_vectors(encoder).detach())
        return measured()

    _, state = tune("run", encoder, measure=measure, report=said.append)
    assert state.best == 3 and [each.step for each in state.measurements] == [0, 3, 6]
    assert any("core 80.0 (+30.0), OOD 35.0 (-5.0)" in line for line in said)
    assert torch.equal(image_vectors(encoder), seen[1]) and not torch.equal(seen[1], seen[2])


@pytest.mark.parametrize("plan", [{}, {"tune": "full"}], ids=["lora", "full"])
def test_interpolation_lies_between_the_base_and_plain_tuning(still, tuned, plan):
    before, away = image_vectors(still).detach(), []
    for share in (1e-9, 0.3, 1.0):
        run = tuned(**plan, keep="interpolate", strength=share)
        plain = image_vectors(run.base).detach()
        with run.as_stored():
            away.append(float((image_vectors(run.base).detach() - before).square().sum()))
        assert torch.equal(image_vectors(run.base).detach(), plain), "what goes on being trained"
    assert away[0] == pytest.approx(float((plain - before).square().sum()), rel=1e-4)
    assert away[0] > away[1] > away[2] == pytest.approx(0, abs=1e-9)
    assert away[1] > away[0] / 4, "nearer to the tuned model at a share of 0.3"


@pytest.mark.parametrize("plan", [{}, {"tune": "full", "towers": "both"}], ids=["lora", "both"])
def test_distill_is_the_distance_to_the_base_times_its_strength(still, tuned, plan):
    """The prompt of quality, which tuning is to change, is no caption."""
    run = tuned(**plan, keep="distill", strength=7.0)
    batch = loop.batch_of(run.base, sets(), PLAN, 0)
    captions = [text for text in batch.texts if text != QUALITY_PROMPT]
    assert 0 < len(captions) == len(batch.texts) - 1
    vectors = [(each.image_vectors(batch.images), each.text_vectors(captions)) for each in (run.base, still)]
    (images, texts), (own, said) = vectors
    far = distance(images, own, (texts, said)).item()
    assert run.losses(batch)["distill"].item() == pytest.approx(7 * far, rel=1e-5) and far > 1e-4


def state_of(path):
    return RunFolder(path=path, identity={}).load()


@pytest.mark.parametrize("change", [{"learning_rate": 1e30, "tune": "full"}, {"margin": 1e38, "alpha": 1e38}])
def test_a_loss_that_is_not_finite_ends_the_run_with_the_last_good_state(tune, tmp_path, change):
    with pytest.raises(LikenessError, match="not finite"):
        tune(plan=replace(PLAN, samples=400, **change))
    assert all(value.isfinite().all() for value in state_of(tmp_path / "run").get("weights", {}).values())


@pytest.mark.parametrize(
    "task, row, word",
    [("quality", ("p", b"x", b"y"), "broken, image 0"), ("text-for-image", (picture(0), " ", "b"), "broken, text 0")],
)
def test_what_cannot_be_read_is_named(tune, task, row, word):
    with pytest.raises(BadInput, match=word):
        tune(parts=[listed(task, [row], [0], dataset="broken")])


def test_a_killed_process_that_prepares_is_named(tune, monkeypatch):
    monkeypatch.setattr(loop, "batch_of", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(LikenessError, match="killed"):
        tune()


@pytest.mark.parametrize(
    "plan, processor, expected",
    [
        ("auto", {"amx_bf16": True}, "bfloat16"),
        ("auto", {"avx512_f": True}, "float32"),
        ("float32", {"amx_bf16": True}, "float32"),
        ("bfloat16", {}, "bfloat16"),
    ],
)
def test_a_processor_multiplies_in_bfloat16_where_it_can_and_may(still, monkeypatch, plan, processor, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: processor)
    assert loop.precision(still, replace(PLAN, precision=plan)) == expected


EVERYTHING = replace(PLAN, tune="full", towers="both", learning_rate=1e-3, keep="distill", strength=1.0)


@pytest.mark.parametrize("plan", [PLAN, EVERYTHING], ids=["lora", "full"])
def test_a_stopped_run_goes_on_to_the_same_weights(bases, tune, monkeypatch, plan):
    """Dropout, the optimiser, the best weights and the log; who stops it is told from where it goes on."""
    whole, parts = bases(), sets("image-choice", "image-for-text")
    run, state = tune("whole", whole, plan=plan, parts=parts, measure=Wavering(whole))
    step, said = loop.Tuning.step, []

    def stop(tuning, batch):
        if tuning.state.step == 3:
            raise KeyboardInterrupt
        return step(tuning, batch)

    monkeypatch.setattr(loop.Tuning, "step", stop)
    stopped = bases()
    with pytest.raises(KeyboardInterrupt):
        tune("parts", stopped, plan=plan, parts=parts, measure=Wavering(stopped), report=said.append)
    assert "after step 2 of 6" in said[-1]
    monkeypatch.undo()
    again = bases()
    resumed, end = tune("parts", again, plan=plan, parts=parts, measure=Wavering(again), report=said.append)
    assert "Resumed after step 2 of 6" in said
    assert losses(resumed) == losses(run)
    assert replace(end, seconds=0.0) == replace(state, seconds=0.0)
    assert all(torch.equal(weight, again.parameters()[name]) for name, weight in whole.parameters().items())


def unit(*degrees):
    """(n, 2) vectors of length 1 at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


E1, E2, E3 = torch.eye(3)[:, None]
BOTH = torch.eye(2)


@pytest.mark.parametrize(
    "tuned, base, captions, expected",
    [
        (BOTH, BOTH, None, 0),
        (BOTH[[0, 0]], BOTH, None, 1),  # orthogonal vectors that fall together: cosine 0 -> 1, off the diagonal
        (unit(30.0, 120.0), BOTH, None, 0),  # a rotation
        (BOTH[:1], BOTH[1:], None, 0),  # a single image
        (E2, E1, (E1, E1), 1),  # an image that turns away from the only caption
        (E3, E2, (E1, E1), 0),  # and across it
        (E2, E1, (E2, E1), 0),  # both turned alike
    ],
)
def test_distance_is_of_similarities_to_captions_or_else_among_images(tuned, base, captions, expected):
    assert float(distance(tuned, base, captions)) == pytest.approx(expected, abs=1e-12)
