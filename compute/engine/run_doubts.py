"""What makes a run's own result doubtful: one answer for every item, items that share a vector.

The score is stored as it is. Sound models that are weak repeat an answer often and give a few items equal vectors (a
colour histogram of a turned image, a bag of words of a reordered sentence), so the bounds are far above that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from compute.content.items import Column
from compute.engine.plan import Job
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence
from compute.procedures.shared.similarity import embeds

FEWEST, SAME, VARIED = 20, 0.99, 0.9  # items; the share of one answer from which on, of one label up to which it is odd
EQUAL, FEW = 0.01, 3  # the share of items, and their number, above which one vector for all of them is odd
SAMPLE = 5000  # items of a column whose vectors are read
FEATURES = "features that are all equal"
ONE_SIDE = "vectors that are all equal, or a judge that prefers one option whatever it is shown"
LIKELY = {  # why one answer is given throughout, by procedure; the answers of others repeat in sound runs too
    "probe": f"{FEATURES}, a classifier that did not converge, training labels that are sorted or shifted",
    "zero_shot": f"{FEATURES}, prompts that are all equal",
    "neighbours": FEATURES,
    "clustering": FEATURES,
    "choice": ONE_SIDE,
    "odd_one_out": ONE_SIDE,
    "multiple_choice": ONE_SIDE,
    "judging": ONE_SIDE,
}


def doubts(job: Job, subject: Subject, columns: Sequence[Column], evidence: Mapping[str, Evidence]) -> list[str]:
    """Returns a sentence, with likely causes, for each rule by which a run on these prepared columns is doubtful:
    about the first subset or column that it holds for, with the number of the others."""
    found = [list(_one_answer(job, evidence)), list(_one_vector(job, subject, columns))]
    return [f"{first}{f' ({len(others)} more alike)' if others else ''}" for first, *others in filter(None, found)]


def _one_answer(job: Job, evidence: Mapping[str, Evidence]) -> Iterator[str]:
    key = job.task.procedure
    if key not in LIKELY or (key == "judging" and job.way != "choose"):  # a model's numbers are rounded to few scores
        return
    for subset, part in evidence.items():
        n, labels = len(part.items), part.items["expected"].value_counts()
        if n < FEWEST or labels.iloc[0] >= VARIED * n:
            continue
        ((answer, count),) = Counter(part.items["answer"]).most_common(1)
        if answer and count >= SAME * n:  # without an answer: several labels, none of which is likely
            where = f"{subset}: " if len(evidence) > 1 else ""
            said = f"{count:,} of {n:,} answers are {answer!r}, where {len(labels):,} different ones are right"
            yield f"{where}{said}. Likely causes: {LIKELY[key]}"


def _one_vector(job: Job, subject: Subject, columns: Sequence[Column]) -> Iterator[str]:
    if job.way != "embed" or subject.row.late_interaction:
        return
    for column in columns:
        some = column.take(np.arange(0, len(column), 1 + len(column) // SAMPLE))
        some = some.take(np.unique(some.keys, return_index=True)[1])
        if len(some) >= FEWEST and embeds(subject, column):
            count = max(Counter(vector.tobytes() for vector in subject.embed(some)).values())
            if count > max(FEW, EQUAL * len(some)):
                kind, loaded = column.modality, ", weights that were not loaded" if count == len(some) else ""
                yield (
                    f"{count:,} of {len(some):,} different {kind}s have the same vector. Likely causes: preprocessing "
                    f"that makes {kind}s the same, pooling that reads a constant token{loaded}"
                )
