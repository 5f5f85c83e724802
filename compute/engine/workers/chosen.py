"""Which workers the options name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from compute.types import BadInput

if TYPE_CHECKING:
    from compute.engine.workers.crew import Workers
    from compute.models.adapter import Hardware

ENGINES = ("local", "ray")


def check(
    engine: str = "local",
    *,
    address: str = "",
    workers: int | None = None,
    devices: Sequence[str] = (),
    device: str = "",
) -> None:
    """Raises BadInput for options that do not go together. Starts nothing."""
    if engine not in ENGINES:
        raise BadInput(f"No engine {engine!r}: choose from {', '.join(ENGINES)}")
    if engine == "ray":
        if devices:
            raise BadInput("--devices is for processes on this machine: with --engine ray, name how many --workers")
    elif address or workers:
        raise BadInput("--address and --workers are for a Ray cluster: add --engine ray, or name --devices")
    elif devices and device:
        raise BadInput("--devices names every device: omit --device")


@contextmanager
def chosen(
    engine: str = "local",
    *,
    address: str = "",
    workers: int | None = None,
    devices: Sequence[str] = (),
    device: str = "",
    dtype: str = "",
) -> Iterator[tuple[Workers | None, Hardware | None]]:
    """The workers that the options name, None for this process alone; and what they compute in, None where this process
    has to find that out.

    Raises BadInput for options that do not go together, NotHere without Ray or a device.
    """
    check(engine, address=address, workers=workers, devices=devices, device=device)
    if engine == "ray":
        from compute.engine.workers.ray_cluster import RayCluster

        cluster = RayCluster(address=address, workers=workers)
        try:
            yield cluster, cluster.hardware(device=device, dtype=dtype)
        finally:
            cluster.close()
        return
    if not devices:
        yield None, None
        return
    from compute import models
    from compute.engine.workers.processes import DeviceProcesses

    every = [models.hardware(device=name, dtype=dtype) for name in devices]
    if len({hardware.device.partition(":")[0] for hardware in every}) > 1:
        raise BadInput(f"--devices {','.join(devices)} are of several kinds, whose vectors differ: name one kind")
    yield DeviceProcesses(devices), every[0]
