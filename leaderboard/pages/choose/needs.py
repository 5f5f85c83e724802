"""What a visitor may need a model for, and which tasks are evidence for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.data.board_table import BoardTable
from leaderboard.data.languages import NAMES

MANY = "many"  # languages


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """A use of a model. No `categories`: all tasks of the suite that count in its mean."""

    key: str
    title: str
    suite: str
    categories: tuple[str, ...] = ()
    multilingual: tuple[str, ...] = ()  # categories that ask the same in many languages

    def asked(self, language: str) -> tuple[str, ...]:
        """The categories for a language, MANY, or any (empty)."""
        return {"": self.categories, MANY: self.multilingual}.get(language, self.categories + self.multilingual)

    def tasks(self, table: BoardTable, *, language: str) -> frozenset[str]:
        """The tasks that are evidence for it; none where no task asks the same in many languages."""
        own = self.asked(language) or (table.scores.categories if language != MANY else ())
        return frozenset(column.task for column in table.columns if column.ranked and column.group in own)


NEEDS = (
    ModelUse(
        key="search",
        title="Search images by text or by image",
        suite="mieb",
        categories=("Retrieval",),
        multilingual=("Multilingual Retrieval",),
    ),
    ModelUse(key="general", title="Embed images for many uses", suite="mieb"),
    ModelUse(
        key="classification",
        title="Classify images, without or with a few labels",
        suite="mieb",
        categories=("Zero-shot Classification", "Linear Probing"),
    ),
    ModelUse(key="clustering", title="Group images", suite="mieb", categories=("Clustering",)),
    ModelUse(key="documents", title="Find pages and documents", suite="vidore-v3"),
    ModelUse(
        key="text-in-images",
        title="Compare texts shown as images",
        suite="mieb",
        categories=("Visual STS (en)",),
        multilingual=("Visual STS (cross & multi)",),
    ),
    ModelUse(
        key="similarity",
        title="Say which of two images is more like a third",
        suite="unisim-core",
        categories=("Img-2AFC",),
    ),
    ModelUse(key="alignment", title="Say which image fits a text", suite="unisim-core", categories=("IT-2AFC",)),
    ModelUse(key="quality", title="Judge the quality of images", suite="unisim-core", categories=("IQA",)),
    ModelUse(key="judge", title="Rate pairs with a vision-language model", suite="pairbench"),
    ModelUse(key="generators", title="Rank image generators", suite=""),  # has a page of its own
)


@dataclass(frozen=True, kw_only=True)
class Limit:
    """An upper limit on a model's size. A model of unknown size does not meet it."""

    key: str
    title: str
    most: float  # millions of parameters


SIZES = (
    Limit(key="100m", title="At most 100 M parameters", most=100),
    Limit(key="500m", title="At most 500 M", most=500),
    Limit(key="1b", title="At most 1 B", most=1_000),
    Limit(key="3b", title="At most 3 B", most=3_000),
    Limit(key="10b", title="At most 10 B", most=10_000),
)
# Two bytes a parameter in half precision, and about half of the memory left for images: a rule of thumb, not a test.
HARDWARE = (
    Limit(key="cpu", title="A laptop without a GPU (up to 500 M)", most=500),
    Limit(key="gpu8", title="A GPU with 8 GB (up to 2 B)", most=2_000),
    Limit(key="gpu24", title="A GPU with 24 GB (up to 6 B)", most=6_000),
    Limit(key="gpu80", title="A GPU with 80 GB (up to 20 B)", most=20_000),
)
LICENSES = (("permissive", "Permissive (MIT, …)"), ("stated", "Any that is stated"))
LANGUAGES = ((MANY, "Many languages"), *((code, f"{name} alone") for code, name in NAMES.items()))


def limit(limits: Iterable[Limit], key: str) -> float | None:
    """The limit with a key, None for none."""
    return next((one.most for one in limits if one.key == key), None)
