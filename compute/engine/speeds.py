"""Speeds of models: timm's shipped measurements of vision towers, and those made on this machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any

import pandas as pd
from PIL import Image

from compute import bare_process, paths
from compute.features import encoding
from compute.io.files import locked, write_text
from compute.io.tables import read_csv
from compute.models import model_rows
from compute.tasks.drawing import captions, compose, render
from compute.types import BadInput, CannotDo, Model, first_line

if TYPE_CHECKING:
    from compute.engine.workspace import Bench
    from compute.models.adapter import Encoder

FILE = "speeds.csv"  # in the catalogue, and in the results
NUMBERS = ("images_per_second", "texts_per_second", "ms", "memory_mb", "batch")
COLUMNS = ("model", "machine", *NUMBERS, "dtype", "architecture", "source")
SIDE, SECONDS = 384, 1.0  # pixels of a shown image; measuring time per quantity


def every(results: Path, *, models: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Returns the shipped and the local rows of known models, the last for each model and machine, and why others or a
    whole file are skipped.
    """
    frames, problems = [], []
    for file in (paths.CATALOG / FILE, results / FILE):
        if not file.is_file():
            continue
        try:
            frame = read_csv(file, columns=COLUMNS)
            frame[[*NUMBERS]] = frame[[*NUMBERS]].apply(pd.to_numeric)
        except (BadInput, ValueError) as error:
            problems.append(f"{file.name} is skipped ({first_line(error)}): remove it, and time again: likeness time")
            continue
        problems += [
            f"{file.name} has a speed of {key!r}, which is in no catalogue: it is skipped"
            for key in sorted({*frame["model"]} - {*models})
        ]
        frames.append(frame[frame["model"].isin(models)])
    joined = pd.concat(frames) if frames else pd.DataFrame()
    return joined.drop_duplicates(["model", "machine"], keep="last") if frames else joined, problems


def measured(row: Model, *, bench: Bench, batch: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Measures a model on generated images and texts: one row of FILE with the numbers of the forward pass alone.

    The memory (units of 2^20 bytes) is the accelerator's peak, or on a CPU that of the whole process. Raises CannotDo
    for a model without learned vectors, BadInput for a batch that does not fit, and any loading error.
    """
    from compute.models import hardware_for

    kinds = model_rows.learned_vectors(row)
    if row.adapter and not kinds:
        raise CannotDo(f"{row.key} has no learned vectors of images or texts. Time an encoder")
    hardware = hardware_for(row, bench.hardware)
    report(f"{row.key}: loading it on {hardware.device} in {hardware.dtype}")
    bench.fetch(row)
    model, random = bench.subject(row).model, Random(0)
    scenes = [compose.scene(random, part="test", kind=compose.pair) for _ in range(batch)]
    items = {
        "image": [Image.fromarray(render.draw(scene)).resize((SIDE, SIDE)) for scene in scenes],
        "text": [captions.caption(scene, random).text for scene in scenes],
    }
    rates: dict[str, float] = {}
    try:
        for kind in kinds:
            report(f"{row.key}: {batch} {kind}s at a time")
            prepared = [model.prepare(kind, item) for item in items[kind]]
            if kind == "image":
                rates["ms"] = 1000 * _seconds(model, kind, prepared[:1])
            rates[f"{kind}s_per_second"] = batch / _seconds(model, kind, prepared)
    except Exception as error:
        if encoding.out_of_memory(error) and batch > 1:
            raise BadInput(f"{row.key}: {batch} items at once do not fit. Try --batch-size {batch // 2}") from error
        raise
    machine, memory = _machine(hardware.device)
    values = {name: float(f"{value:.4g}") for name, value in {**rates, "memory_mb": memory}.items() if value}
    about = {"model": row.key, "machine": machine, "batch": batch, "dtype": hardware.dtype, "source": "measured here"}
    return {**dict.fromkeys(COLUMNS, ""), **about, **values}


def _seconds(model: Encoder, kind: str, prepared: Sequence[Any]) -> float:
    """Returns the median time of a batch, after one warm-up batch."""
    model.embed(kind, prepared)
    times, until = [], time.perf_counter() + SECONDS
    while not times or time.perf_counter() < until:
        began = time.perf_counter()
        model.embed(kind, prepared)  # returns arrays on the CPU, so no work is pending on an accelerator
        times.append(time.perf_counter() - began)
    return median(times)


def _machine(device: str) -> tuple[str, float]:
    """Returns the name of the device, and its peak memory so far in units of 2^20 bytes; 0 if unknown."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(device), torch.cuda.max_memory_reserved(device) / 2**20
    usage = bare_process.resource and bare_process.resource.getrusage(bare_process.resource.RUSAGE_SELF).ru_maxrss
    unit = 2**20 if platform.system() == "Darwin" else 2**10
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.is_file() else []
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    return f"{name or platform.machine()}, {os.cpu_count()} cores{'' if device == 'cpu' else f', {device}'}", (
        usage or 0
    ) / unit


def store(measurement: dict[str, Any], *, results: Path) -> None:
    """Writes one row to the results' file, replacing an older one of the same model and machine."""
    file = results / FILE
    with locked(results):
        rows = [read_csv(file, columns=COLUMNS)] if file.is_file() else []
        joined = pd.concat([*rows, pd.DataFrame([measurement])])
        joined = joined.drop_duplicates(["model", "machine"], keep="last")
        write_text(file, joined.to_csv(index=False, columns=[*COLUMNS], lineterminator="\n"))
