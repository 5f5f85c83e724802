"""Everything that a run needs besides its suite and its models: made once, checked here, and passed whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from huggingface_hub import constants
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from compute import paths
from compute.types import BadInput, suggestion


def _several(values: Any) -> Any:
    """A single value needs no list, and None is none."""
    return () if values is None else (values,) if isinstance(values, str | Path) else values


# Where nothing is named, None is as good; a device or a precision may be torch's own object.
Name = Annotated[str, BeforeValidator(lambda name: "" if name is None else str(name).removeprefix("torch."))]


class RunSettings(BaseModel):
    """How the runs of a suite are made. Raises BadInput for values that cannot be, or do not go together."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    # The folder that runs are stored in; None: the project's.
    results: Annotated[Path, BeforeValidator(lambda results: Path(results or paths.RESULTS).absolute())] = None
    offline: Annotated[bool, AfterValidator(lambda offline: offline or constants.HF_HUB_OFFLINE)] = (
        False  # no other machine is asked; also where the hub's own variable says so
    )
    # User data, or with a suite a folder of data sets as <org>/<name>/.
    data: Path | str | None = None
    data_name: str = ""  # of the suite that the data make; empty: the file's
    shape: Name = ""  # one of tasks/own/shapes.KEYS; empty: as the columns tell
    columns: Annotated[
        Mapping[str, str], BeforeValidator(lambda columns: columns or {})
    ] = {}  # the shape's -> the file's
    images: Annotated[tuple[Path, ...], BeforeValidator(_several)] = ()  # further folders that images by path may be in
    # What decides the scores.
    options: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()  # `name=value`
    device: Name = ""  # cpu, cuda, cuda:1, mps; empty: the best available
    dtype: Name = ""  # float32, bfloat16, float16; empty: the device's best
    attn_implementation: Annotated[
        Literal["", "eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention"],
        BeforeValidator(lambda name: name or ""),
    ] = ""  # of models that transformers loads; empty: what it takes by itself
    store_dtype: Literal["float32", "float16"] = "float32"  # of the vectors that are stored
    skip_bad: bool = False  # items that cannot be used are skipped
    # How the work is done.
    batch_size: int | None = Field(None, ge=1)  # None: by the device and the model, then as large as is faster
    engine: Literal["local", "ray"] = "local"
    address: Name = ""  # of the Ray cluster; empty: one of this machine's devices
    workers: int | None = Field(None, ge=1)  # that encode with Ray; None: one a GPU, or a core where there is none
    again: bool = False  # no run counts as stored, and items that could not be used are tried again
    baselines: bool = False  # the suite's are run too
    thumbnails: int = Field(200, ge=0)  # for how many items a task pictures are stored
    progress: bool = True  # bars are drawn where somebody watches
    dry_run: bool = False  # nothing is written or fetched
    rate: float | None = Field(None, gt=0)  # items a second, for the time that a dry run tells

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
        if self.rate is not None and not self.dry_run:
            raise BadInput("--estimate is a rate for the time that --dry-run estimates: add --dry-run")
        return self

    @property
    def shared(self) -> Path:
        """The folder of encodings, answers and content keys, which never go among the runs that are shipped."""
        return paths.RESULTS if self.results == paths.COMPUTED else self.results
