"""Made-up studies and judgments for the tests of Your eyes."""

from compute.eyes import asking
from compute.eyes.study import Judgment, Study


def study(picks, chance=None):
    """As many questions as each model has picks, of quality; a model's title is its key in capitals."""
    count = len(next(iter(picks.values())))
    return Study(
        kind="quality",
        contents=[f"{at}.png" for at in range(count + 1)],
        questions=[(-1, at, at + 1) for at in range(count)],
        chance=[0.0] * count if chance is None else list(chance),
        models={key: key.upper() for key in picks},
        picks={key: list(own) for key, own in picks.items()},
    )


def judgments(of, choices, *, count, seed=0, rater="me", early=0):
    """The first `count` judgments of a rater's order; `choices`: what the rater chooses in each question."""
    given = {"time": "2026-01-01T00:00:00Z", "rater": rater, "seed": seed}
    return [
        Judgment(order=at, question=asked, draw=draw, left=left, choice=choices[asked], **given)
        for at, (asked, draw, left, *_) in zip(range(count), asking.order(of, seed=seed, early=early), strict=False)
    ]
