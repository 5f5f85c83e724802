"""`compute.evaluate`: evaluates a model on a suite from Python, with the same engine as `likeness run`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from compute import storage
from compute.catalog import Catalog
from compute.engine import named_models, plan, ray_cluster, results_table, workspace
from compute.engine.checking import judge
from compute.engine.plan import Plan
from compute.engine.ray_cluster import RayCluster
from compute.engine.run import Outcome, doubted, execute
from compute.engine.workspace import RunSettings
from compute.interface.evaluated import Evaluation
from compute.models.own import checkpoints, wrapping
from compute.models.own.checkpoints import NamedModel
from compute.models.own.own_model import FROM_SESSION, ModelSource
from compute.options import taking
from compute.progress import Progress
from compute.types import BadInput, CannotDo, NotHere, counted, suggestion
from compute.versions import naming_packages


@naming_packages()
@taking(RunSettings, without=("dry_run",))
def evaluate(
    model: Any,
    *,
    suite: str | Path = "",
    tasks: str | Sequence[str] = (),
    name: str = "",
    version: str = "",
    preprocess: Callable[..., Any] | None = None,
    tokenizer: Callable[..., Any] | None = None,
    processor: Callable[..., Any] | None = None,
    higher_is_better: bool | None = None,
    family: str = "",
    **given: Any,
) -> Evaluation:
    """Computes the missing scores of one model on a suite, or on some of its tasks, and returns all of them.

    `model`: a key of the catalogue; a checkpoint's folder; a hub id, `org/name` or `org/name@revision`;
    `endpoint:NAME`, a judge by its name at the OpenAI-compatible server of LIKENESS_ENDPOINT; or an object in memory: a
    model of open_clip, transformers or sentence_transformers, an encoder with mteb's protocol, an object with
    encode_image or encode_text, a torch module with `preprocess`, a function distance(a, b) with `higher_is_better`, or
    a judge ask(messages) -> text. An object is checked on a few items, runs on its current device, and is identified by
    the digest of its parameters.

    `name`: the source of its key, by default its class, folder or id; `version`: identifies an object that nothing else
    does, such as one that calls a service. `preprocess`: from an RGB PIL image to a tensor; `tokenizer`: from texts to
    tokens; `processor`: that of a transformers model; `family`: of a checkpoint whose files do not state it.

    `suite`: its key (`likeness list suites`) or the path of a suite.toml; optional if `tasks` or `data` determine it.
    The other arguments are those of `likeness run` (`compute.engine.workspace.RunSettings`). A single value of `tasks`,
    `images` or `options` needs no list. Runs stored in `results` are not repeated. With `engine="ray"`, an object in
    memory is copied to each worker.

    A failed run is part of the result with its reason, and a warning gives their number. Ctrl-C keeps every finished
    run and every encoded item: the same call resumes. Raises UnknownKey, BadInput, NotHere, and CannotDo if the model
    can be run on none of the tasks.
    """
    tasks = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    settings = RunSettings(**given)
    of_object = {
        "version": version or None,
        "preprocess": preprocess,
        "tokenizer": tokenizer,
        "processor": processor,
        "higher_is_better": higher_is_better,
    }
    of_object = {argument: value for argument, value in of_object.items() if value is not None}
    with ExitStack() as stack:
        stack.enter_context(workspace.as_before())
        crews = hardware = None
        if settings.engine == "ray":
            crews, hardware = stack.enter_context(ray_cluster.opened(settings))
        if isinstance(model, str | Path):
            if needless := [argument for argument in of_object if argument != "version"]:
                raise BadInput(f"{needless[0]}= is for objects in memory: a model that is named has its own. Omit it")
        else:
            hardware = wrapping.hardware_of(model, device=settings.device, dtype=settings.dtype)
        suite = str(suite) or ("" if settings.data is not None else _suite_of(tasks, settings.results))
        catalog, suite, bench = workspace.opened(settings, suite=suite, hardware=hardware, warn=_warn)
        own = None
        if isinstance(model, str | Path):
            chosen = _named(catalog, model, name=name, family=family, offline=settings.offline)
        else:
            # Here, so that a judge's answer to its check goes to the log of this bench.
            own = wrapping.wrap(model, name=name, hardware=bench.hardware, batch_size=settings.batch_size, **of_object)
            kind = getattr(model, "__name__", "") or type(model).__name__
            chosen = NamedModel(
                row=own.row,
                digest=own.identity(own.row, hardware=bench.hardware)["digest"],
                source=ModelSource(kind=FROM_SESSION, name=kind, arguments=tuple(of_object)),
                remark=own.remark,
            )
        if chosen.remark and (own or chosen.source is None):
            _warn(chosen.remark)
        row = named_models.record_named(chosen, results=settings.results)
        if own:
            bench.own[row.key] = replace(own, row=row)
        catalog = named_models.joined(catalog, [replace(chosen, row=row)])
        planned = plan.make(catalog, suite=suite, models=[row.key], tasks=tasks, bench=bench)
        if not planned.jobs:
            raise CannotDo("; ".join(plan.reasons(planned)))
        plan.check_possible(planned, models=[row.key])
        try:
            outcomes = _executed(planned, bench, crews)
        finally:
            storage.push(settings.results)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if failed:
        first = f"{counted(len(failed), 'run')} of {len(outcomes)} failed, the first because: {failed[0].reason}"
        _warn(". ".join([first, *results_table.traced(failed)]))
    made = [outcome.stored for outcome in outcomes if outcome.state == "made" and outcome.stored]
    if lines := [line for run in made for line in doubted(run)]:
        _warn(f"{lines[0]}. {len(lines) - 1:,} more: print the evaluation" if lines[1:] else lines[0])
    return Evaluation(plan=planned, outcomes=tuple(outcomes), catalog=catalog, results=settings.results)


def _named(catalog: Catalog, model: str | Path, *, name: str, family: str, offline: bool) -> NamedModel:
    """Returns the model for a catalogue key, a checkpoint's folder or a hub id.

    Raises UnknownKey for anything else, NotHere, BadInput.
    """
    known = {row.key for row in catalog.models}
    text = named_models.of_path(model) if isinstance(model, Path) else model
    if text not in known and not named_models.of_folder(text) and checkpoints.HUB_ID.fullmatch(text):
        text = f"{checkpoints.HUB}{text}"
    overrides = named_models.Overrides(name=name, family=family)
    try:
        (chosen,) = named_models.named([text], catalog=catalog, overrides=overrides, offline=offline)
    except NotHere as error:
        if text == str(model) or not text.startswith(checkpoints.HUB):
            raise
        near = suggestion(str(model), known)
        raise NotHere(f"{model} is neither a key of the catalogue nor a folder.{near} On the hub: {error}") from error
    return chosen


def _suite_of(tasks: Sequence[str], results: Path) -> str:
    """Returns the first suite of the catalogue that contains all these tasks. Raises BadInput if no suite does."""
    if not tasks:
        raise BadInput("No suite is named: give suite=, such as suite='mini' (likeness list suites)")
    catalog = workspace.catalog_with_own(results, warn=_warn)
    rows = [catalog.task(key) for key in tasks]
    for suite in catalog.suites:
        if all(suite.key in row.suites for row in rows):
            return suite.key
    raise BadInput(f"No suite holds all of these tasks: {', '.join(tasks)}. Evaluate those of each suite separately")


def _executed(planned: Plan, bench: workspace.Bench, workers: RayCluster | None) -> list[Outcome]:
    """Runs the plan with a progress bar over its runs. Raises KeyboardInterrupt that says what is stored."""
    missing = len(planned.missing)
    title = f"{planned.models[0].key} on {planned.suite.key}"
    ended = []
    try:
        with Progress(watched=bench.settings.progress).bar(title, total=missing, unit="run") as advance:

            def count(outcome: Outcome) -> None:
                ended.append(outcome)
                advance(1)

            meet = partial(judge.check_once, report=_warn)
            return execute(planned, bench=bench, ended=count, meet=meet, workers=workers)
    except KeyboardInterrupt:
        made = sum(outcome.state == "made" for outcome in ended)
        raise KeyboardInterrupt(
            f"{made} of {counted(missing, 'run')} made and stored in {bench.settings.results}, encoded items too. "
            "The same call makes the others"
        ) from None


def _warn(problem: str) -> None:
    warnings.warn(problem, UserWarning, stacklevel=3)
