"""python -m compute frechet: compares generators' images with a reference by every metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute.cli.backbone_grid import compare_backbones
from compute.cli.workspace import Data, Offline, Results, rebuild
from compute.engine.workspace import workbench
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.tasks.generators.pairing import PromptedSets
    from compute.tasks.generators.sets import ImageSet

SOURCES = "a folder of images, a .tar of WebDataset, Parquet, or hf://datasets/ORG/NAME[@REVISION]"


def frechet(
    reference: Annotated[
        str,
        typer.Option(
            help=f"The real images: {SOURCES}. Or saved statistics, FILE.npz, which serve FID and other distances."
        ),
    ],
    generated: Annotated[
        list[str], typer.Option(metavar="NAME=DIR", help=f"A generator's images: NAME and {SOURCES}. Repeatable.")
    ],
    more: Annotated[list[str] | None, typer.Argument(metavar="[NAME=DIR]...", help="More generators.")] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="The prompts: a table (CSV, TSV, JSON Lines, Parquet) with columns image and prompt, or a text with a "
            "prompt a line in the order of the images. Not needed where the images come with their prompts."
        ),
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            help="What people think: a table of generators with rate, elo or rank; or of votes: winner and loser, "
            "first, second and choice, or prompt, generator and votes."
        ),
    ] = None,
    backbones: Annotated[
        str,
        typer.Option(
            help="paper: those of the papers; tiny: the bundled model, without a network; or keys of encoders, "
            "comma-separated."
        ),
    ] = "paper",
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="cFreD alone, under every pair of an image and a text backbone of --backbones; paper: all 46 x 43 of "
            "the cFreD paper. Sets may be features then: a folder of .npy files, or an .npz file, by backbone, and "
            "--prompts those of the prompts.",
        ),
    ] = False,
    metrics: Annotated[str, typer.Option(help="Only these metrics, comma-separated, such as fid,cfred.")] = "",
    output: Annotated[str, typer.Option("--format", help="How the table is printed: text, csv or json.")] = "text",
    name: Annotated[str, typer.Option(help="What the suite is called; default: as the prompts or the reference.")] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps; default: the best available.")] = "",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16; default: float32 for features.")] = "",
    batch_size: Annotated[int | None, typer.Option(help="Images a batch; halved when memory runs out.", min=1)] = None,
    skip_bad_items: Annotated[
        bool, typer.Option("--skip-bad-items", help="Leave out images that cannot be read, with their pairs.")
    ] = False,
    intervals: Annotated[
        bool,
        typer.Option(help="95% intervals and distances at infinite N; they take some 30 times as long."),
    ] = True,
    store: Annotated[bool, typer.Option(help="Store the figures as runs, which the board shows.")] = True,
    save_reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="Save the reference's statistics, with what made them: FILE-<backbone>.npz. Then --reference FILE.npz "
            "stands for its images.",
        ),
    ] = None,
    data: Data = None,
    offline: Offline = False,
    results: Results = None,
):
    """Compares generators' images with a reference: Fréchet distances, cFreD and their rivals, in one table.

    Features are stored, so an interrupted comparison resumes and another metric needs no second pass over the images.
    """
    from compute.catalog import shipped
    from compute.engine.generators import backbones as choices
    from compute.engine.generators import comparison, people, references, stored, table
    from compute.tasks.generators import human as ratings
    from compute.tasks.generators import pairing, sources
    from compute.tasks.generators import prompts as lists
    from compute.tasks.source import Source

    if output not in table.FORMATS:
        raise BadInput(f"No format {output!r}. There are: {', '.join(table.FORMATS)}")
    catalog = shipped()
    root, bench = workbench(
        results=results,
        data=data,
        offline=offline,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        skip_bad=skip_bad_items,
    )
    bench_source = Source.keeping(root, root=data, offline=offline)

    def opened(key: str, where: str) -> ImageSet:
        typer.echo(f"Reading {key}: {where}", err=True)
        return sources.opened(key, where, source=bench_source, skip_bad=skip_bad_items)

    named = [_named(text) for text in (*generated, *(more or ()))]

    def paired() -> PromptedSets:
        return pairing.pair(
            reference=None if references.is_saved(reference) else opened(pairing.REFERENCE, reference),
            generated=[opened(key, where) for key, where in named],
            prompts=None if prompts is None else lists.read(prompts),
        )

    if grid:
        if metrics not in ("", "cfred") or save_reference or not store:
            raise BadInput("--grid computes and stores cFreD: it goes without --metrics, --save-reference, --no-store")
        compare_backbones(
            reference=reference,
            generated=named,
            prompts=prompts,
            human=human,
            backbones=backbones,
            output=output,
            name=name,
            offline=offline,
            root=root,
            bench=bench,
            pair=paired,
        )
        rebuild(root, err=output != "text")
        return
    chosen = choices.choose(backbones, metrics=metrics, catalog=catalog)
    saved = references.opened(reference, chosen=chosen) if references.is_saved(reference) else None
    if saved and save_reference:
        raise BadInput(f"{reference} is saved already: --save-reference goes with the images themselves")
    rated = None if human is None else ratings.read(human)
    sets = paired()
    result = comparison.compare(
        sets,
        chosen=chosen,
        catalog=catalog,
        bench=bench,
        name=name or (prompts.stem if prompts else Path(reference).stem),
        file=prompts or Path(reference),
        saved=saved,
        offline=offline,
        intervals=intervals,
        report=lambda line: typer.echo(line, err=True),
    )
    beside = None if rated is None else people.beside(rated, figures=result.figures, features=result.features)
    about = people.lines(beside) if beside else []
    if output == "csv":
        typer.echo(table.as_csv(result.figures), nl=False)
        about = [*(f"Warning: {line}" for line in result.sets.warnings), *about]
    elif output == "json":
        typer.echo(table.as_json(result.figures, warnings=result.sets.warnings, people=beside))
        about = []
    else:
        about = [*table.text(result.figures, warnings=result.sets.warnings), *about]
    for line in about:
        typer.echo(line, err=output == "csv")
    if save_reference:
        for path in references.save(
            save_reference,
            images={key: sets[pairing.REFERENCE] for key, sets in result.features.images.items()},
            texts=result.features.texts,
            chosen=chosen,
            settings=result.settings,
            source=reference,
            contents=result.reference,
        ):
            typer.echo(f"Saved {path}", err=True)
    if store:
        key, runs = stored.store(result, results=root, human=beside.stored if beside else None)
        typer.echo(f"Stored {len(runs)} run{'s' if len(runs) != 1 else ''} of the suite {key}", err=True)
        rebuild(root, err=output != "text")


def _named(text: str) -> tuple[str, str]:
    key, equals, where = text.partition("=")
    if not equals or not key.strip() or not where.strip():
        raise BadInput(f"{text!r} is not NAME=DIR: name each generator, such as sdxl=images/sdxl")
    return key.strip(), where.strip()
