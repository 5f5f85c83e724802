"""Everything that a run needs besides its suite and its models: made once, checked here, and passed whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge
from huggingface_hub import constants
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from compute import paths, storage
from compute.types import BadInput, suggestion

# Options that other commands have too.
DataFolder = Annotated[Path | None, "A folder of data sets as <org>/<name>/, searched before the hub's cache."]
Device = Annotated[str, "cpu, cuda, cuda:1, mps; default: the best available."]
Dtype = Annotated[
    str,
    "float32, bfloat16 or float16; default: the device's best, for comparers and features of distribution metrics "
    "float32.",
]
BatchSize = Annotated[int | None, "Items per batch; default: found by speed and memory.", Ge(1)]
Offline = Annotated[
    bool, "Contact no other machine: download nothing, and ask only judges behind an endpoint on this machine."
]
Shape = Annotated[str, "The shape of your data; default: judged by their columns."]
Columns = Annotated[Mapping[str, str], "Which column is which of the shape's: image=img,label=class."]
Images = Annotated[
    tuple[Path, ...],
    "A further folder that the paths of your images, and of a suite.toml's files, may point into; repeatable.",
]


class RunSettings(BaseModel):
    """How the runs of a suite are made. Raises BadInput for values that cannot be, or do not go together."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    data: Annotated[
        str | Path | None,
        "Without --suite, your own data, which become a suite: a manifest (.csv, .jsonl, .parquet), a folder, or "
        "hub:org/name@revision; see docs/your-data.md. With a suite, a folder of data sets as <org>/<name>/, searched "
        "before the hub's cache; with --suite pairbench also a manifest of pairs (likeness pairs make).",
    ] = None
    data_name: Annotated[str, "Name of the suite of your data; default: the data's name."] = ""
    shape: Shape = ""
    columns: Columns = None
    images: Images = ()
    device: Device = ""
    dtype: Dtype = ""
    store_dtype: Annotated[
        Literal["float32", "float16"],
        "float32, or float16: half the space, and vectors are rounded to about three digits. Scores say so, and are "
        "stored apart.",
    ] = "float32"
    batch_size: BatchSize = None
    # The folder or address that runs are stored in; None: the project's.
    results: Path = None
    offline: Offline = False
    skip_bad: Annotated[bool, "Skip items that cannot be used; coverage is shown with the score."] = False
    options: Annotated[tuple[str, ...], "name=value, such as quality=clip-iqa; repeatable: likeness list options."] = ()
    engine: Annotated[
        Literal["local", "ray"],
        "Where the work runs: local, in this process, or ray, on several devices or machines.",
    ] = "local"
    address: Annotated[str, "The Ray cluster: HOST:PORT or auto; default: RAY_ADDRESS, else one started here."] = ""
    workers: Annotated[
        int | None, "How many Ray workers encode; default: one per GPU, or per core without a GPU.", Ge(1)
    ] = None
    thumbnails: Annotated[int, "Number of items per task to store pictures of.", Ge(0)] = 200
    again: Annotated[bool, "Repeat stored runs."] = False
    progress: Annotated[bool, "Draw progress bars where somebody watches."] = True
    dry_run: Annotated[
        bool,
        "Print what would be downloaded, encoded, compared and stored.",
    ] = False

    @field_validator("shape", "device", "dtype", "address", mode="before")
    @classmethod
    def _name(cls, given: Any) -> str:
        """Where nothing is named, None is as good; a device or a precision may be torch's own object."""
        return "" if given is None else str(given).removeprefix("torch.")

    @field_validator("images", "options", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        """A single value needs no list, and None is none."""
        return () if given is None else (given,) if isinstance(given, str | Path) else given

    @field_validator("columns", mode="before")
    @classmethod
    def _pairs(cls, given: Any) -> Any:
        return given or {}

    @field_validator("offline")
    @classmethod
    def _alone(cls, given: bool) -> bool:
        """Also where the hub's own variable says so."""
        return given or constants.HF_HUB_OFFLINE

    @field_validator("results", mode="before")
    @classmethod
    def _opened(cls, given: Any) -> Path:
        return storage.opened(given or paths.RESULTS).absolute()

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name, value, near = ".".join(map(str, first["loc"])), first["input"], ""
            if first["type"] == "literal_error":
                near = suggestion(str(value), re.findall(r"'(\w+)'", first["ctx"]["expected"]))
            raise BadInput(
                f"{name} cannot be {str(value)[:60]!r}: {first['msg'].replace('Input', 'it')}.{near}"
            ) from None

    @model_validator(mode="after")
    def _fit(self) -> RunSettings:
        if self.engine == "local" and (self.address or self.workers):
            raise BadInput("--address and --workers are for Ray: add --engine ray")
        return self

    @property
    def shared(self) -> Path:
        """The folder of encodings, answers and content keys, which never go among the runs that are shipped."""
        return paths.RESULTS if self.results == paths.COMPUTED else self.results
