"""A suite of one's own generators, which draw with more and more noise, stored as the command stores it."""

import compute
from compute.tasks.drawing.render import draw
from tests.compute.tasks import drawn_generators as drawn
from tests.compute.tasks.files import table

PROMPTS = 60
SUITE, NAME = "generators-pictures", "pictures"
RATES = {"good": 0.6, "same": 0.55, "worse": 0.3, "worst": 0.1}
GENERATORS = {
    "good": drawn.clean_image,
    "same": lambda row: draw(drawn.scene(row, "same")),
    "worse": lambda row: drawn.image("noise-4", row),
    "worst": lambda row: 255 - drawn.image("noise-4", row),
}


def make(results):
    """Stores the suite under `results`."""
    rates = "".join(f"|{name},{rate}" for name, rate in RATES.items())
    compute.frechet(
        reference=list(map(drawn.reference_image, range(PROMPTS))),
        generated={name: list(map(image, range(PROMPTS))) for name, image in GENERATORS.items()},
        prompts=[prompt.text for prompt in drawn.all_prompts()[:PROMPTS]],
        human=table(results.parent / "rates.csv", f"generator,rate{rates}"),
        backbones="tiny",
        metrics="fd,cfred,kid,clipscore",
        device="cpu",
        store=True,
        name=NAME,
        results=results,
    )
