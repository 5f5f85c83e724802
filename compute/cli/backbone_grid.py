"""python -m compute frechet --grid: cFreD under every pair of backbones, from images or from features."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from compute.types import BadInput

if TYPE_CHECKING:
    from compute.analysis.generators.backbone_agreement import PairAgreement
    from compute.engine.bench import Bench
    from compute.engine.generators.grid import GridFeatures, GridResult
    from compute.engine.generators.people import RatedGenerators
    from compute.tasks.generators.pairing import PromptedSets

LISTED = 5  # pairs of backbones that a summary names


def compare_backbones(
    *,
    reference: str,
    generated: Sequence[tuple[str, str]],
    prompts: Path | None,
    human: Path | None,
    backbones: str,
    output: str,
    name: str,
    offline: bool,
    root: Path,
    bench: Bench,
    pair: Callable[[], PromptedSets],
) -> None:
    """Computes, stores and prints a grid. `pair` reads images, where the sets are not features already.

    Raises BadInput, NotHere.
    """
    from compute.catalog import shipped
    from compute.engine.generators import grid, people
    from compute.tasks.generators import feature_files
    from compute.tasks.generators import human as ratings

    def report(line: str) -> None:
        typer.echo(line, err=True)

    ready = [feature_files.holds_features(Path(where)) for where in (reference, *(where for _, where in generated))]
    if any(ready) and not all(ready):
        raise BadInput("Features and images cannot be mixed: name features of the reference and of every generator")
    catalog = shipped()
    rated = None if human is None else people.rated(ratings.read(human), generated=[key for key, _ in generated])
    features: GridFeatures
    if all(ready):
        if prompts is None or not feature_files.holds_features(prompts):
            raise BadInput(
                "--prompts: name the features of the prompts, a folder of .npy files or an .npz file by text backbone"
            )
        chosen = () if backbones == "paper" else tuple(key.strip() for key in backbones.split(",") if key.strip())
        features = grid.from_files(
            reference=Path(reference),
            generated={key: Path(where) for key, where in generated},
            condition=prompts,
            chosen=chosen,
        )
    else:
        features = grid.encode(
            pair(),
            chosen=grid.choose(backbones, catalog=catalog),
            catalog=catalog,
            bench=bench,
            offline=offline,
            report=report,
        )
    listed = grid.paper_backbones(catalog)
    for role, keys, have in (
        ("image", listed["image"], features.reference),
        ("text", listed["text"], features.condition),
    ):
        report(f"Of the {len(keys)} {role} backbones of the cFreD paper {sum(key in have for key in keys)} are here")
    result = grid.execute(
        features,
        name=name or (prompts.stem if prompts else Path(reference).stem),
        file=prompts or Path(reference),
        results=root,
        people=rated.stored if rated else None,
        report=report,
    )
    agreements, reason = agreement(result, rated)
    if output == "csv":
        typer.echo(_csv(result, agreements), nl=False)
    elif output == "json":
        typer.echo(_json(result, agreements))
    else:
        for line in _text(result, agreements):
            typer.echo(line)
    for line in (*result.warnings, *(rated.warnings if rated else ()), *filter(None, [reason])):
        typer.echo(f"Warning: {line}", err=output != "text")
    generators = len(features.generated)
    report(
        f"{len(result.cells):,} cells, {result.computed:,} of them new; {len(features.reference) * generators} runs of "
        f"the suite {result.suite}"
    )


def agreement(result: GridResult, rated: RatedGenerators | None) -> tuple[dict[tuple[str, str], PairAgreement], str]:
    """The agreement with people by (image, text) backbone, and why there is none."""
    from compute.analysis.generators.backbone_agreement import pair_agreement
    from compute.types import Undefined

    agreements: dict[tuple[str, str], PairAgreement] = {}
    if rated is None:
        return agreements, ""
    try:
        for _, image, text in result.cells:
            if (image, text) not in agreements:
                distances = [result.cells[name, image, text] for name in rated.names]
                agreements[image, text] = pair_agreement(distances=distances, human=rated.ratings)
    except Undefined as error:
        return {}, f"No agreement with people: {error}"
    return agreements, ""


def _csv(result: GridResult, agreements: Mapping[tuple[str, str], PairAgreement]) -> str:
    """A row a cell: generator, image, text, cfred, n; then the agreement of the pair of backbones."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    extra = ("rho_squared", "spearman", "accuracy") if agreements else ()
    writer.writerow(("generator", "image", "text", "cfred", "n", *extra))
    for (generator, image, text), value in result.cells.items():
        row = agreements.get((image, text))
        writer.writerow((generator, image, text, value, result.n, *(getattr(row, name) for name in extra)))
    return stream.getvalue()


def _json(result: GridResult, agreements: Mapping[tuple[str, str], PairAgreement]) -> str:
    cells = [
        {"generator": generator, "image": image, "text": text, "cfred": value}
        for (generator, image, text), value in result.cells.items()
    ]
    people = [{"image": image, "text": text, **asdict(row)} for (image, text), row in agreements.items()]
    content = {"suite": result.suite, "n": result.n, "cells": cells, "people": people}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _text(result: GridResult, agreements: Mapping[tuple[str, str], PairAgreement]) -> list[str]:
    """An image backbone a row: the agreement with people, or else each generator's cFreD, over the text backbones."""
    from compute.tables import padded

    images = list(dict.fromkeys(image for _, image, _ in result.cells))
    if agreements:
        head = ["image backbone", "ρ² with its sign, mean over texts", "lowest", "highest", "rank accuracy"]
        rows = [head]
        for image in images:
            own = [row for (key, _), row in agreements.items() if key == image]
            squares = [row.rho_squared for row in own]
            shown = (sum(squares) / len(own), min(squares), max(squares), sum(row.accuracy for row in own) / len(own))
            rows.append([image, *(f"{value:.2f}" for value in shown)])
    else:
        names = list(dict.fromkeys(name for name, _, _ in result.cells))
        rows = [["image backbone", *(f"cFreD of {name}" for name in names)]]
        for image in images:
            spans = [[value for key, value in result.cells.items() if key[:2] == (name, image)] for name in names]
            rows.append([image, *(f"{min(span):.4g} to {max(span):.4g}" for span in spans)])
    first, *drawn = padded(rows)
    lines = [f"| {' | '.join(row)} |" for row in (first, ["-" * len(cell) for cell in first], *drawn)]
    if not agreements:
        return [
            *lines,
            "Lowest to highest over the text backbones. Distances of unlike image backbones do not compare.",
        ]
    order = sorted(agreements, key=lambda pair: -agreements[pair].rho_squared)
    best = "; ".join(f"{image} x {text} ({agreements[image, text].rho_squared:.2f})" for image, text in order[:LISTED])
    return [
        *lines,
        "Below 0: cFreD falls where people's preference falls, the wrong way.",
        f"Highest of {len(order):,} pairs, in this sample: {best}",
    ]
