"""python -m compute fetch --models ...: weights into the hub's cache, nothing loaded."""

from __future__ import annotations

from typing import Annotated

import typer


def fetch(models: Annotated[str, typer.Option(help="Whose weights, comma-separated: python -m compute list models.")]):
    """Downloads the weights of models into the hub's cache, at the pinned revision; what is there stays."""
    from compute import models as adapters
    from compute.catalog import shipped

    catalog = shipped()
    for row in [catalog.model(key) for key in filter(None, models.split(","))]:
        folder = adapters.fetch(row)
        typer.echo(f"{row.key}: {folder or 'no weights to fetch'}")
