"""A suite of one's own generators, which draw with more and more noise, stored as the command stores it."""

import shutil

import compute
from compute.paths import COMPUTED
from compute.tasks.drawing.render import draw
from leaderboard.data.database import Database
from tests.compute.tasks import drawn_generators as drawn
from tests.compute.tasks.files import table
from tests.leaderboard import stand_ins

PROMPTS = 60
SUITE, NAME = "generators-pictures", "pictures"
GENERATORS = {
    "good": drawn.clean_image,
    "same": lambda row: draw(drawn.scene(row, "same")),
    "worse": lambda row: drawn.image("noise-4", row),
    "worst": lambda row: 255 - drawn.image("noise-4", row),
}


def make(results, *, human=None):
    """Stores the suite under `results`; its key."""
    rates = "".join(f"|{name},{rate}" for name, rate in (human or {}).items())
    compute.frechet(
        reference=list(map(drawn.reference_image, range(PROMPTS))),
        generated={name: list(map(image, range(PROMPTS))) for name, image in GENERATORS.items()},
        prompts=[prompt.text for prompt in drawn.all_prompts()[:PROMPTS]],
        human=table(results.parent / "rates.csv", f"generator,rate{rates}") if human else None,
        backbones="tiny",
        metrics="fd,cfred,kid,clipscore",
        device="cpu",
        store=True,
        name=NAME,
        results=results,
    )
    return SUITE


def opened(folder, *, human=None):
    """The database of `make` in this folder."""
    make(folder / "results", human=human)
    return Database(database(folder, results=folder / "results"))


def database(folder, *, results):
    """The shipped figures with the shipped runs of drawn generators alone, and the runs under `results`."""
    computed = folder / "computed"
    for path in COMPUTED.glob("mini__*"):
        shutil.copytree(path, computed / path.name)
    return stand_ins.database(folder, results=results, models=(), computed=computed)
