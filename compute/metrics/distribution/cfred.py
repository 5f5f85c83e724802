"""cFreD, the Fréchet distance conditional on prompts, for one pair of backbones and for a grid of them.

Sources: Soloveitchik et al. 2021; section 3.1 and Figures B.1-B.3 of the cFreD paper. Covariances are over N, unlike
those of FID, which are over N - 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg

from compute.arrays import Bools, Floats, Ints, LazyRows
from compute.metrics.distribution.frechet import EPSILON, Gaussian, covariance_distance, frechet
from compute.metrics.distribution.moments import (
    CrossMoments,
    SetScore,
    blocks,
    centred,
    check_paired,
    feature_array,
    streams,
    taken,
)
from compute.types import BadInput

# The pseudo-inverse treats eigenvalues of the text covariance below this share of the largest as 0. It is far above
# float64 rounding and far below the eigenvalues that text encoders yield, so that only exact redundancy is cut.
CUTOFF = 1e-10
PARTS = ("means", "cross", "conditional", "realism", "fidelity", "cutoff", "rank")  # fields of a Cfred but its value


@dataclass(frozen=True, kw_only=True)
class Cfred(SetScore):
    """A conditional Fréchet distance, in squared units of the image features.

    Three parts add up to `value`: `means`, the squared distance of the unconditional means; `cross`, that of the
    regressions on the prompt; and `conditional`, that of the conditional covariances. The two terms of section 3.1 also
    do: `realism`, the plain Fréchet distance of the unconditional moments (over N), and `fidelity`, what the prompts
    add. `fidelity` is never negative, because conditioning cannot bring two Gaussians closer. `cutoff` is relative to
    the largest eigenvalue of the text covariance, and never below rounding; `rank` eigenvalues are above it.
    """

    means: float
    cross: float
    conditional: float
    realism: float
    fidelity: float
    cutoff: float
    rank: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ConditionalMoments:
    """Moments of images given their prompts.

    `explained` (k, d) is the regression on the whitened text features: its product with itself is the covariance that
    the prompts explain. `residual` is the conditional covariance, `marginal` the unconditional one.
    """

    explained: Floats
    residual: Gaussian
    marginal: Gaussian


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditioning:
    """Text features as a condition, computed once and used for any images of the same prompts.

    `reflectors` (n, 1 + rank) and `scales` are LAPACK's form of a rotation of the n prompts whose first axis is the
    vector of ones and whose next `rank` axes are spanned by the text features; None if only moments are compared.
    `repeats` counts the prompts that repeat an earlier one.
    """

    n: int
    dimension: int
    rank: int
    repeats: int
    reflectors: Floats | None = None
    scales: Floats | None = None

    @classmethod
    def of(cls, condition: Any, *, argument: str = "condition") -> Conditioning:
        """Makes it from text features (n, p). Raises BadInput."""
        texts = feature_array(condition, argument=argument)
        mean, rows = centred(texts, argument=argument)
        left, lengths, _ = linalg.svd(rows, full_matrices=False, check_finite=False)
        held = _held(lengths**2 / len(rows), mean=mean, n=len(rows))
        spanned = np.hstack([np.full((len(rows), 1), 1 / np.sqrt(len(rows))), left[:, held]])
        (reflectors, scales), _ = linalg.qr(spanned, mode="raw", overwrite_a=True, check_finite=False)
        return cls(
            n=len(rows),
            dimension=rows.shape[1],
            rank=int(held.sum()),
            repeats=_repeated_rows(texts),
            reflectors=reflectors,
            scales=scales,
        )

    def split(self, rows: Floats, marginal: Gaussian) -> ConditionalMoments:
        """Splits centred image features (n, d) into what the prompts explain and the rest, over N. `marginal` holds the
        images' unconditional moments.
        """
        turned, _, _ = linalg.lapack.dormqr(
            "L",
            "T",
            self.reflectors,
            self.scales,
            np.asfortranarray(rows / np.sqrt(self.n)),
            lwork=64 * rows.shape[1],
            overwrite_c=True,
        )
        rest = turned[1 + self.rank :]
        few = len(rest) <= rest.shape[1]
        residual = Gaussian(
            n=self.n,
            mean=marginal.mean,
            rows=rest if few else None,
            covariance=None if few else rest.T @ rest,
        )
        return ConditionalMoments(explained=turned[1 : 1 + self.rank], residual=residual, marginal=marginal)

    def compare(
        self, real: ConditionalMoments, generated: ConditionalMoments, *, realism: float | None = None
    ) -> Cfred:
        """Computes cFreD from its moments; `realism` is the plain Fréchet distance, if it is known."""
        if realism is None:
            realism = frechet(real=real.marginal, generated=generated.marginal).value
        step = real.marginal.mean - generated.marginal.mean
        means = float(step @ step)
        cross = float(((real.explained - generated.explained) ** 2).sum())
        conditional = covariance_distance(real.residual, generated.residual)
        value = means + cross + conditional
        n, warnings = self.n, []
        if n < 2 * self.dimension:
            warnings.append(
                f"{n} prompts are fewer than twice the {self.dimension} dimensions of the text features: the "
                "conditional covariances are too small, and the cut-off of the pseudo-inverse weighs on the value"
            )
        if self.rank >= n - 1:
            warnings.append(
                f"The text features tell all {n} prompts apart linearly, so the conditional covariances vanish and "
                "cFreD is the mean squared distance of paired images"
            )
        if self.rank == 0:
            warnings.append("All prompts have the same text features: cFreD is the plain Fréchet distance")
        if self.repeats:
            warnings.append(f"{self.repeats} of {n} prompts have the text features of an earlier prompt")
        return Cfred(
            value=value,
            means=means,
            cross=cross,
            conditional=conditional,
            realism=min(realism, value),  # only rounding makes it larger
            fidelity=max(value - realism, 0.0),
            cutoff=_cutoff(self.dimension),
            rank=self.rank,
            warnings=tuple(warnings),
        )


def against(*, real: Any, condition: Any) -> Callable[[Any], Cfred]:
    """Returns a function that computes cFreD between a reference and image features (n, d) of the same prompts. What
    depends only on the reference is computed once.

    real: image features (n, d) or CrossMoments; condition: text features (n, p). Row i of each belongs to prompt i. If
    there are many rows per column, they are read block by block. This function and the one it returns raise BadInput.
    """
    texts = feature_array(condition, argument="condition")

    def paired(images: Any, argument: str) -> np.ndarray | LazyRows:
        images = feature_array(images, argument=argument)
        check_paired(texts, images, names=("condition", argument))
        return images

    def moments(images: Any, argument: str) -> CrossMoments:
        return CrossMoments.of(images=paired(images, argument), condition=texts, argument=argument)

    if not isinstance(real, CrossMoments):
        images = paired(real, "real")
        if not streams(len(texts), images, texts):
            conditioning = Conditioning.of(texts)

            def split(images: Any, argument: str) -> ConditionalMoments:
                return conditioning.split(*_marginal(paired(images, argument), argument))

            first = split(images, "real")
            return lambda generated: conditioning.compare(first, split(generated, "generated"))
        real = moments(images, "real")
    repeats = cache(lambda: _repeated_rows(texts))
    return lambda generated: _of_moments(real, moments(generated, "generated"), repeats=repeats())


def cfred(*, real: Any, generated: Any, condition: Any = None, rows: Ints | None = None) -> Cfred:
    """Computes cFreD of section 3.1 in its second form, from moments and cross-covariances over N.

    real, generated: image features (n, d); condition: text features (n, p); row i of each belongs to prompt i. `real`,
    or both `real` and `generated`, may be CrossMoments; if both are, no condition is needed. rows: use only these rows
    of the features. If there are many rows per column, they are read block by block. Raises BadInput for invalid
    features, and for different counts, conditions or dimensions.
    """
    if isinstance(real, CrossMoments) and isinstance(generated, CrossMoments):
        return _of_moments(real, generated, repeats=0)
    if condition is None:
        raise BadInput("cfred needs `condition`, the text features (n, p), or real and generated as CrossMoments")
    if rows is not None:
        sides = {"real": real, "generated": generated, "condition": condition}
        real, generated, condition = (taken(feature_array(of, argument=name), rows) for name, of in sides.items())
    return against(real=real, condition=condition)(generated)


def cfred_grid(
    *, real: Any, generated: Mapping[str, Any], condition: Mapping[str, Conditioning]
) -> Iterator[tuple[tuple[str, str], Cfred]]:
    """Yields ((generator, text), cFreD) for every generator and text backbone, as each is computed.

    real: features (n, d) of one image backbone; generated: the same per generator; condition: per text backbone. What
    depends on only one backbone is computed once. Equals `cfred` for each pair.
    """
    reference = _marginal(real, "real")
    sides = {name: _marginal(images, name) for name, images in generated.items()}
    realism = {name: frechet(real=reference[1], generated=marginal).value for name, (_, marginal) in sides.items()}
    for text, conditioning in condition.items():
        conditional = conditioning.split(*reference)
        for name, side in sides.items():
            yield (name, text), conditioning.compare(conditional, conditioning.split(*side), realism=realism[name])


def _marginal(images: Any, argument: str) -> tuple[Floats, Gaussian]:
    """Centres image features (n, d) and returns them with their moments over N, ignoring the prompts."""
    mean, rest = centred(images, argument=argument)
    return rest, Gaussian.of_centred(rest, mean=mean, ddof=0)


def _of_moments(real: CrossMoments, generated: CrossMoments, *, repeats: int) -> Cfred:
    first, second = real.condition, generated.condition
    spread = np.trace(first.scatter)
    if not (
        first.n == second.n
        and first.dimension == second.dimension
        and np.allclose(first.scatter, second.scatter, rtol=1e-8, atol=1e-8 * spread)
        and np.allclose(first.mean, second.mean, rtol=1e-8, atol=1e-8 * np.sqrt(spread / first.n))
    ):
        raise BadInput(
            f"real ({first.n} pairs) and generated ({second.n} pairs) have different conditions: cFreD compares images "
            "of the same prompts, encoded by one text backbone"
        )
    values, vectors = linalg.eigh(first.covariance())
    held = _held(values, mean=first.mean, n=first.n)
    whitening = vectors[:, held] / np.sqrt(values[held])
    split = []
    for moments in (real, generated):
        explained = (moments.cross @ whitening).T / moments.n
        covariance, sizes = moments.images.covariance(), {"n": moments.n, "mean": moments.images.mean}
        split.append(
            ConditionalMoments(
                explained=explained,
                residual=Gaussian(**sizes, covariance=covariance - explained.T @ explained),
                marginal=Gaussian(**sizes, covariance=covariance),
            )
        )
    conditioning = Conditioning(n=real.n, dimension=len(values), rank=int(held.sum()), repeats=repeats)
    return conditioning.compare(*split)


def _repeated_rows(values: np.ndarray | LazyRows) -> int:
    """Returns how many rows of (n, p) equal an earlier row."""
    parts = blocks(len(values), width=values.shape[1])
    seen = {hashlib.blake2b(row.tobytes(), digest_size=16).digest() for part in parts for row in values[part]}
    return len(values) - len(seen)


def _held(values: Floats, *, mean: Floats, n: int) -> Bools:
    """Returns which eigenvalues of a covariance of n rows are above the cut-off, and above the rounding error of
    subtracting the `mean` from equal rows.
    """
    rounding = (max(n, len(mean)) * EPSILON) ** 2 * (values.sum() + mean @ mean)
    return values > max(_cutoff(len(mean)) * values.max(), rounding)


def _cutoff(dimension: int) -> float:
    """Returns CUTOFF, but no less than what rounding makes of a zero eigenvalue."""
    return max(CUTOFF, dimension * EPSILON)
