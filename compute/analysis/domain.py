"""Which inputs a model's distribution of scores speaks for: those like the ones that it was made of.

A score's place in a distribution means something only where the input could have been one of the distribution's own. So
each distribution has a domain for each modality: of an encoder, a region of its vectors, and of images their kind, of
texts their words; of a metric on pixels, a kind and a range of sizes. The region's limit rests on whole scenes that it
was not fitted on, never on other cuts of a scene that it was: it is the distance that all but a share TAIL of them keep
to, as in split conformal prediction (Vovk et al. 2005, chapter 4; Angelopoulos and Bates 2023, section 1), so a new
scene of the same kind is outside with a probability of at most `false_outside`. With few scenes, each is left out in
turn.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.calibrated import TAIL, Reference
from compute.arrays import Floats, unit
from compute.types import BadInput, Undefined

# A percentile's limits cut TAIL off each end, and n scenes resolve no share below 1 / n: of fewer scenes than this not
# even one lies beyond a limit. Further pairs of the same scenes are not further scenes.
SCENES = round(1 / TAIL)
VERSION = 2  # raise it when the same items give another domain
FEWEST = 8  # scenes of a domain
AXES = 64  # directions in which the region has its own width
RIDGE = 0.1  # of the mean variance, added in every direction: few scenes leave most directions without any
MOST_WORDS = 4000  # of a domain: more are any text's
COLOURS = 2  # most frequent colours of an image, whose share tells drawings from photographs
IMAGE_FACTS = ("shorter side", "longer side", "share of two colours")
KIND = IMAGE_FACTS[-1:]  # the facts that matter to an encoder, which resizes what it is shown
TITLES = {"drawn": "drawn scenes", "photographs": "photographs", "sentences": "English sentences"}
OUTSIDE = "outside what this model was calibrated on"


@dataclass(frozen=True, kw_only=True, eq=False)
class Observed:
    """One input as a model's domain sees it: its vector (d,), None of a model without, and its facts."""

    modality: str
    facts: Floats  # of an image as IMAGE_FACTS, of a text its number of characters
    vector: Floats | None = None
    words: frozenset[str] = frozenset()  # of a text


@dataclass(frozen=True, kw_only=True, eq=False)
class Domain:
    """One model's domain for one modality: a range of the last facts, words, a region of vectors, or several of these.

    What a small model makes of words that it never read says little of the words, so the region alone cannot tell.
    """

    model: str
    name: str  # drawn | photographs | sentences | tasks: the source of its items
    modality: str
    scenes: int  # whole scenes that it was fitted and judged on
    false_outside: float  # a new scene of the same kind is outside at most with this probability
    limit: float = 1.0  # the distance from the region's middle to its border
    low: Floats | None = None  # (k,) of the last k facts
    high: Floats | None = None
    words: frozenset[str] = frozenset()  # of the domain's texts
    known: float = 0.0  # the least share of a text's words that are among them
    mean: Floats | None = None  # (d,), of vectors of length 1
    axes: Floats | None = None  # (r, d), each of length 1
    widths: Floats | None = None  # (r + 1,) standard deviations along the axes, and in every other direction

    def distance(self, seen: Observed) -> float:
        """How far the input is from the middle of the region, over the limit: outside above 1; infinite without what
        the domain needs."""
        if self.low is not None:
            facts = seen.facts[-len(self.low) :]
            if (facts < self.low).any() or (facts > self.high).any():
                return math.inf
        if self.words and len(seen.words & self.words) < self.known * len(seen.words):
            return math.inf
        if self.mean is None:
            return 1.0
        if seen.vector is None or seen.vector.shape != self.mean.shape:
            return math.inf
        return float(_distances(unit(seen.vector[None]), self.mean, self.axes, self.widths)[0] / self.limit)

    def record(self) -> dict[str, Any]:
        """As JSON; arrays of vectors are base64 of float16."""
        plain = {
            name: getattr(self, name) for name in ("model", "name", "modality", "scenes", "false_outside", "limit")
        }
        if self.low is not None:
            plain |= {"low": self.low.tolist(), "high": self.high.tolist()}
        if self.words:
            plain |= {"words": sorted(self.words), "known": self.known}
        if self.mean is None:
            return plain
        arrays = {name: _packed(getattr(self, name)) for name in ("mean", "axes", "widths")}
        return plain | arrays | {"shape": list(self.axes.shape)}


def restored(record: Mapping[str, Any]) -> Domain:
    """The domain of a record. Raises BadInput for anything else."""
    try:
        plain = dict(record)
        if "shape" in plain:
            rows, width = plain.pop("shape")
            shapes = {"mean": (width,), "axes": (rows, width), "widths": (rows + 1,)}
            plain |= {name: _unpacked(plain[name], shape) for name, shape in shapes.items()}
        if "shape" not in record or "low" in record:
            plain |= {name: np.array(plain[name], dtype=float) for name in ("low", "high")}
        return Domain(**plain | {"words": frozenset(plain.get("words", ()))})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"It is not a calibration domain ({str(error)[:120]}): calibrate the model again") from error


def of_vectors(
    vectors: ArrayLike,
    *,
    model: str,
    name: str,
    modality: str,
    facts: ArrayLike | None = None,
    texts: Sequence[str] = (),
) -> Domain:
    """The domain of vectors (n, d), one a scene, of the range of their facts (n, k), and of the words of n texts.

    Half of the scenes, every other one, are left out of the region and give its limit; of fewer than 2 * SCENES each
    gives its distance from the region of all others. Raises Undefined for fewer than FEWEST scenes or vectors that are
    not finite.
    """
    scenes = unit(np.asarray(vectors, dtype=np.float64))
    if len(scenes) < FEWEST or not np.isfinite(scenes).all():
        raise Undefined(f"{len(scenes)} scenes are too few for a domain of {model} for {modality}s: it needs {FEWEST}")
    if len(scenes) >= 2 * SCENES:
        region = _region(scenes[::2])
        held = _distances(scenes[1::2], *region)
    else:
        region = _region(scenes)
        rows = np.arange(len(scenes))
        held = np.concatenate([_distances(scenes[row : row + 1], *_region(scenes[rows != row])) for row in rows])
    rank = min(math.ceil((len(held) + 1) * (1 - TAIL)), len(held))
    mean, axes, widths = region
    beyond = 1 - rank / (len(held) + 1)
    spoken, known = _words(texts)
    kept = {} if facts is None else {"low": np.min(facts, axis=0), "high": np.max(facts, axis=0)}
    return Domain(
        model=model,
        name=name,
        modality=modality,
        scenes=len(scenes),
        false_outside=round(
            min(1.0, beyond * (2 if spoken else 1) + len(kept.get("low", ())) * 2 / (len(scenes) + 1)), 6
        ),
        words=spoken,
        known=known,
        **kept,
        limit=float(np.sort(held)[rank - 1]),
        mean=mean,
        axes=axes,
        widths=widths,
    )


def of_facts(facts: ArrayLike, *, model: str, name: str, modality: str, scenes: int) -> Domain:
    """The domain of facts (n, k): their range, for models that are not encoders. Raises Undefined as `of_vectors`."""
    values = np.asarray(facts, dtype=np.float64)
    if scenes < FEWEST:
        raise Undefined(f"{scenes} scenes are too few for a domain of {model} for {modality}s: it needs {FEWEST}")
    return Domain(
        model=model,
        name=name,
        modality=modality,
        scenes=scenes,
        false_outside=round(min(1.0, values.shape[1] * 2 / (scenes + 1)), 6),
        low=values.min(axis=0),
        high=values.max(axis=0),
    )


def image_facts(pixels: ArrayLike) -> Floats:
    """IMAGE_FACTS of an RGB image (height, width, 3) of 0..255: sides in pixels, and the share 0..1 of its pixels that
    have one of its COLOURS most frequent colours. Drawings have flat areas; photographs have none."""
    image = np.asarray(pixels).astype(np.uint32)
    codes = (image[..., 0] << 16 | image[..., 1] << 8 | image[..., 2]).ravel()
    counts = np.sort(np.unique(codes, return_counts=True)[1])[-COLOURS:]
    return np.array([*sorted(image.shape[:2]), counts.sum() / len(codes)], dtype=np.float64)


def text_facts(text: str) -> Floats:
    """The number of characters."""
    return np.array([len(text)], dtype=np.float64)


def words(text: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    return frozenset(re.findall(r"\w+", text.lower()))


def _words(texts: Sequence[str]) -> tuple[frozenset[str], float]:
    """All words of the texts, and the share of its words that all but a share TAIL of them have in common with the
    others. Without texts, or where they have more than MOST_WORDS, none: then words tell nothing."""
    each = [words(text) for text in texts]
    counts = Counter(word for of_text in each for word in of_text)
    if not counts or len(counts) > MOST_WORDS:
        return frozenset(), 0.0
    shared = sorted(sum(counts[word] > 1 for word in of_text) / len(of_text) for of_text in each if of_text)
    rank = max(math.floor((len(shared) + 1) * TAIL), 1)
    return frozenset(counts), shared[rank - 1]


def _region(vectors: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, axes and widths: a normal distribution with a ridge, whose lesser axes share one width. As it is stored."""
    mean = vectors.mean(axis=0)
    _, scale, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    variances, size = scale**2 / len(vectors), vectors.shape[1]
    count = min(AXES, size, len(variances))
    ridge = RIDGE * variances.sum() / size
    rest = variances[count:].sum() / max(size - count, 1)
    widths = np.sqrt(np.append(variances[:count], rest) + ridge + 1e-12)
    return tuple(np.float16(part).astype(np.float64) for part in (mean, axes[:count], widths))


def _distances(vectors: Floats, mean: Floats, axes: Floats, widths: Floats) -> Floats:
    """(n,) Mahalanobis distances (Lee et al. 2018, section 2.1, with one class)."""
    apart = vectors - mean
    along = apart @ axes.T
    beyond = np.maximum((apart**2).sum(axis=1) - (along**2).sum(axis=1), 0)
    return np.sqrt(((along / widths[:-1]) ** 2).sum(axis=1) + beyond / widths[-1] ** 2)


def _packed(values: Floats) -> str:
    return base64.b64encode(values.astype("<f2").tobytes()).decode()


def _unpacked(text: str, shape: tuple[int, ...]) -> Floats:
    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float64).reshape(shape)


@dataclass(frozen=True, kw_only=True)
class DomainCheck:
    """Whether inputs are within a model's calibration: the distribution that speaks for them, or why none does.

    `few`: the distribution speaks for them, and has too few scenes for a percentile; `why` says so then.
    """

    reference: Reference | None = None
    few: bool = False
    why: str = ""

    @property
    def has_percentile(self) -> bool:
        """Whether a score may be placed in the distribution."""
        return self.reference is not None and not self.few


@dataclass(frozen=True, kw_only=True)
class Calibrations:
    """Distributions and their domains, of any models."""

    references: tuple[Reference, ...] = ()
    domains: tuple[Domain, ...] = ()

    @property
    def key(self) -> tuple:
        """Equal for equal distributions, as far as their names and sizes tell."""
        return tuple((one.model, one.pairing, one.domain, one.n_unrelated, one.separation) for one in self.references)

    def of(self, model: str, pairing: str) -> Calibrations:
        """Those of one model and pairing."""
        return Calibrations(
            references=tuple(one for one in self.references if (one.model, one.pairing) == (model, pairing)),
            domains=tuple(one for one in self.domains if one.model == model),
        )

    def reference(self, model: str, pairing: str, name: str) -> Reference | None:
        """The distribution of a model and pairing in one domain; None where there is none."""
        keys = (model, pairing, name)
        return next((one for one in self.references if (one.model, one.pairing, one.domain) == keys), None)

    def judged(self, model: str, pairing: str, inputs: Sequence[Observed]) -> DomainCheck:
        """The distribution whose domain holds all inputs, the one that they are deepest in; else why there is none.

        A model without any distribution of the pairing has no reason either.
        """
        own = self.of(model, pairing)
        depths = {
            one.domain: max((own._depth(one.domain, seen) for seen in inputs), default=0.0) for one in own.references
        }
        inside = [one for one in own.references if depths[one.domain] <= 1]
        if inside:
            best = min(inside, key=lambda one: (one.scenes < SCENES, depths[one.domain]))
            return DomainCheck(
                reference=best, few=best.scenes < SCENES, why=too_few(best) if best.scenes < SCENES else ""
            )
        if own.references:
            return DomainCheck(why=f"{OUTSIDE}: {' and '.join(described(one) for one in own.references)}")
        return DomainCheck()

    def _depth(self, name: str, seen: Observed) -> float:
        domain = next((one for one in self.domains if (one.name, one.modality) == (name, seen.modality)), None)
        return math.inf if domain is None else domain.distance(seen)


def described(reference: Reference) -> str:
    """What a distribution was made of, in words."""
    return TITLES.get(reference.domain, f"the items of {reference.source}")


def too_few(reference: Reference) -> str:
    """Why a distribution carries no percentile."""
    return f"calibrated on {reference.scenes} {described(reference)}, and a percentile needs {SCENES}"
