"""likeness pairs: makes PairBench pairs from images."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from compute.cli.command import grouped
from compute.cli.workspace import say
from compute.engine.workspace import DataFolder, Offline, check_writable, stay_offline
from compute.io.tables import aligned
from compute.options import taking
from compute.tasks import image_lists
from compute.tasks.pairbench import making
from compute.tasks.pairbench import whatsup as tables
from compute.tasks.pairbench.splits import IMAGE_SPLITS, SPATIAL_SPLITS, SPLITS, named
from compute.tasks.source import Source
from compute.types import BadInput


@taking(making.make, without=("shows", "report"))
def make(
    *,
    out: Annotated[Path, "The manifest to write, a Parquet file."],
    images: Annotated[str, f"The images: {image_lists.ADDRESSES}[#CONFIGURATION/SPLIT]."] = "",
    column: Annotated[str, "That of the images in a table; default: image."] = "",
    whatsup: Annotated[
        Path | None, "A table of images of two objects each, with captions, in the layout of What's Up."
    ] = None,
    splits: Annotated[
        Sequence[str], "Comma-separated: cj, r, gb, ps, et; with --whatsup also sp, sp-cj ... sp-et and sp-text."
    ] = (),
    synthetic: Annotated[
        bool | None,
        typer.Option(
            "--synthetic/--not-synthetic",
            help="Whether a program drew or generated the images. It is recorded and shown with all scores; unless you "
            "say so, it is not known.",
        ),
    ] = None,
    data: DataFolder = None,
    offline: Offline = False,
    **how: Any,
) -> Iterator[str]:
    """Makes pairs: for each image an identical, a transformed and an irrelevant one in every split.

    The manifest holds every random choice, and a file next to it the images: move both together.
    """
    if not (images or whatsup):
        raise BadInput("Name the images by --images, or a table of what they show by --whatsup")
    chosen = named(splits) or (SPATIAL_SPLITS if whatsup else IMAGE_SPLITS)
    if out.suffix != ".parquet":
        raise BadInput(f"{out.name}: a manifest of pairs ends in .parquet")
    check_writable(out.absolute().parent)
    if offline:
        stay_offline()
    shows = None
    if whatsup:
        listed, shows = tables.read(whatsup, images=Path(images) if images else None)
    else:
        listed = image_lists.opened(images, source=Source(root=data, offline=offline), column=column)
    manifest = making.make(
        listed,
        out=out.absolute(),
        splits=chosen,
        shows=shows,
        synthetic=synthetic,
        **how,
        report=say,
    )
    yield f"{out}: {len(manifest.pairs):,} pairs of {manifest.items:,} images, seed {how['seed']}"
    if synthetic is None:
        yield "Whether the images are synthetic is not recorded: set --synthetic or --not-synthetic"
    rows = [["split", "what differs", "identical", "transformed", "irrelevant", "comparisons a condition"]]
    for key, own in manifest.counts().items():
        numbers = (own["identical"], own["transformed"] + own["transformed-2"], own["irrelevant"], 2 * own.total())
        rows.append([key, SPLITS[key].title, *(f"{number:,}" for number in numbers)])
    yield from aligned(rows)
    if manifest.items < 30:
        yield f"{manifest.items} images are few: intervals will be wide"
    yield f"Rate them: likeness run --suite pairbench --data {shlex.quote(str(out))} --models tiny,ssim"


group = grouped(make)
