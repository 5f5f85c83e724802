"""A batch through the towers in parts that run at once, each in a thread of its own.

On a CPU small layers gain little from being split over the cores: two halves of 216 images of 64 pixels, each on one
core, took two thirds of the time of both cores at every layer, forward and backward (AMD EPYC, 2 cores, bfloat16).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, pairwise
from operator import call
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    # What embeds items, and the items.
    Pass = tuple[Callable[[Sequence[Any]], torch.Tensor], Sequence[Any]]
    Part = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Threads:
    """`count` threads, one a part."""

    pool: ThreadPoolExecutor
    count: int


@contextmanager
def opened(count: int) -> Iterator[Threads]:
    """Threads for so many parts; torch takes as many of its own within each as the calling thread has."""
    import torch

    own = partial(torch.set_num_threads, torch.get_num_threads())
    with ThreadPoolExecutor(count, thread_name_prefix="parts", initializer=own) as pool:
        yield Threads(pool, count)


def run(passes: Sequence[Pass], *, weights: Sequence[torch.Tensor], threads: Threads) -> list[torch.Tensor]:
    """What the function of each pass gives of all its items, (n, d), computed in as many parts as there are threads.

    Parts of all passes share one queue, so no thread is idle while there is one left. With gradients for
    `weights` alone, where gradients are on. The parts' gradients are added in their order, so the same call gives the
    same sums. What a function draws at random comes in any order: it must draw nothing.
    """
    import torch

    settings = (torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
    parts: list[Part] = []
    counts: list[int] = []  # of each pass's parts
    for function, items in passes:
        counts.append(min(threads.count, len(items)))
        bounds = [len(items) * at // counts[-1] for at in range(counts[-1] + 1)]
        parts += [partial(_as_called, function, settings, items[start:end]) for start, end in pairwise(bounds)]
    if not torch.is_grad_enabled():
        outputs = list(threads.pool.map(call, parts))
        return [torch.cat(each) for each in _split(outputs, counts)]
    return list(_function().apply(parts, counts, threads.pool, *weights))


def _as_called(function: Callable, settings: tuple[bool, bool, torch.dtype], items: Sequence[Any]) -> torch.Tensor:
    """In another thread, with the caller's gradients and precision, which are each thread's own.

    Weights are cast at each use: the casts that autocast stores are all threads' own, and go when the first thread is
    done, so that a weight's gradients would be added before or after their cast as it comes.
    """
    import torch

    gradients, is_lower, dtype = settings
    with (
        torch.set_grad_enabled(gradients),
        torch.autocast("cpu", dtype=dtype, enabled=is_lower, cache_enabled=False),
    ):
        return function(items)


def _split(values: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    each = iter(values)
    return [list(islice(each, count)) for count in counts]


@cache
def _function() -> type[torch.autograd.Function]:
    """Made on first use, when torch is imported."""
    import torch

    class InParts(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, parts: list[Part], counts: list[int], pool: ThreadPoolExecutor, *weights: Any) -> tuple:
            ctx.pool, ctx.weights = pool, weights
            ctx.outputs = _split(list(pool.map(call, parts)), counts)
            return tuple(torch.cat([output.detach() for output in each]) for each in ctx.outputs)

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple:
            def of_part(output: torch.Tensor, own: torch.Tensor) -> tuple:
                return torch.autograd.grad(output, ctx.weights, own, allow_unused=True)

            shares = [
                share
                for gradient, outputs in zip(gradients, ctx.outputs, strict=True)
                for share in gradient.split([len(output) for output in outputs])
            ]
            of_parts = list(ctx.pool.map(of_part, chain.from_iterable(ctx.outputs), shares))
            return (None, None, None, *(_sum(each) for each in zip(*of_parts, strict=True)))

    return InParts


def _sum(gradients: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    """Of the parts that used the weight."""
    used = [gradient for gradient in gradients if gradient is not None]
    return sum(used[1:], start=used[0]) if used else None
