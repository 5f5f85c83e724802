"""likeness pairs: makes PairBench's pairs from images, and shows what a manifest of pairs holds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from compute.cli.command import grouped
from compute.cli.workspace import say
from compute.engine.settings import DataFolder, Offline
from compute.engine.workspace import check_writable, stay_offline
from compute.io.tables import aligned
from compute.options import taking
from compute.progress import Progress
from compute.tasks import image_lists
from compute.tasks.pairbench import making
from compute.tasks.pairbench import manifest as manifests
from compute.tasks.pairbench import whatsup as tables
from compute.tasks.pairbench.manifest import Manifest
from compute.tasks.pairbench.splits import IMAGE_SPLITS, SPATIAL_SPLITS, SPLITS, named
from compute.tasks.source import Source
from compute.types import BadInput

_SYNTHETIC = {True: "yes, a program drew them", False: "no", None: "not known"}


@taking(making.make, without=("shows", "report", "progress"))
def make(
    *,
    out: Annotated[Path, "The manifest to write, a Parquet file."],
    images: Annotated[str, f"The images: {image_lists.ADDRESSES}[#CONFIGURATION/SPLIT]."] = "",
    column: Annotated[str, "That of the images in a table; default: image."] = "",
    whatsup: Annotated[
        Path | None, "A table of images, captions, relations and objects, in the layout of What's Up or as CSV."
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
        progress=Progress(),
    )
    yield f"{out}: {len(manifest.pairs):,} pairs of {manifest.items:,} images, seed {manifest.seed}"
    if synthetic is None:
        yield "Whether the images are synthetic is not recorded: set --synthetic or --not-synthetic"
    yield from _counted(manifest)
    yield f"Rate them: likeness run --suite pairbench --data {shlex.quote(str(out))} --models tiny,ssim"


def show(
    file: Annotated[Path, "A manifest of pairs."],
) -> Iterator[str]:
    """Shows what a manifest holds: pairs by split and type, what they were made from, and what is odd about them."""
    manifest = manifests.read(file)
    yield f"{file.name}: version {manifest.version}, {len(manifest.pairs):,} pairs of {manifest.items:,} images"
    yield f"Made from {manifest.sources.get('path') or manifest.sources.get('repo')}, seed {manifest.seed}"
    yield f"Synthetic images: {_SYNTHETIC[manifest.synthetic]}"
    yield from _counted(manifest)
    yield from manifest.notes
    near = [" and ".join(pair) for pair in manifest.near_copies]
    for what, names in (
        ("skipped, number of images", manifest.left_out),
        ("near copies among the images, number of pairs", near),
    ):
        if names:
            yield f"Odd: {what}: {len(names)} ({', '.join(names[:3])}{' ...' * (len(names) > 3)})"
    if manifest.items < 30:
        yield f"Odd: {manifest.items} images are few: intervals will be wide"
    manifests.images_of(manifest)
    yield f"All {len(manifests.shown(manifest.pairs)):,} images are in {manifest.stored}"


def _counted(manifest: Manifest) -> Iterator[str]:
    """A line a split: its pairs by type, and the comparisons of both conditions."""
    rows = [["split", "what differs", "identical", "transformed", "irrelevant", "comparisons a condition"]]
    for key, own in manifest.counts().items():
        numbers = (own["identical"], own["transformed"] + own["transformed-2"], own["irrelevant"], 2 * own.total())
        rows.append([key, SPLITS[key].title, *(f"{number:,}" for number in numbers)])
    yield from aligned(rows)


group = grouped(make, show)
