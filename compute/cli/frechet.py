"""likeness frechet: compares generators' images with a reference by every metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute.cli.workspace import BatchSize, Build, Data, Device, Names, Offline, Results, rebuild
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.engine.generators.grid import GridResult
    from compute.engine.generators.table import GeneratorTable
    from compute.tasks.generators.pairing import PromptedSets
    from compute.tasks.generators.sources import ImageSet

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
    more: Annotated[Names, typer.Argument(metavar="[NAME=DIR]...", help="More generators.")] = None,
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
            help="Human ratings: a table of generators with rate, elo or rank; or of votes: winner and loser, "
            "first, second and choice, or prompt, generator and votes."
        ),
    ] = None,
    backbones: Annotated[
        list[str],
        typer.Option(
            help="paper: those of the papers; tiny: the bundled model, without a network; or keys of encoders, "
            "comma-separated."
        ),
    ] = ("paper",),
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="cFreD alone, under every pair of an image and a text backbone of --backbones; paper: all 46 x 43 of "
            "the cFreD paper. Sets may be features then: a folder of .npy files, or an .npz file, by backbone, and "
            "--prompts those of the prompts.",
        ),
    ] = False,
    metrics: Annotated[Names, typer.Option(help="Only these metrics, comma-separated, e.g. fid,cfred.")] = None,
    output: Annotated[str, typer.Option("--format", help="How the table is printed: text, csv or json.")] = "text",
    name: Annotated[str, typer.Option(help="Name of the suite; default: that of the prompts or the reference.")] = "",
    device: Device = "",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16; default: float32 for features.")] = "",
    batch_size: BatchSize = None,
    skip_bad_items: Annotated[
        bool, typer.Option("--skip-bad-items", help="Skip images that cannot be read, with their pairs.")
    ] = False,
    intervals: Annotated[
        bool,
        typer.Option(help="95% intervals and distances at infinite N; they take about 30 times as long."),
    ] = True,
    store: Annotated[bool, typer.Option(help="Store the scores as runs, which the board shows.")] = True,
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
    build: Build = True,
):
    """Compares generators' images with a reference: Fréchet distances, cFreD and their rivals, in one table.

    Features are stored, so an interrupted comparison resumes and another metric needs no second pass over the images.
    """
    from compute.catalog import known
    from compute.engine.generators import backbones as choices
    from compute.engine.generators import frechet as comparison
    from compute.engine.generators import store as storage
    from compute.engine.generators.table import FORMATS, RatedGenerators
    from compute.engine.settings import RunSettings
    from compute.engine.workspace import workbench
    from compute.tasks.generators import human as ratings
    from compute.tasks.generators import pairing, sources
    from compute.tasks.source import Source

    if output not in FORMATS:
        raise BadInput(f"No format {output!r}. There are: {', '.join(FORMATS)}")
    catalog = known()
    settings = RunSettings(
        results=results,
        data=data,
        offline=offline,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        skip_bad=skip_bad_items,
    )
    root, bench = settings.results, workbench(settings, data=data)
    bench_source = Source.keeping(root, root=data, offline=offline)
    made_of = {"name": name or (prompts or Path(reference)).stem, "file": prompts or Path(reference), "results": root}
    statistics = Path(reference).suffix == storage.SUFFIX  # in place of images
    named: dict[str, str] = {}
    for text in (*generated, *(more or ())):
        key, equals, where = (part.strip() for part in text.partition("="))
        if not equals or not key or not where:
            raise BadInput(f"{text!r} is not NAME=DIR: name each generator, such as sdxl=images/sdxl")
        if key in named:
            raise BadInput(f"Two sets are named {key!r}: name each once")
        named[key] = where

    def report(line: str) -> None:
        typer.echo(line, err=True)

    def opened(key: str, where: str) -> ImageSet:
        report(f"Reading {key}: {where}")
        return sources.opened(key, where, source=bench_source, skip_bad=skip_bad_items)

    def paired() -> PromptedSets:
        return pairing.pair(
            reference=None if statistics else opened(pairing.REFERENCE, reference),
            generated=[opened(key, where) for key, where in named.items()],
            prompts=pairing.prompts_of(prompts),
        )

    rated = None if human is None else ratings.read(human)
    features_of, only = ",".join(backbones), ",".join(metrics or ())
    if grid:
        from compute.engine.generators import grid as grids

        if only not in ("", "cfred") or save_reference or not store:
            raise BadInput("--grid computes and stores cFreD: it goes without --metrics, --save-reference, --no-store")
        people = None if rated is None else RatedGenerators.of(rated, generated=list(named))
        paths = {key: Path(where) for key, where in named.items()}
        features = grids.from_files(
            reference=Path(reference), generated=paths, condition=prompts, backbones=features_of
        )
        if features is None:
            features = grids.encode(
                paired(),
                chosen=grids.choose(features_of, catalog=catalog),
                catalog=catalog,
                bench=bench,
                report=report,
            )
        for role, keys in grids.paper_backbones(catalog).items():
            have = features.reference if role == "image" else features.condition
            report(
                f"Of the {len(keys)} {role} backbones of the cFreD paper {sum(key in have for key in keys)} are here"
            )
        cells = grids.execute(features, **made_of, people=people, report=report)
        print_table(cells, output, notes=[f"Warning: {line}" for line in cells.warnings])
        runs = len(features.reference) * len(features.generated)
        report(f"{len(cells.cells):,} cells, {cells.computed:,} of them new; {runs} runs of the suite {cells.suite}")
        rebuild(root, wanted=build, err=output != "text")
        return
    chosen = choices.choose(features_of, metrics=only, catalog=catalog)
    saved = storage.opened(reference, chosen=chosen) if statistics else {}
    if saved and save_reference:
        raise BadInput(f"{reference} is saved already: --save-reference goes with the images themselves")
    result = comparison.compare(
        paired(),
        chosen=chosen,
        catalog=catalog,
        bench=bench,
        saved=saved,
        with_intervals=intervals,
        report=report,
    )
    table = result.table(rated)
    warnings = [f"Warning: {line}" for line in table.warnings] if output == "csv" else []
    print_table(table, output, notes=[] if output == "json" else [*warnings, *table.people_lines()])
    if save_reference:
        for path in storage.save_references(save_reference, result, source=reference):
            report(f"Saved {path}")
    if store:
        people = table.people.stored if table.people else None
        key, runs = storage.store(result, **made_of, human=people)
        report(f"Stored {len(runs)} run{'s' if len(runs) != 1 else ''} of the suite {key}")
        rebuild(root, wanted=build, err=output != "text")


def print_table(table: GeneratorTable | GridResult, output: str, *, notes: list[str]) -> None:
    """Prints a table in one of its formats; what is next to it goes to stderr where stdout is for a program."""
    if output == "text":
        for line in table.lines():
            typer.echo(line)
    else:
        typer.echo(table.csv() if output == "csv" else table.json(), nl=output == "json")
    for line in notes:
        typer.echo(line, err=output != "text")
