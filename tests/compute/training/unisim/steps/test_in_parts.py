"""A batch in parts at once: the values and gradients of the whole, the same every time, and nothing drawn at random."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from compute.training.unisim import loop
from compute.training.unisim.steps import in_parts
from compute.types import BadInput
from tests.compute.training.unisim.small_training import PLAN, base, losses, trained

FULL = replace(PLAN, tune="full", towers="both", learning_rate=3e-4)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_values_and_gradients_are_those_of_the_whole(count: int) -> None:
    """Of two passes, also with fewer items than threads, of weights that one pass uses or none."""
    torch.manual_seed(0)
    weight, second = (torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    unused = torch.ones(2, requires_grad=True)
    items = list(torch.randn(5, 4, dtype=torch.float64))

    def function(part: list[torch.Tensor]) -> torch.Tensor:
        return (torch.stack(part) @ weight).tanh()

    def other(part: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(part) @ (weight * second)

    with in_parts.opened(count) as threads:
        passes = [(function, items), (other, items[:3])]
        whole = [each(own) for each, own in passes]
        parts = in_parts.run(passes, weights=[weight, second, unused], threads=threads)
        assert all(map(torch.allclose, parts, whole))
        expected, given = (
            torch.autograd.grad((one**3).sum() + two.sum(), [weight, second]) for one, two in (whole, parts)
        )
        assert all(map(torch.allclose, given, expected))
        with torch.no_grad():
            assert not any(each.requires_grad for each in in_parts.run(passes, weights=[weight], threads=threads))


def test_the_caller_s_precision_and_threads_are_the_parts() -> None:
    weight = torch.ones(4, 4, requires_grad=True)
    seen = []

    def function(part: list[torch.Tensor]) -> torch.Tensor:
        seen.append(torch.get_num_threads())
        return torch.stack(part) @ weight

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with in_parts.opened(2) as threads:
            for lower, dtype in ((True, torch.bfloat16), (False, torch.float32)):
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=lower):
                    (given,) = in_parts.run([(function, list(torch.ones(4, 4)))], weights=[weight], threads=threads)
                assert given.dtype == dtype
    finally:
        torch.set_num_threads(before)
    assert seen == [1] * 4


def test_a_training_in_parts_is_the_same_every_time_and_nearly_that_of_the_whole(tmp_path: Path) -> None:
    curves = []
    for at, parallel in enumerate((2, 2, 1)):
        plan = replace(FULL, parallel=parallel, keep="none")
        folder, _ = trained(tmp_path / str(at), base(tmp_path / "base"), plan=plan)
        curves.append(losses(folder))
    assert curves[0] == curves[1]
    assert curves[0] == pytest.approx(curves[2], abs=1e-3)


def test_dropout_is_refused(tmp_path: Path) -> None:
    encoder = base(tmp_path / "base")
    with pytest.raises(BadInput, match="parallel=2: .* has dropout in training"):
        loop.check_parallel(encoder, replace(PLAN, parallel=2))
    for fine in (PLAN, replace(PLAN, parallel=2, dropout=0.0), replace(FULL, parallel=2)):
        loop.check_parallel(encoder, fine)
    encoder.module.text_model.encoder.layers[0].self_attn.dropout = 0.1
    loop.check_parallel(encoder, replace(FULL, towers="vision", parallel=2))
    for towers in (encoder.module.text_model, encoder.module.vision_model):
        towers.encoder.layers[0].self_attn.dropout = 0.1
        with pytest.raises(BadInput, match="Train with parallel=1"):
            loop.check_parallel(encoder, replace(FULL, parallel=2))


def test_gradients_do_not_depend_on_which_part_is_done_first() -> None:
    """In bfloat16, of a weight that a part uses twice: whether another part is done between the two uses."""
    torch.manual_seed(0)
    weight, items = torch.randn(64, 64, requires_grad=True), list(torch.randn(2, 8, 64))
    gradients = []
    for is_between in (True, False):
        done = threading.Event()

        def function(part: list[torch.Tensor], done: threading.Event = done, is_between: bool = is_between) -> Any:
            used = part[0] @ weight
            if part[0] is items[0]:
                if not is_between:
                    done.wait(10)
                used = used @ weight
            elif is_between:
                done.wait(10)
                time.sleep(0.2)  # the other part has left its function before, now also its autocast
            used = used @ weight
            if (part[0] is items[0]) == is_between:
                done.set()
            return used

        with in_parts.opened(2) as threads:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                (given,) = in_parts.run([(function, items)], weights=[weight], threads=threads)
            gradients += torch.autograd.grad(given.float().square().sum(), weight)
    assert torch.equal(*gradients)
