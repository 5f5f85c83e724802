"""Table 4's ablation on drawn data: how many image-text data sets the image-for-text task is trained on.

The paper adds HPDv2 and ImageReward to one data set; their images cannot be drawn. Three domains of the drawn scenes
stand in: they differ in what the background is, as real data sets differ in what their images show.
"""

from __future__ import annotations

from collections.abc import Sequence

from compute.training.unisim.data import mini
from compute.training.unisim.data.mini import DrawnExamples

TASK = "image-for-text"


def examples(domains: Sequence[str], *, seed: int, count: int) -> list[DrawnExamples]:
    """All core tasks' examples; of the image-for-text task those of these domains alone.

    `count` of each task and of each domain, rounded up to whole groups: where a training takes no more of a task, it
    sees each once, of one domain as of three. Raises UnknownKey for a domain that is not in DOMAINS.
    """
    rest = [part for part in mini.training(seed=seed, count=count) if part.task != TASK]
    count = mini.whole_groups(count)
    return [
        *rest,
        *(DrawnExamples(task=TASK, seed=seed, count=count, domain=domain) for domain in domains),
    ]
