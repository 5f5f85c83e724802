"""How often the study of faults sees a fault where there is none, by simulation.

A simulated study is made like the real one, by the same code and on the same prompts: its generators are the clean one
with a share of the images, that of a fault's strength, drawn again to the same prompts. The images of one draw are as
good as those of another, so every verdict other than "no difference" is false. Draws come from a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compute.analysis.generators.false_verdicts import FalseVerdicts
from compute.analysis.generators.sensitivity import BLIND, FaultRun, Sensitivity, by_fault, sensitivity
from compute.catalog import Catalog
from compute.engine import fault_study
from compute.engine.bench import Bench
from compute.engine.generators import features as encoded_features
from compute.engine.generators.features import SetFeatures
from compute.metrics.distribution import intervals
from compute.tasks.generators.pairing import PromptedSets
from compute.tasks.generators.sets import ImageSet
from compute.tasks.mini import generators as drawn

STUDIES, POOL, SEED = 60, 40, 0


def simulate(
    *,
    catalog: Catalog,
    bench: Bench,
    studies: int = STUDIES,
    pool: int = POOL,
    seed: int = SEED,
    report: Callable[[str], None] = lambda line: None,
) -> list[FalseVerdicts]:
    """Every metric on the bundled backbone, from `studies` simulated studies of a `pool` of drawn sets."""
    drawn_sets = _pool(pool, catalog=catalog, bench=bench)
    higher = {metric.key: metric.higher_is_better for metric in catalog.metrics}
    chosen = fault_study.choices([fault_study.HEADLINE])
    beyond: dict[tuple[str, str], list[float]] = {}
    false: dict[tuple[str, str], list[bool]] = {}
    for number in range(studies):
        rng = np.random.default_rng([seed, number])
        runs = _runs(_study(drawn_sets, rng), chosen=chosen)
        sensitivities = by_fault(runs, higher=higher)
        for metric, subset in dict.fromkeys((metric, subset) for metric, subset, _ in sensitivities):
            verdicts = [sensitivities[metric, subset, fault].verdict for fault in drawn.FAULTS]
            false.setdefault((metric, subset), []).append(any(verdict != BLIND for verdict in verdicts))
            for fault in drawn.FAULTS:
                beyond.setdefault((metric, subset), []).append(_beyond(_alone(runs, metric, subset, fault, higher)))
        report(f"{number + 1} of {studies} studies")
    return [
        FalseVerdicts(
            metric=metric,
            backbone=subset,
            single=round(float(np.mean(beyond[metric, subset])), 4),
            study=round(float(np.mean(each)), 4),
            studies=studies,
        )
        for (metric, subset), each in false.items()
    ]


def _pool(count: int, *, catalog: Catalog, bench: Bench) -> SetFeatures:
    """Features of `count` draws to the prompts, all of them as generators."""
    ids, key = drawn.item_names(), fault_study.HEADLINE
    sets = [ImageSet(name=str(at), ids=ids, images=drawn.faultless_column(at)) for at in range(count)]
    prompted = PromptedSets(
        ids=ids,
        prompts=drawn.text_column(),
        texts=tuple(prompt.text for prompt in drawn.all_prompts()),
        reference=sets[0],
        generated=tuple(sets[1:]),
        warnings=(),
    )
    [choice] = fault_study.choices([key])
    encoded, _, _ = encoded_features.encode(prompted, chosen=choice, rows={key: catalog.model(key)}, bench=bench)
    return encoded


def _study(pool: SetFeatures, rng: np.random.Generator) -> SetFeatures:
    """A reference, a clean generator, and for every fault the clean one with growing shares of another draw."""
    names = list(pool.generated)
    reference, clean, *others = rng.choice(names, size=2 + len(drawn.FAULTS), replace=False).tolist()
    count = len(pool.prompts)
    mixed: dict[str, tuple[str, np.ndarray]] = {drawn.CLEAN: (clean, np.zeros(count, bool))}
    for fault, other in zip(drawn.FAULTS, others, strict=True):
        rank = rng.permutation(count)
        for strength in drawn.STRENGTHS:
            covered = rank < round(drawn.SHARES[strength] * count)
            mixed[drawn.Generator(fault=fault, strength=strength).key] = (other, covered)

    def made(sets: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {
            name: np.where(covered.reshape(-1, *[1] * (sets[clean].ndim - 1)), sets[other], sets[clean])
            for name, (other, covered) in mixed.items()
        }

    return SetFeatures(
        reference="reference",
        generated=tuple(mixed),
        prompts=pool.prompts,
        images={key: {"reference": sets[reference], **made(sets)} for key, sets in pool.images.items()},
        texts=pool.texts,
        scores={metric: made(of) for metric, of in pool.scores.items()},
        scored_by=pool.scored_by,
    )


def _runs(features: SetFeatures, *, chosen: Sequence[Any]) -> list[FaultRun]:
    blocks = intervals.share_out(features.prompts)
    whole, without = fault_study.without_blocks(features, chosen=chosen, blocks=blocks)
    made = []
    for name in features.generated:
        generator = drawn.generator(name)
        keys = [key for key in whole if key[0] == name]
        details: dict[str, dict[str, Any]] = {}
        for key in keys:
            _, metric, subset = key
            details.setdefault(subset, {})[metric] = {"left_out": fault_study.column(without, key).tolist()}
        made.append(
            FaultRun(
                fault=generator.fault,
                strength=generator.strength,
                values={key[1:]: whole[key].value for key in keys},
                details=details,
                blocks=tuple(blocks.sizes.tolist()),
            )
        )
    return made


def _alone(runs: Sequence[FaultRun], metric: str, subset: str, fault: str, higher: Mapping[str, bool]) -> Sensitivity:
    """With intervals that each hold by themselves."""
    chain = [run for run in runs if run.strength == 0 or run.fault == fault]
    return sensitivity(
        strengths=[run.strength for run in chain],
        values=[run.values[metric, subset] for run in chain],
        left_out=np.transpose([run.details[subset][metric]["left_out"] for run in chain]),
        sizes=chain[0].blocks,
        higher_is_better=higher[metric],
        comparisons=1,
    )


def _beyond(reading: Sensitivity) -> float:
    """The share of strengths whose change differs from 0 by its interval."""
    pairs = list(zip(reading.change_low[1:], reading.change_high[1:], strict=True))
    return sum(low > 0 or high < 0 for low, high in pairs) / len(pairs)
