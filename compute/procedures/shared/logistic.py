"""Logistic regressions, many at once: multinomial or binary, L2, unpenalised intercept, by L-BFGS from zero.

The minimised function and every rule of the path are scikit-learn's (`LogisticRegression(max_iter=...)` through
L-BFGS-B: memory 10, Moré-Thuente steps, largest gradient entry 1e-4), so that stopping early stops at the same step.
What differs is the cost: matrix products in single precision and only two a step, whatever the search tries; the
memory's inner products stored as a small table; all problems side by side, one batch on CUDA, workers on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from compute.procedures.shared.line_search import search

MEMORY = 10
TOLERANCE = 1e-4
SMALLEST_DECREASE = 64 * np.finfo(float).eps  # relative
SMALL = 50_000  # scores up to which problems share one worker
ROOM = 2_000_000  # scores of all problems at work at once
BLOCK = 4_000_000  # scores computed at once when deciding


@dataclass(frozen=True, kw_only=True)
class Fit:
    """b regressions: `weights` (b, d + 1, k) float32, the intercept last; k = 1 for two classes."""

    weights: np.ndarray
    steps: np.ndarray  # (b,) int: L-BFGS iterations taken
    converged: np.ndarray  # (b,) bool: stopped by tolerance, not by the number of iterations


def fit(
    embeddings: np.ndarray,
    *,
    rows: np.ndarray,
    targets: np.ndarray,
    classes: int,
    iterations: int = 100,
    penalty: float = 1.0,
    device: str = "cpu",
) -> Fit:
    """Problem i is trained on `embeddings[rows[i]]` (rows (b, n) int into (m, d)) with `targets[i]` in 0..classes-1.

    `penalty` times half the squared weights is added to the summed loss (scikit-learn's 1 / C). On the CPU the result
    does not depend on the number of cores.
    """
    if device != "cpu":
        return _together(
            embeddings,
            rows=rows,
            targets=targets,
            classes=classes,
            iterations=iterations,
            penalty=penalty,
            device=device,
        )
    from threadpoolctl import threadpool_info, threadpool_limits

    matrix = np.ascontiguousarray(embeddings, dtype=np.float32)
    share = max(1, SMALL // (rows.shape[1] * classes))
    parts = [slice(start, start + share) for start in range(0, len(rows), share)]
    cores = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    # With more workers than cores, the system evens out an odd number of problems; large ones would need the memory.
    workers = cores if cores == 1 else max(cores, min(len(parts), ROOM // (rows.shape[1] * classes)))

    def solve(part: slice) -> Fit:
        return _together(
            matrix,
            rows=rows[part],
            targets=targets[part],
            classes=classes,
            iterations=iterations,
            penalty=penalty,
            device="cpu",
        )

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        fits = list(pool.map(solve, parts))
    return Fit(
        **{name: np.concatenate([getattr(part, name) for part in fits]) for name in ("weights", "steps", "converged")}
    )


def decide(fitted: Fit, embeddings: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Scores of every problem for all rows, in blocks: (rows, (rows, b, k) float32), k >= 2 columns a class.

    They are log-probabilities up to a constant a row; of two classes the first has score 0.
    """
    b, _, k = fitted.weights.shape
    weights = np.ascontiguousarray(fitted.weights[:, :-1].swapaxes(0, 1).reshape(-1, b * k))
    intercepts = fitted.weights[:, -1].reshape(-1)
    size = max(1, BLOCK // (b * k))
    for start in range(0, len(embeddings), size):
        part = slice(start, min(start + size, len(embeddings)))
        scores = np.asarray(embeddings[part], dtype=np.float32) @ weights
        scores += intercepts
        scores = scores.reshape(-1, b, k)
        yield part, scores if k > 1 else np.concatenate([np.zeros_like(scores), scores], axis=-1)


@dataclass(kw_only=True)
class _Problem:
    """What one problem remembers between steps; the long vectors stand in `_together`."""

    slots: list[int] = field(default_factory=list)  # of the memory, oldest first
    sy: np.ndarray = field(default_factory=lambda: np.zeros((MEMORY, MEMORY)))  # inner products of steps and changes
    yy: np.ndarray = field(default_factory=lambda: np.zeros((MEMORY, MEMORY)))
    steps: int = 0
    done: bool = False
    converged: bool = False


def _together(
    embeddings: np.ndarray,
    *,
    rows: np.ndarray,
    targets: np.ndarray,
    classes: int,
    iterations: int,
    penalty: float,
    device: str,
) -> Fit:
    """All problems in lock step: one array operation for all of them, scalars apart."""
    loss = _Loss(embeddings, rows=rows, targets=targets, classes=classes, penalty=penalty, device=device)
    xp, b, shape = loss.xp, loss.b, loss.shape
    weights = loss.zeros(shape)
    memory = loss.zeros((b, 2 * MEMORY + 1, shape[1] * shape[2]))  # steps, changes of the gradient, gradient
    at = np.arange(b)
    value, _ = loss.at(np.zeros(b))
    loss.accept()
    memory[:, -1] = loss.gradient(weights).reshape(b, -1)
    products = loss.host(memory @ memory[:, -1, :, None])[..., 0]
    problems = [_Problem() for _ in range(b)]
    for one, largest in zip(problems, loss.host(xp.amax(xp.abs(memory[:, -1]), -1)), strict=True):
        one.done = one.converged = bool(largest <= TOLERANCE)
    step, slot = np.zeros(b), np.zeros(b, dtype=int)
    while not all(problem.done for problem in problems):
        mixes, slopes = zip(*(_direction(one, products[i]) for i, one in enumerate(problems)), strict=True)
        direction = (loss.put(np.stack(mixes))[:, None] @ memory).reshape(shape)
        loss.towards(weights, direction)
        first = [
            1.0 if one.steps else 1 / np.sqrt(max(-slopes[i], np.finfo(float).tiny)) for i, one in enumerate(problems)
        ]
        step, reached = _search(loss, problems, value=value, slopes=slopes, first=first)
        for i, one in enumerate(problems):
            if not one.done and not step[i]:  # no step goes down: forget what bent the direction, or stop
                one.done = not one.slots
                one.slots = []
        decrease = (value - reached) / np.maximum(np.maximum(np.abs(value), np.abs(reached)), 1)
        value = np.where(step > 0, reached, value)
        loss.accept()
        moved = loss.put(step)[:, None, None] * direction
        weights += moved
        gradient = loss.gradient(weights).reshape(b, -1)
        slot = np.array([(problem.slots[-1] + 1) % MEMORY if problem.slots else 0 for problem in problems])
        memory[at, slot] = moved.reshape(b, -1)
        memory[at, MEMORY + slot] = gradient - memory[:, -1]
        memory[:, -1] = gradient
        new_s, new_y, products = (
            loss.host(memory @ memory[at, which, :, None])[..., 0]
            for which in (slot, MEMORY + slot, np.full(b, 2 * MEMORY))
        )
        largest = loss.host(xp.amax(xp.abs(gradient), -1))
        for i, one in enumerate(problems):
            if one.done or not step[i]:
                continue
            one.steps += 1
            one.converged = bool(largest[i] <= TOLERANCE or decrease[i] <= SMALLEST_DECREASE)
            one.done = one.converged or one.steps >= iterations
            _remember(one, slot[i], new_s[i], new_y[i], bend=-slopes[i] * step[i])
    return Fit(
        weights=loss.host(weights).astype(np.float32),
        steps=np.array([problem.steps for problem in problems]),
        converged=np.array([problem.converged for problem in problems]),
    )


def _direction(one: _Problem, products: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights (2 m + 1,) of the memory's vectors in the next direction, and the slope along it.

    The two loops of L-BFGS (Nocedal and Wright, algorithm 7.4) over inner products alone: `products` are those of the
    memory's vectors with the gradient.
    """
    mix = np.zeros(2 * MEMORY + 1)
    if one.done:
        return mix, 0.0
    s_g, y_g = products[:MEMORY], products[MEMORY:-1]
    alpha, back = np.zeros(MEMORY), np.zeros(MEMORY)
    for i in reversed(one.slots):
        alpha[i] = (s_g[i] - one.sy[i] @ alpha) / one.sy[i, i]
    scale = one.sy[one.slots[-1], one.slots[-1]] / one.yy[one.slots[-1], one.slots[-1]] if one.slots else 1.0
    for i in one.slots:
        beta = (scale * (y_g[i] - one.yy[i] @ alpha) + back @ one.sy[:, i]) / one.sy[i, i]
        back[i] = alpha[i] - beta
    mix[:MEMORY], mix[MEMORY:-1], mix[-1] = -back, scale * alpha, -scale
    return mix, float(mix @ products)


def _remember(one: _Problem, slot: int, new_s: np.ndarray, new_y: np.ndarray, *, bend: float) -> None:
    """Takes the newest step and change into the memory, unless the function did not bend along it."""
    if new_y[slot] <= np.finfo(float).eps * bend:
        return
    if len(one.slots) == MEMORY:
        one.slots.pop(0)
    one.slots.append(slot)
    one.sy[slot], one.sy[:, slot] = new_s[MEMORY:-1], new_y[:MEMORY]
    one.yy[slot] = one.yy[:, slot] = new_y[MEMORY:-1]


def _search(
    loss: _Loss, problems: list[_Problem], *, value: np.ndarray, slopes: tuple[float, ...], first: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Steps (b,) and the values there; 0 where no step was accepted. Problems wait at their own until all have one."""
    step, reached = np.zeros(len(problems)), value.copy()
    open_searches = {}
    for i, one in enumerate(problems):
        if not one.done and slopes[i] < 0:
            open_searches[i] = search(value[i], slopes[i], first[i])
            step[i] = next(open_searches[i])
    while open_searches:
        values, slopes_here = loss.at(step)
        for i, running in list(open_searches.items()):
            try:
                step[i] = running.send((values[i], slopes_here[i]))
            except StopIteration as ended:
                del open_searches[i]
                reached[i] = values[i]
                if not ended.value.is_acceptable:
                    step[i] = 0.0
    if not all(step[i] for i, one in enumerate(problems) if not one.done):
        loss.at(step)
    return step, reached


class _Loss:
    """Mean log loss plus penalty along a line, for b problems at once, in numpy or torch.

    Scores are linear in the weights, so those of the line's start and of its direction give every point between.
    """

    def __init__(
        self,
        embeddings: np.ndarray,
        *,
        rows: np.ndarray,
        targets: np.ndarray,
        classes: int,
        penalty: float,
        device: str,
    ) -> None:
        self.xp, self._device = _library(device)
        self.b, n = rows.shape
        k = 1 if classes == 2 else classes
        matrix = self.put(embeddings)
        self.x = self.zeros((self.b, n, matrix.shape[1] + 1))
        self.x[..., :-1] = matrix[self.index(rows)]
        self.x[..., -1] = 1
        self.shape = (self.b, matrix.shape[1] + 1, k)
        self.ridge = penalty / n
        self._binary = self.put(targets[..., None]) if k == 1 else None
        self._right = self.index(np.arange(self.b * n) * k + targets.reshape(-1)) if k > 1 else None
        # In double precision along the line: near the minimum, steps change the loss by less than single can hold.
        self._start, self._here = (self.zeros((self.b, n, k), double=True) for _ in range(2))
        self._along, self._residual = (self.zeros((self.b, n, k)) for _ in range(2))
        self._ww, self._wp, self._pp = np.zeros((3, self.b))  # inner products of weights and direction

    def put(self, array: np.ndarray, *, double: bool = False) -> Any:
        """On the device, in single precision unless `double`."""
        array = np.asarray(array, dtype=np.float64 if double else np.float32)
        return array if self._device is None else self.xp.as_tensor(array, device=self._device)

    def index(self, array: np.ndarray) -> Any:
        return array if self._device is None else self.xp.as_tensor(array, device=self._device)

    def zeros(self, shape: tuple[int, ...], *, double: bool = False) -> Any:
        dtype = self.xp.float64 if double else self.xp.float32
        return self.xp.zeros(shape, dtype=dtype, **({} if self._device is None else {"device": self._device}))

    def host(self, array: Any) -> np.ndarray:
        """In main memory, in double precision."""
        return np.asarray(array if self._device is None else array.cpu().numpy(), dtype=np.float64)

    def towards(self, weights: Any, direction: Any) -> None:
        """The line from the accepted scores along `direction` (b, d + 1, k)."""
        self.xp.matmul(self.x, direction, out=self._along)
        w, p = weights[:, :-1], direction[:, :-1]
        self._wp, self._pp = (self.host(self.xp.einsum("bdk,bdk->b", one, p)) for one in (w, p))

    def at(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and slopes (b,) at `step` (b,) along the line; scores and residuals there wait for `accept`."""
        xp, scores, residual = self.xp, self._here, self._residual
        self._step = step
        xp.multiply(self._along, self.put(step, double=True)[:, None, None], out=scores)
        scores += self._start
        if self._binary is not None:
            small = xp.exp(-xp.abs(scores))
            each = xp.log1p(small) + scores.clip(min=0) - self._binary * scores
            residual[:] = xp.where(scores > 0, 1 / (1 + small), small / (1 + small)) - self._binary
        else:
            scores -= xp.amax(scores, -1)[..., None]  # which changes no probability
            residual[:] = scores
            xp.exp(residual, out=residual)
            total = residual.sum(-1)[..., None]
            each = xp.log(total).reshape(-1) - scores.reshape(-1)[self._right]
            residual /= total
            residual.reshape(-1)[self._right] -= 1
        n = scores.shape[1]
        value = self.host(each.reshape(self.b, n).sum(-1)) / n
        slope = self.host(xp.einsum("bnk,bnk->b", residual, self._along)) / n
        return value + self.ridge / 2 * self._squares(), slope + self.ridge * (self._wp + step * self._pp)

    def _squares(self) -> np.ndarray:
        """Squared length of the weights at the point last looked at."""
        return self._ww + 2 * self._step * self._wp + self._step**2 * self._pp

    def accept(self) -> None:
        self._ww = self._squares()
        self._start, self._here = self._here, self._start

    def gradient(self, weights: Any) -> Any:
        """(b, d + 1, k) at the point last looked at, which has these weights."""
        slope = self.x.swapaxes(1, 2) @ self._residual
        slope /= self._residual.shape[1]
        slope[:, :-1] += self.ridge * weights[:, :-1]
        return slope


def _library(device: str) -> tuple[ModuleType, Any]:
    if device == "cpu":
        return np, None
    import torch

    return torch, torch.device(device)
