"""likeness eyes: asks a person about two images, and finds the models that agree with the answers."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute import paths
from compute.cli.workspace import warn
from compute.engine.workspace import Device, Offline
from compute.types import BadInput, argument, unknown

if TYPE_CHECKING:
    from compute.eyes.report import EyesReport

NOTES = 5  # printed notes about skipped items


def eyes(
    images: Annotated[Path, "A folder of images, or the folder of a study, to go on with it."],
    *,
    out: Annotated[Path, "The study's folder, which is made."] = Path("eyes"),
    kind: Annotated[
        str,
        "What is asked of two images: image, which is more like a third; text, which fits a prompt better; "
        "quality, which has the better quality. Default: by the files given, else image.",
    ] = "",
    prompts: Annotated[Path | None, "Prompts of kind text: a table with a column prompt, or one a line."] = None,
    questions: Annotated[
        Path | None, "A table of the questions, alternative_1, alternative_2, and reference or prompt; default: drawn."
    ] = None,
    models: Annotated[Sequence[str], "Models to compare with, as of likeness run; default: those that are ready."] = (),
    rater: Annotated[str, "Who answers; default: me."] = "",
    add: Annotated[
        list[Path],
        "Answers to add: a saved study of the same questions, Label Studio's JSON export, or a table with "
        "alternative_1, alternative_2, choice, and reference or prompt. Repeatable; the app is not opened.",
    ] = (),
    left: Annotated[str, "With --add: the field of the image on the left, where a file does not tell."] = "",
    report: Annotated[bool, "Print which models agree; the app is not opened."] = False,
    tune: Annotated[str, "Tune this dual encoder to the answers, into --to, and test it on held-out ones."] = "",
    to: Annotated[Path | None, "With --tune: the folder of the tuned model."] = None,
    option: Annotated[
        list[str], "With --tune: a value of the plan as in likeness train, such as samples=8000; repeatable."
    ] = (),
    device: Device = "",
    offline: Offline = False,
    port: Annotated[int | None, "Of the app; default: the first free one from 7860."] = None,
) -> Iterator[str]:
    """Asks you about two images at a time, and shows which models answer as you do."""
    if bool(tune) != bool(to):
        raise BadInput("Tuning takes a model and a folder: --tune MODEL --to FOLDER")
    if left and not add:
        raise BadInput("--left is about a file of answers: --add FILE --left FIELD")
    if offline:
        from compute.engine import workspace

        workspace.stay_offline()
    from compute.eyes import exchange
    from compute.eyes.folder import SETTINGS, STUDY, EyesSettings, StudyFolder
    from compute.eyes.study import ASKS, StudyFile
    from compute.io.tables import read_table
    from compute.tasks.image_lists import image_files

    incoming, saved = [], None
    if (images / SETTINGS).is_file():
        for name, value in {"kind": kind, "prompts": prompts, "questions": questions, "models": models}.items():
            if value:
                raise BadInput(f"{argument(name)} is fixed once a study is made. Omit it, or make another study")
        folder = StudyFolder.opened(images, writes=bool(add) or not (report or tune))
    else:
        if not images.is_dir():
            raise BadInput(f"There is no folder {images}. Name a folder of images, or that of a study")
        known = exchange.image_finder(image_files(images).names)
        incoming = [exchange.read(path, known, left=left) for path in add]
        saved = next((each.study for each in incoming if isinstance(each, StudyFile)), None)
        asked = exchange.questions(read_table(questions), known) if questions else saved or next(iter(incoming), None)
        if questions and asked.skipped:
            raise BadInput(f"{questions.name}: {asked.skipped}")
        found = asked.kind if asked else "text" if prompts else kind or "image"
        if found not in ASKS:
            raise BadInput(unknown("kind of question", found, ASKS, listed=True))
        if kind not in ("", found):
            raise BadInput(f"The questions given are of the kind {found}: omit --kind")
        settings = EyesSettings(
            source=str(images.absolute()),
            kind=found,
            prompts=exchange.prompts(prompts) if prompts else [],
            questions=asked.questions if asked and not saved else None,
            models=list(models),
            seed=secrets.randbelow(2**31),
        )
        folder = StudyFolder.created(out, settings)
    with folder.lock:
        if saved:
            folder.save(saved)
        if rater:
            folder.change(rater=rater)
        is_new = folder.study is None
        rows = folder.models(warn=warn) if is_new or not folder.study.chance else []
        if is_new:
            folder.draw()
        if (add or report) and not folder.study.chance:  # otherwise the app asks them while questions are answered
            folder.ask(rows)
        if is_new:
            asked = f", {len(folder.study.models)} models" if folder.study.chance else ""
            yield f"{folder.path}: {len(folder.study.questions)} questions{asked}"
            notes = folder.study.notes
            for note in notes[:NOTES]:
                warn(note)
            if len(notes) > NOTES:
                warn(f"{len(notes) - NOTES} notes more are in {folder.path / STUDY}")
        if add and not incoming:
            known = exchange.image_finder(folder.images())
            incoming = [exchange.read(path, known, left=left) for path in add]
        for path, each in zip(add, incoming, strict=True):
            yield f"{path.name}: {folder.merge(each)}"
        if report:
            from compute.eyes.report import report as judged

            yield from _lines(judged(folder.study, folder.judgments()))
        if tune:
            from compute.eyes import tuning
            from compute.interface.train import model_row

            row = model_row(tune, offline=offline)
            yield from tuning.tune(folder, row, out=to, options=option, device=device, report=typer.echo)
        if not (add or report or tune):
            start = ["-m", paths.PACKAGE.rpartition(".")[0]] if paths.IS_INSTALLED else [str(paths.ROOT / "app.py")]
            words = [*(["--port", str(port)] if port else []), *(["--offline"] if offline else [])]
            sys.stdout.flush()
            os.execv(sys.executable, [sys.executable, *start, "--eyes", str(folder.path), *words])


def _lines(report: EyesReport) -> Iterator[str]:
    """Yields the report as a table and sentences."""
    from compute.io.tables import aligned

    rows = [("class", "model", "agreement", "95% interval", "questions")]
    for each in report.models:
        share = each.agreement
        cells = (f"{share.value:.0%}", f"{share.low:.0%} to {share.high:.0%}") if share.n else ("-", "-")
        rows.append((each.letter, each.title, *cells, str(share.n)))
    yield from (report.lead, "", *aligned(rows), "")
    raters = f" by {len(report.raters)} raters" if len(report.raters) > 1 else ""
    yield f"{report.judgments} judgments{raters}, of which {report.cannot_tell} cannot tell."
    if report.models:
        yield report.rests_on
    if report.consistency.n:
        share, best = report.consistency, report.ceiling
        ceiling = "" if best is None else f" A model that always knew your preference would agree on about {best:.0%}."
        yield (
            f"Asked again with sides swapped, {share.value:.0%} of {share.n} answers were the same "
            f"(95% interval {share.low:.0%} to {share.high:.0%}).{ceiling}"
        )
    if report.left.n and not report.left.low <= 0.5 <= report.left.high:
        yield f"Position bias: {report.left.value:.0%} of the choices are of the image on the left."
    if report.alpha is not None:
        yield f"Agreement between raters: Krippendorff's alpha {report.alpha:.2f}."
    for pair in report.pairs[:3]:
        if not pair.is_significant and pair.more:
            yield f"{pair.more} more questions would separate {pair.first} and {pair.second} (80% power)."
    yield from report.notes[:NOTES]
    if len(report.notes) > NOTES:
        yield f"{len(report.notes) - NOTES} notes more"
