"""The SELECTs behind single items, run details, thumbnails and maps of images; as queries.py, in stored units."""

from __future__ import annotations

from leaderboard.data.database import Database


def details(db: Database, *, run: str, names: list[str]) -> dict[str, str]:
    """The details of some items of a run as JSON text, by item; items without one are skipped."""
    frame = db.ask(
        "SELECT item, detail FROM items WHERE run = ? AND item IN (SELECT unnest(?)) AND detail IS NOT NULL",
        [run, names],
    )
    return dict(zip(frame["item"], frame["detail"], strict=True))


def pictured(db: Database, *, task: str, images: list[str]) -> set[str]:
    """Which of these images have a thumbnail."""
    frame = db.ask("SELECT image FROM thumbnails WHERE task = ? AND image IN (SELECT unnest(?))", [task, images])
    return set(frame["image"])


def thumbnail(db: Database, *, task: str, image: str) -> bytes | None:
    """One thumbnail as WebP, None if missing."""
    frame = db.ask("SELECT webp FROM thumbnails WHERE task = ? AND image = ?", [task, image])
    return bytes(frame["webp"].iloc[0]) if len(frame) else None
