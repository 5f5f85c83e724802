"""What a check of one's own data gave, as one HTML file with pictures of a few items."""

from __future__ import annotations

import base64
from pathlib import Path

from compute.interface.data_check import NO_FINDING, DataCheck, images_read, looked_at, verdict
from compute.interface.pages import one_file


def page(checked: DataCheck) -> str:
    """The page as text; pictures stand in it as data URIs."""
    return one_file.render(
        "data.html",
        styles=("data.css",),
        checked=checked,
        verdict=verdict(checked),
        no_finding=NO_FINDING,
        images_read=images_read,
        looked_at=looked_at,
        uri=lambda webp: f"data:image/webp;base64,{base64.b64encode(webp).decode()}",
    )


def file_name(data: Path | str) -> str:
    """The name of data for that of their page: a file's without its end, else the folder's or the data set's."""
    text = str(data).partition("@")[0].rstrip("/\\")
    name = Path(text).absolute().name
    return Path(name).stem if Path(name).suffix else name
