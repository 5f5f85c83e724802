"""Ways to keep generalisation: closed forms, what they leave free, both ends of the interpolation, refusals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from compute.training.unisim.steps import preserving
from compute.types import BadInput


def directions(n: int = 6, d: int = 4, seed: int = 0) -> torch.Tensor:
    """(n, d) of length 1."""
    drawn = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.nn.functional.normalize(drawn, dim=-1)


@pytest.mark.parametrize("keep", ["distill", "features"])
def test_the_base_itself_costs_nothing(keep: str) -> None:
    base = directions()
    term = preserving.penalty(keep, tuned=base, base=base)
    assert term is not None and float(term) == 0


def test_closed_forms() -> None:
    """Two orthogonal vectors that fall together: cosine 0 -> 1, off the diagonal. One of them moved by 90 degrees."""
    base = torch.eye(2, dtype=torch.float64)
    tuned = torch.stack([base[0], base[0]])
    assert float(preserving.similarity_distance(tuned, base)) == 1
    assert float(preserving.feature_distance(tuned, base)) == pytest.approx((0 + 2) / 2)
    assert float(preserving.feature_distance(-base, base)) == 4


def test_a_rotation_changes_features_but_no_similarity() -> None:
    base = directions()
    turned = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64))[0]
    assert float(preserving.similarity_distance(base @ turned, base)) == pytest.approx(0, abs=1e-12)
    assert float(preserving.feature_distance(base @ turned, base)) > 0.1


def test_captions_leave_free_what_none_of_them_sees() -> None:
    """An image that turns away from the only caption costs the square of what its cosine loses; across it, nothing."""
    caption, across, further = torch.eye(3, dtype=torch.float64)
    cost = partial(preserving.penalty, "distill", captions=(caption[None], caption[None]))
    assert float(cost(tuned=across[None], base=caption[None])) == 1
    assert float(cost(tuned=further[None], base=across[None])) == 0
    assert float(preserving.penalty("distill", tuned=torch.eye(3), base=torch.ones(3, 3) / 3**0.5)) > 0  # no caption


def test_a_caption_may_turn_with_its_image_in_distilling_alone() -> None:
    """Both turned alike: no cosine changes, so nothing is lost by `distill`; `features` counts both squares of 2."""
    caption, other = torch.eye(2, dtype=torch.float64)
    turned = {"tuned": other[None], "base": caption[None], "captions": (other[None], caption[None])}
    assert float(preserving.penalty("distill", **turned)) == 0
    assert float(preserving.penalty("features", **turned)) == pytest.approx(2 + 2)
    still = {**turned, "captions": (caption[None], caption[None])}
    assert float(preserving.penalty("distill", **still)) == 1 and float(preserving.penalty("features", **still)) == 2


def test_a_term_compares_a_bounded_number_of_images() -> None:
    """64 of 150 images, each with itself; of one that turned round, both captions' cosines count."""
    embedded: list[int] = []
    images = directions(n=150).float()

    class Base:
        def base_vectors(
            self, prepared: Sequence[Mapping[str, Any]], texts: Sequence[str]
        ) -> tuple[torch.Tensor, torch.Tensor]:
            embedded.append(len(prepared))
            return torch.stack([item["vector"] for item in prepared]), torch.stack([images[int(at)] for at in texts])

    batch = SimpleNamespace(
        base=Base(),
        prepared=[{"vector": vector} for vector in images],
        images=images,
        stated=["0", "1"],
        captions=images[:2],
    )
    (term,) = preserving.penalties("distill", 2.0)
    assert float(term(batch)) == 0 and embedded == [preserving.COMPARED]
    compared = preserving.spread(150)
    assert len(set(compared)) == preserving.COMPARED and (compared[0], compared[-1]) == (0, 149)
    assert len({at % 3 for at in compared}) == len({at % 2 for at in compared}) + 1 == 3
    assert preserving.spread(5) == [0, 1, 2, 3, 4] and preserving.spread(1) == [0]
    for at in (compared[7], next(at for at in range(150) if at not in compared)):
        batch.images = images.clone()
        batch.images[at] = -images[at]
        cosines = images[at] @ images[:2].T
        share = float((2 * cosines).square().mean()) / preserving.COMPARED if at in compared else 0.0
        assert float(term(batch)) == pytest.approx(2.0 * share, rel=1e-5)


@pytest.mark.parametrize("keep", ["distill", "features"])
def test_the_gradient_leads_back_to_the_base(keep: str) -> None:
    base = directions()
    tuned = (base + 0.2 * directions(seed=2)).requires_grad_()
    before = preserving.penalty(keep, tuned=torch.nn.functional.normalize(tuned, dim=-1), base=base)
    assert before is not None
    before.backward()
    stepped = torch.nn.functional.normalize(tuned.detach() - 0.05 * tuned.grad, dim=-1)
    after = preserving.penalty(keep, tuned=stepped, base=base)
    assert after is not None and float(after) < float(before)


def test_methods_without_a_term() -> None:
    assert all(
        preserving.penalty(keep, tuned=directions(), base=directions()) is None for keep in ("none", "interpolate")
    )


def test_interpolation_from_tuned_to_base() -> None:
    base = {"w": torch.tensor([0.0, 2.0]), "half": torch.tensor([1.0]).half(), "count": torch.tensor([1])}
    tuned = {"w": torch.tensor([4.0, 2.0]), "half": torch.tensor([3.0]).half(), "count": torch.tensor([5])}
    for share, expected in ((0.0, [4.0, 2.0]), (0.25, [3.0, 2.0]), (1.0, [0.0, 2.0])):
        mixed = preserving.interpolated(base=base, tuned=tuned, base_share=share)
        assert mixed["w"].tolist() == expected and mixed["count"].tolist() == [5]
        assert mixed["half"].dtype == torch.float16 and mixed["half"].item() == 3 - 2 * share
    assert tuned["w"].tolist() == [4.0, 2.0]


def test_refusals_name_what_is_wrong() -> None:
    weight = {"w": torch.zeros(2)}
    with pytest.raises(BadInput, match="only one of the two has bias"):
        preserving.interpolated(base=weight, tuned={**weight, "bias": torch.zeros(1)}, base_share=0.5)
    with pytest.raises(BadInput, match=r"w: \(2,\) in the base, \(3,\)"):
        preserving.interpolated(base=weight, tuned={"w": torch.zeros(3)}, base_share=0.5)
    with pytest.raises(BadInput, match="from 0 to 1"):
        preserving.interpolated(base=weight, tuned=weight, base_share=1.5)
    with pytest.raises(BadInput, match="'distil' is none of .* Did you mean 'distill'"):
        preserving.check("distil", 1)
    for strength in (-1, math.nan, math.inf):
        with pytest.raises(BadInput, match="0 or more"):
            preserving.check("features", strength)
