"""Table 4's ablation on drawn data: how many image-text data sets the image-for-text task is trained on.

The paper adds HPDv2 and ImageReward to one data set; their images cannot be drawn. Three domains of the drawn scenes
stand in: they differ in what the background is, as real data sets differ in what their images show.
"""

from __future__ import annotations

from collections.abc import Sequence

from compute.training.unisim.data import mini
from compute.training.unisim.data.mini import DrawnExamples
from compute.training.unisim.data.question_groups import DOMAINS

TASK = "image-for-text"
COUNT = mini.COUNT // len(DOMAINS)  # examples of each domain


def examples(domains: Sequence[str], *, seed: int, count: int = COUNT, others: int = mini.COUNT) -> list[DrawnExamples]:
    """All core tasks' examples; of the image-for-text task those of these domains alone, `count` each.

    `others`: how many of each other task. Both are rounded up to whole groups. Raises UnknownKey for a domain that is
    not in DOMAINS.
    """
    rest = [part for part in mini.training(seed=seed, count=others) if part.task != TASK]
    count = mini.whole_groups(count)
    return [
        *rest,
        *(DrawnExamples(task=TASK, seed=seed, count=count, domain=domain) for domain in domains),
    ]
