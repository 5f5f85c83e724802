"""python -m compute tradeoff: methods that preserve generalisation, compared over seeds; Table 4's ablation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from compute.cli.workspace import Data, Offline
from compute.types import BadInput

Number = TypeVar("Number", int, float)


def tradeoff(
    out: Annotated[Path, typer.Option(help="Folder of the trainings; the same command goes on where it stopped.")],
    base: Annotated[str, typer.Option(help="The dual encoder that is tuned, as in train --base.")] = "tiny",
    suite: Annotated[str, typer.Option(help="Whose kind of examples it learns from: mini or unisim.")] = "mini",
    datasets: Annotated[
        list[str] | None,
        typer.Option(help="The data sets of a task, as in train: image-for-text=hpdv2,magicbrush; repeatable."),
    ] = None,
    data: Data = None,
    seeds: Annotated[str, typer.Option(help="Comma-separated whole numbers; every setting is trained with each.")] = (
        "0,1,2"
    ),
    methods: Annotated[
        str,
        typer.Option(
            help="What to compare with plain tuning, as method=strength/strength, comma-separated: "
            "interpolate=0.25/0.5,distill=10,features=0.1; default: all methods at two strengths each."
        ),
    ] = "",
    steps: Annotated[int | None, typer.Option(help="Steps of each training; default: the suite's.", min=1)] = None,
    option: Annotated[list[str] | None, typer.Option(help="A value of the plan, as in train; repeatable.")] = None,
    ablation: Annotated[
        bool,
        typer.Option(
            "--ablation",
            help="Instead, Table 4: the image-for-text task from one, two and three data sets, for which drawn "
            "domains stand in.",
        ),
    ] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1; default: the best available.")] = "",
    offline: Offline = False,
):
    """Compares methods that preserve generalisation over seeds; draws core gain against out-of-distribution change."""
    from compute.interface import tradeoff as interface
    from compute.training.unisim import held_out
    from compute.training.unisim import tradeoff as rules
    from compute.training.unisim.data import drawn_groups
    from compute.training.unisim.plan import with_steps

    options = with_steps(suite, option or [], steps)
    numbers = [_number(part, int, "seed") for part in seeds.split(",") if part.strip()]
    if ablation:
        if suite != "mini" or datasets or data:
            raise BadInput("--ablation is of drawn data sets: leave out --suite, --datasets and --data")
        if methods:
            raise BadInput("--ablation is of plain tuning: leave out --methods")
        with drawn_groups.second_process():
            rows = interface.ablate(
                base, out=out, seeds=numbers, options=options, device=device, offline=offline, report=typer.echo
            )
        lines = rules.lines(rows, names=[f"{row.strength:g} data set{'s' if row.strength > 1 else ''}" for row in rows])
    else:
        with drawn_groups.second_process():
            rows = interface.tradeoff(
                base,
                out=out,
                suite=suite,
                datasets=datasets or [],
                data=data,
                seeds=numbers,
                methods=_methods(methods) if methods else rules.STRENGTHS,
                options=options,
                device=device,
                offline=offline,
                report=typer.echo,
            )
        lines = rules.lines(rows) + rules.conclusions(rows) + ([held_out.DRAWN_OOD] if suite == "unisim" else [])
    for line in lines:
        typer.echo(line)


def _methods(text: str) -> dict[str, tuple[float, ...]]:
    methods: dict[str, tuple[float, ...]] = {}
    for part in text.split(","):
        keep, equals, strengths = part.strip().partition("=")
        if not equals:
            raise BadInput(f"--methods {part.strip()!r} names no strength: write interpolate=0.25/0.5")
        methods[keep] = (*methods.get(keep, ()), *(_number(each, float, "strength") for each in strengths.split("/")))
    if twice := next((keep for keep, strengths in methods.items() if len(set(strengths)) < len(strengths)), None):
        raise BadInput(f"--methods names a strength of {twice} twice")
    return methods


def _number(text: str, kind: type[Number], noun: str) -> Number:
    try:
        return kind(text)
    except ValueError as error:
        raise BadInput(f"{text.strip()!r} is no {noun}") from error
