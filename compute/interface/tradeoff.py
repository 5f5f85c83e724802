"""Methods that preserve generalisation compared over seeds, and Table 4's ablation: small resumable trainings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from compute import drafts, paths
from compute.interface.pages import tradeoff as tradeoff_page
from compute.interface.train import train
from compute.tasks.source import Source, data_folder
from compute.training.unisim import held_out
from compute.training.unisim import plan as plans
from compute.training.unisim import tradeoff as rules
from compute.training.unisim.data import ablation
from compute.training.unisim.data.question_groups import DOMAINS
from compute.training.unisim.evaluation import SIDES
from compute.training.unisim.results import TrainingResult
from compute.training.unisim.steps import preserving
from compute.training.unisim.tradeoff import STRENGTHS, SettingSummary, Trial, TrialOutcome
from compute.types import BadInput, NotHere

PAGE = "tradeoff.html"


def tradeoff(
    base: str | Path,
    *,
    out: str | Path,
    suite: str = "mini",
    datasets: Sequence[str] = (),
    data: str | Path | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    methods: Mapping[str, Sequence[float]] = STRENGTHS,
    options: Sequence[str] = (),
    device: str = "",
    offline: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> list[SettingSummary]:
    """Trains once for every method, strength and seed below `out`, and returns what each gives over seeds.

    `methods`: a method of preserving.METHODS -> its strengths; plain tuning, `none`, is always compared. `suite`,
    `datasets`, `data` and `options` are common to all, as in `train`. A call that was interrupted goes on where it was;
    trainings below `out` of another base, plan, suite or data are refused, as `train` refuses them.
    Writes `tradeoff.html`. Raises BadInput for a method, a strength or seeds that cannot be, NotHere where the suite's
    own items of a side are not on this machine, and what `train` raises.
    """
    _check(seeds, options, remedy="name what to compare by `methods`, --methods on the command line")
    methods = {"none": (0.0,), **methods}
    for keep, strengths in methods.items():
        for strength in strengths:
            preserving.check(keep, strength)
    if suite == "unisim":
        _check_items(suite, Source.keeping(paths.RESULTS, root=data_folder(data), offline=True))
    root = Path(out).expanduser()
    outcomes = []
    for trial in rules.trials(methods, seeds):
        report(f"{trial.name}, seed {trial.seed}")
        tuned = train(
            base,
            out=root / f"{trial.name.replace(' ', '-')}-seed-{trial.seed}",
            suite=suite,
            datasets=datasets,
            data=data,
            options=[*options, f"seed={trial.seed}", f"keep={trial.keep}", f"strength={trial.strength}"],
            device=device,
            offline=offline,
            report=report,
        )
        outcomes.append(_outcome(trial, tuned))
    rows = rules.summaries(outcomes)
    with drafts.replacing(root / PAGE) as draft:
        draft.write_text(
            tradeoff_page.page(base=str(base), suite=suite, rows=rows, outcomes=outcomes), encoding="utf-8"
        )
    report(f"The trade-off: {root / PAGE}")
    return rows


def ablate(
    base: str | Path,
    *,
    out: str | Path,
    seeds: Sequence[int] = (0, 1, 2),
    options: Sequence[str] = (),
    device: str = "",
    offline: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> list[SettingSummary]:
    """Table 4 on drawn data: the image-for-text task trained on one, two and three data sets, the others alike.

    The data sets are stand-ins (`question_groups.DOMAINS`); nothing preserves generalisation, as in the paper. Rows
    are as `tradeoff` gives them, a row a number of data sets. Raises BadInput for seeds that cannot be and for options
    of what is preserved.
    """
    _check(seeds, options, remedy="the ablation is of plain tuning")
    options = ["keep=none", *options]
    root, outcomes = Path(out).expanduser(), []
    samples = plans.with_options(plans.MINI, options).samples
    for seed in seeds:
        for count in range(1, len(DOMAINS) + 1):
            names = DOMAINS[:count]
            report(f"Image for a text from {', '.join(names)}, seed {seed}")
            tuned = train(
                base,
                out=root / f"{count}-data-sets-seed-{seed}",
                examples=ablation.examples(names, seed=seed, count=samples),
                options=[*options, f"seed={seed}"],
                device=device,
                offline=offline,
                report=report,
            )
            # A row a number of data sets: plain tuning of `count`.
            outcomes.append(_outcome(Trial(keep="none", strength=float(count), seed=seed), tuned))
    return rules.summaries(outcomes)


def _check(seeds: Sequence[int], options: Sequence[str], *, remedy: str) -> None:
    """Raises BadInput for seeds that cannot be, and where options name what each training decides for itself."""
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise BadInput(f"Seeds are different whole numbers from 0, at least one: {list(seeds)}")
    for name, _ in plans.named(options):
        if name == "seed":
            raise BadInput("Training option seed cannot be common to all trainings: name seeds, --seeds")
        if name in ("keep", "strength"):
            raise BadInput(f"Training option {name} cannot be common to all trainings: {remedy}")


def _check_items(suite: str, source: Source) -> None:
    """Raises NotHere where one side of the trade-off could not be measured after all the trainings."""
    items, missing = held_out.evaluation_items(suite, source=source)
    for side in SIDES:
        if not any(part.side == side for part in items):
            reason = next(iter(missing.values()), "")
            raise NotHere(
                f"A trade-off needs the {rules.SIDE_WORDS[side]} items of {suite}, and none is here. {reason}"
            )


def _outcome(trial: Trial, tuned: TrainingResult) -> TrialOutcome:
    before, after = tuned.before, tuned.after
    suite = {row.key: row.difference for row in tuned.changes if row.is_average}
    sides = [getattr(each, side, None) for side in SIDES for each in (before, after)]
    if None in sides or len(suite) < 2:
        raise NotHere(f"{tuned.folder}: core and out-of-distribution averages were not both measured")
    core_before, core_after, ood_before, ood_after = sides
    return TrialOutcome(
        trial=trial,
        core=core_after - core_before,
        ood=ood_after - ood_before,
        suite_core=suite["core"],
        suite_ood=suite["ood"],
    )
