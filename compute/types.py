"""All nouns and all errors of Likeness. No torch, no I/O."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, Predicate

KINDS = ("encoder", "metric", "mllm", "generator", "distribution")
ABILITIES = ("embed_image", "embed_text", "compare", "choose", "score_pair", "generate")
ORIGINS = ("published", "imported", "computed")  # a model's first one is shown if there is room for only one
LABORATORY = "imported:"  # prefix of the origin of one laboratory's results, before its key
SELF_REPORTED = "published:self-reported"  # what laboratories print of their own models; never ranked
# Verdicts on claims, in the order shown; `compute.claims` defines them.
VERDICTS = ("conflict", "tables differ", "not significant", "rounding", "cannot be recomputed", "reproduces")
SEVERITIES = ("headline", "table", "detail")  # of claims, the most important first: see compute/claims.py
# Their n_items counts video frames, and frames of one video are near copies, so it is not a number of independent
# items.
OF_FRAMES = ("mieb/ucf101", "mieb/ucf101zeroshot")
TIES_SHOWN = 0.01  # if a larger share of items is decided by exact ties, it is shown next to the score
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # labels of a question's alternatives, on pages and in judges' answers
WHOLE = "default"  # the subset that stands for the whole task
AGGREGATES = ("category-mean", "task-mean", "human")
LONGEST_KEY = 200  # characters; the longest in the catalogues has 90
NEAR = 0.5  # least similarity of a name to the intended one, from 0 to 1
WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
SUGGESTED = 3  # most names suggested if several are equally near
ECHO = 80  # most characters of a value that a message repeats


def is_origin(text: str) -> bool:
    """Returns whether a text is one of ORIGINS or a laboratory's."""
    return text in (*ORIGINS, SELF_REPORTED) or bool(re.fullmatch(f"{LABORATORY}[a-z0-9][a-z0-9._-]{{0,79}}", text))


def origins_in(origins: Iterable[str]) -> list[str]:
    """Returns the distinct origins in the order of ORIGINS. Those of laboratories follow the imported ones in reverse
    alphabetical order, so that the newest version of a harness comes first.
    """

    def version(origin: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", origin)]

    newest = sorted({*origins}, key=version, reverse=True)
    return sorted(newest, key=lambda origin: (ORIGINS.index(kind_of(origin)), ":" in origin))


def kind_of(origin: str) -> str:
    """Returns which of ORIGINS an origin belongs to: a laboratory's results are imported."""
    return origin.partition(":")[0]


def suggestion(key: str, known: Iterable[str]) -> str:
    """Returns ` Did you mean 'x'?` with the nearest known key, to follow a sentence; empty if none is near. If several
    keys are equally near, up to SUGGESTED are named.

    No suggestion is made for a key longer than LONGEST_KEY: the comparison is quadratic in its length, in time and
    memory.
    """
    near = _nearest(key, known)[:SUGGESTED] if len(key) <= LONGEST_KEY else []
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def unknown(noun: str, key: str, known: Iterable[str], *, listed: bool = False) -> str:
    """Returns `No model 'x'. Did you mean 'y'?` for an unknown key; with `listed`, all known keys follow."""
    there = f" There are: {', '.join(known)}" if listed else ""
    return f"No {noun} {shortened(key)!r}.{suggestion(key, known)}{there}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the known name that shares most words with `name`. Whole words count more than prefixes, and prefixes
    more than misspellings; overall similarity and a common beginning break ties. `clip` gives `openai/clip-b32`, not
    `clipscore`. Empty if none is near.
    """
    return next(iter(_nearest(name, known)), "")


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    """Returns all known names that tie for nearest in the sense of `nearest`."""
    text, asked = name.lower(), words_of(name)
    matcher = difflib.SequenceMatcher(b=text, autojunk=False)
    found: dict[str, float] = {}
    for other in known:
        matcher.set_seq1(other.lower())
        words, ratio = words_of(other), matcher.ratio()
        fit = sum(len(word) * max((fit_of(word, each) for each in words), default=0.0) for word in asked)
        fit /= max(1, len("".join(asked)))
        if max(fit, ratio) >= NEAR:
            found[other] = fit + ratio / 2 + other.lower().rpartition("/")[2].startswith(text) / 4
    best = max(found.values(), default=0.0)
    return [other for other, fit in found.items() if fit == best]


def words_of(text: str) -> list[str]:
    """Returns the lower-case words of a text; numbers are separate words: `ViT-L/14` becomes vit, l and 14."""
    return WORD.findall(text.lower())


def fit_of(word: str, other: str) -> float:
    """Returns how well a word that somebody typed matches another, from 0 to 1."""
    if word == other:
        return 1.0
    if len(word) > 2 and other.startswith(word):
        return 0.7
    if min(len(word), len(other)) < 3 or abs(len(word) - len(other)) > 2:
        return 0.0
    ratio = difflib.SequenceMatcher(a=word, b=other, autojunk=False).ratio()
    return 0.6 * ratio if ratio > 0.6 else 0.0


def printable(text: str) -> str:
    """Returns a text from a file without characters that control a terminal or reverse its line."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def shortened(text: str, most: int = ECHO) -> str:
    """Returns the text; if it is longer than `most` characters, its beginning and …."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's message, or the name of its class if the message is empty."""
    return (str(error).strip() or type(error).__name__).partition("\n")[0]


def counted(number: int, noun: str) -> str:
    """Formats a count with its noun: `1 image`, `2,000 images`, `2 queries`, `3 classes`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{number:,} {plural}"


def slug(text: str, *, default: str, marks: str = ".") -> str:
    """Returns a text as part of a key or file name: at most 60 lower-case letters, digits and, inside, `marks`;
    everything else becomes -. Returns `default` if nothing is left.
    """
    outer = f"-{marks}"
    plain = re.sub(f"[^a-z0-9{re.escape(marks)}]+", "-", text.lower())
    return plain.strip(outer)[:60].strip(outer) or default


ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)
OPTIONS = {  # arguments whose option has another name: a repeatable option is singular
    "categories": "category",
    "data_name": "name",
    "groups": "group",
    "options": "option",
    "skip_bad": "skip-bad-items",
    "weights": "weight",
}


def option(name: str) -> str:
    """Returns the option of an argument: `--only`."""
    return f"--{OPTIONS.get(name, name).replace('_', '-')}"


def argument(name: str, value: Any = None) -> str:
    """Returns an argument as the reader of the message would write it: `only` in Python and `--only` on the command
    line. With a value, `bounds=(0, 100)` and `--bounds 0,100`, `weights={'a': 1}` and `--weight a=1`.
    """
    if not ON_COMMAND_LINE.get():
        return name if value is None else f"{name}={value!r}"
    if value is None or value is True:
        return option(name)
    if isinstance(value, Mapping):
        return " ".join(f"{option(name)} {shlex.quote(f'{key}={one}')}" for key, one in value.items())
    return f"{option(name)} {shlex.quote(value if isinstance(value, str) else ','.join(map(str, value)))}"


class LikenessError(Exception):
    """Any error that a user can cause or fix. Only the command line and the app catch it."""


class UnknownKey(LikenessError):
    """A key that no catalogue has; the message suggests the nearest key and says how to list them."""

    def __init__(self, noun: str, key: str, known: Iterable[str]) -> None:
        super().__init__(f"{unknown(noun, key, known)} List them: likeness list {noun}s")
        self.noun, self.key = noun, key


class BadInput(LikenessError):
    """A file or argument that cannot be read as what it should be."""


class DatabaseError(LikenessError):
    """The database is missing, locked, half-written, or of another version."""


class CannotWrite(LikenessError):
    """A file that cannot be written: the disk is full or the folder is read-only. The message names it and says what to
    do.
    """


class Undefined(LikenessError):
    """A quantity that has no value for these inputs; never stored as a score."""


class NotHere(LikenessError):
    """Weights, data or a package missing from this machine; the message names it and says how to get it."""


class NoService(NotHere):
    """A judge's service that is unreachable or refuses the key. No question can succeed, so the whole run stops with
    this message.
    """


class BadItem(LikenessError):
    """One image or text that cannot be used. `item` is its name within the data set, `key` its content key."""

    def __init__(self, item: str, problem: str, *, key: bytes = b"") -> None:
        super().__init__(
            f"{item}: {problem}. Fix or remove it, or skip such items: --skip-bad-items, in Python skip_bad=True"
        )
        self.item, self.problem, self.key = item, problem, key


class CannotDo(LikenessError):
    """A model lacks an ability that the task needs; the plan skips such runs with this reason."""


# Limits of the fields of nouns. They apply to records that anyone may have written (`compute.io.nouns.strict`); values
# made by the code are trusted.
Name = Annotated[str, MaxLen(LONGEST_KEY)]
Line = Annotated[Name, Predicate(str.isprintable)]  # without characters that control a terminal
Text = Annotated[str, MaxLen(4000)]
Count = Annotated[int, Ge(0), Lt(1 << 63)]  # what a column of the database holds
Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One published benchmark. `bibtex` cites the paper."""

    key: str
    title: str
    paper: str
    url: str
    description: str
    bibtex: str


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model that scores similarity, or a generator to be evaluated."""

    key: Name  # the hub id in lower case, if there is one
    title: Line
    organisation: Line = ""
    kind: Literal[KINDS] = "encoder"
    family: Line = ""
    adapter: Line = ""  # how it is loaded; empty: only published scores
    weights: Annotated[Text, Predicate(str.isprintable)] = ""  # hub id in its spelling; empty: not public or unknown
    revision: Line = ""
    abilities: tuple[Literal[ABILITIES], ...] = ()
    late_interaction: bool | None = None  # many vectors per item, compared by MaxSim; False: one vector
    instructions: bool | None = None  # accepts an instruction with its inputs
    parameters_m: Amount | None = None  # millions
    memory_mb: Amount | None = None  # of the published weights
    embed_dim: Count | None = None
    max_tokens: Count | None = None  # of a text
    image_size: Count | None = None  # pixels
    modalities: tuple[Name, ...] = ()
    languages: tuple[Name, ...] = ()  # such as eng-Latn; empty: not stated
    open_weights: bool | None = None
    license: Line = ""
    training_code: bool | None = None  # whether it is public; None: not stated
    training_data: bool | None = None
    paper: Line = ""  # its URL
    released: Name = ""  # ISO date, or year and month
    trained_on: tuple[Line, ...] = ()  # dataset keys
    group: Name = ""  # general-purpose | specialised | multi-task, as UniSim-Bench groups them
    facts_from: Text = ""  # source of the row's facts; notes on the model name other sources
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question for a model on one data set."""

    key: Name
    title: Name
    benchmark: Name
    category: Name
    dataset: Text  # dataset key
    cluster: Name = ""  # the same for tasks of a suite that share their data
    revision: Name = ""
    split: Name = ""
    subsets: Annotated[tuple[Name, ...], MinLen(1)] = (WHOLE,)
    procedure: Name = ""
    metrics: Annotated[tuple[Name, ...], MinLen(1)] = ()  # the first is the main metric
    chance: float | None = None  # expected value of the main metric when guessing
    n_items: Count | None = None
    modalities: tuple[Name, ...] = ()
    languages: tuple[Name, ...] = ()
    license: Name = ""
    notes: Text = ""
    suites: tuple[Name, ...] = ()
    ranked: bool = True  # False: shown, but excluded from a suite's mean

    @property
    def independent_items(self) -> int | None:
        """Returns how many independent items one score rests on; None if unknown or if the items depend on each
        other.
        """
        return self.n_items if len(self.subsets) == 1 and self.key not in OF_FRAMES else None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A quantity computed from a procedure's evidence. `scale` turns the stored value into the printed one."""

    key: str
    title: str
    higher_is_better: bool
    lower: float | None  # None: unbounded
    upper: float | None
    unit: str
    scale: float = 1.0  # shown = value * scale
    digits: int = 2  # decimals shown
    proportion: bool = False  # a share of n independent items: n gives its standard error
    description: str = ""
    inputs: tuple[str, ...] = ()  # columns of evidence passed to `compute`
    compute: Callable[..., Any] | None = None  # the value of a subset; None: the mean of the column with its key
    whole: Callable[..., Any] | None = None  # a task's value of {subset: evidence}; None: mean over its subsets


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A named list of tasks with its aggregation rule."""

    key: Name
    title: Text
    benchmark: Name
    aggregate: Literal[AGGREGATES]
    description: Text
    minimum_coverage: Share = 1.0  # default share of tasks that a model needs to be ranked
    minimum_models: Count = 0  # fewest models of one origin with enough tasks; with fewer, none is ranked
    baselines: tuple[Name, ...] = ()  # keys of models that stand for chance
    # Weight of a category in the mean; a category that is not listed has weight 1.
    category_weights: dict[Name, Annotated[float, Gt(0)]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model on one task, from one source."""

    id: Annotated[str, MaxLen(3 * LONGEST_KEY)]
    model: Name
    task: Name
    procedure: Name = ""
    origin: Annotated[str, Predicate(is_origin)] = "published"
    source: Text = ""  # `UniSim-Bench Table 2`; a collection and its revision; a run's folder
    settings: dict[str, Any] = field(default_factory=dict)
    fingerprint: Name = ""
    code: Text = ""
    seed: Count | None = None
    dtype: Text = ""
    device: Text = ""
    seconds: Amount | None = None
    started: Text = ""
    status: Literal["complete", "partial", "failed"] = "complete"
    error: Text = ""
    main: bool = True  # False: another source's score for the same cell, stored but not shown


@dataclass(frozen=True, kw_only=True)
class Score:
    """One value of one run. `printed` holds the source's own digits."""

    run: str
    subset: Name
    metric: Name
    value: float  # finite; proportions as fractions
    n: Count | None = None  # number of items with an answer
    stderr: Amount | None = None
    printed: Name = ""
    coverage: Share | None = None  # share of items with an answer; None if the source does not state it
    lower_bound: float | None = None  # the value if all missing answers were wrong; None if none is missing
    # The 95% interval if the metric defines one; otherwise it follows from `stderr`. It need not be symmetric, and it
    # belongs to the value minus its `bias`.
    low: float | None = None
    high: float | None = None
    bias: float | None = None  # how far the expected value exceeds that of infinitely many items; None: unknown or 0


@dataclass(frozen=True, kw_only=True)
class Laboratory:
    """Who measured imported scores, with which version of which harness, and where they are published."""

    key: Name
    title: Line
    harness: Line
    version: Line = ""
    date: Line = ""  # ISO, of the results
    repository: Line = ""
    revision: Line = ""
    license: Line = ""

    @property
    def origin(self) -> str:
        """Returns the origin of its runs."""
        return LABORATORY + self.key


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A paper's statement and what the paper's own scores yield. All fields are text, ready to show."""

    key: str  # key of its page: `claims?claim=<key>`
    paper: str
    claim: str
    where: str
    printed: str
    recomputed: str
    verdict: str  # one of VERDICTS
    severity: str  # one of SEVERITIES
    note: str = ""
    formula: str = ""
    why: str = ""  # why it matters, if there is more to say than its severity
