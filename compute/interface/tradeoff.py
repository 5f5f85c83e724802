"""Ways of keeping generalisation compared over seeds, and Table 4's ablation: many small trainings, each resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from compute import drafts
from compute.interface import tradeoff_page
from compute.interface.train import model_row, train
from compute.models import hardware as chosen_hardware
from compute.tasks.source import Source
from compute.training.unisim import ablation, held_out, preserving, trainable
from compute.training.unisim import tradeoff as rules
from compute.training.unisim.evaluation import measured
from compute.training.unisim.results import TrainingResult
from compute.training.unisim.tradeoff import STRENGTHS, SettingSummary, Trial, TrialOutcome
from compute.types import BadInput, NotHere

PAGE, OUTCOME = "tradeoff.html", "outcome.json"


def tradeoff(
    base: str | Path,
    *,
    out: str | Path,
    suite: str = "mini",
    seeds: Sequence[int] = (0, 1, 2),
    ways: Mapping[str, Sequence[float]] = STRENGTHS,
    options: Sequence[str] = (),
    device: str = "",
    offline: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> list[SettingSummary]:
    """Trains once for every way, strength and seed below `out`, and returns what each gives over seeds.

    `ways`: a way of preserving.WAYS -> its strengths; plain tuning, `none`, is always compared. Interpolated weights
    come from plain tuning's without training again. `options` are common to all, as in `train`. A call that was
    interrupted goes on where it was.
    Writes `tradeoff.html`. Raises BadInput for a way, a strength or seeds that make no sense, and what `train` raises.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise BadInput(f"Seeds are different whole numbers, at least one: {list(seeds)}")
    ways = {"none": (0.0,), **ways}
    for keep, strengths in ways.items():
        for strength in strengths:
            preserving.check(keep, strength)
    root = Path(out).expanduser()
    outcomes = []
    for trial in rules.trials(ways, seeds):
        folder = root / _folder(trial)
        outcome = _stored(folder / OUTCOME, trial)
        if outcome is None:
            report(f"{trial.name}, seed {trial.seed}")
            if trial.keep == "interpolate":
                plain = root / _folder(replace(trial, keep="none", strength=0.0))
                outcome = _mixed(trial, base, plain, suite=suite, device=device, offline=offline)
            else:
                own = [f"seed={trial.seed}", f"keep={trial.keep}", f"strength={trial.strength}"]
                tuned = train(
                    base,
                    out=folder,
                    suite=suite,
                    options=[*options, *own],
                    device=device,
                    offline=offline,
                    report=report,
                )
                outcome = _outcome(trial, tuned)
            folder.mkdir(parents=True, exist_ok=True)
            with drafts.replacing(folder / OUTCOME) as draft:
                draft.write_text(json.dumps(asdict(outcome)) + "\n", encoding="utf-8")
        outcomes.append(outcome)
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

    The data sets are stand-ins (`ablation.DOMAINS`). Rows are as `tradeoff` gives them, a row a number of data sets.
    """
    root, outcomes = Path(out).expanduser(), []
    for seed in seeds:
        for count in range(1, len(ablation.DOMAINS) + 1):
            names = ablation.DOMAINS[:count]
            report(f"Image for a text from {', '.join(names)}, seed {seed}")
            tuned = train(
                base,
                out=root / f"{count}-data-sets-seed-{seed}",
                examples=ablation.examples(names, seed=seed),
                options=[*options, f"seed={seed}"],
                device=device,
                offline=offline,
                report=report,
            )
            # A row a number of data sets: plain tuning of `count`.
            outcomes.append(_outcome(Trial(keep="none", strength=float(count), seed=seed), tuned))
    return rules.summaries(outcomes)


def _folder(trial: Trial) -> str:
    return f"{trial.name.replace(' ', '-')}-seed-{trial.seed}"


def _mixed(trial: Trial, base: str | Path, plain: Path, *, suite: str, device: str, offline: bool) -> TrialOutcome:
    """Base and plain tuning's stored model with their weights interpolated, on validation and suite items."""
    hardware = chosen_hardware(device)
    rows = model_row(base, offline=offline), model_row(plain, offline=offline)
    start, tuned = (trainable.load(row, hardware=hardware) for row in rows)
    suite_items, _ = held_out.evaluation_items(suite, source=Source(offline=True))
    parts = (held_out.validation_items(suite), suite_items)
    first, second = (measured(items, row=rows[0], encoder=start.towers) for items in parts)
    weights = preserving.interpolated(
        base=start.module.state_dict(), tuned=tuned.module.state_dict(), base_share=trial.strength
    )
    tuned.module.load_state_dict(weights)
    now, final = (measured(items, row=rows[1], encoder=tuned.towers) for items in parts)
    return TrialOutcome(
        trial=trial,
        core=now.core - first.core,
        ood=now.ood - first.ood,
        suite_core=final.core - second.core,
        suite_ood=final.ood - second.ood,
    )


def _outcome(trial: Trial, tuned: TrainingResult) -> TrialOutcome:
    before, after = tuned.before, tuned.after
    suite = {row.key: row.difference for row in tuned.changes if row.is_average}
    if before is None or after is None or None in (before.core, after.core, before.ood, after.ood) or len(suite) < 2:
        raise NotHere(f"{tuned.folder}: core and out-of-distribution averages were not both measured")
    return TrialOutcome(
        trial=trial,
        core=after.core - before.core,
        ood=after.ood - before.ood,
        suite_core=suite["core"],
        suite_ood=suite["ood"],
    )


def _stored(path: Path, trial: Trial) -> TrialOutcome | None:
    """The outcome that an earlier call stored; None where the trial is not complete."""
    if not path.is_file():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        outcome = TrialOutcome(**{**values, "trial": Trial(**values["trial"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{path} is damaged ({error}). Remove it, and the same command makes it again") from error
    if outcome.trial != trial:
        raise BadInput(f"{path} is of another trial, {outcome.trial}: use another folder")
    return outcome
