"""The folder of a retrieval data set, as BEIR has it: corpus.jsonl, queries.jsonl and qrels/test.tsv."""

from __future__ import annotations

from pathlib import Path

from compute.tasks.own.finding import CORPUS, QRELS, QUERIES
from compute.tasks.own.table import FORMATS
from compute.types import BadInput

LAYOUT = "corpus.jsonl, queries.jsonl and qrels/test.tsv"
SPLIT = "test"  # of judgements, where there are several


def files(folder: Path) -> dict[str, Path] | None:
    """The three files by what they hold; None for a folder that has neither queries nor a corpus.

    Each may have any of the manifests' formats. Judgements are a file `qrels`, or in a folder `qrels` the file `test`
    or the only one. Raises BadInput for a folder that has but some of them.
    """
    if not folder.is_dir():
        return None
    found = {name: _named(folder, name) for name in (QUERIES, CORPUS, QRELS)}
    if not found[QUERIES] and not found[CORPUS]:
        return None
    if not found[QRELS] and (folder / QRELS).is_dir():
        splits = sorted(file for file in (folder / QRELS).iterdir() if file.suffix.lower() in FORMATS)
        found[QRELS] = splits if len(splits) == 1 else [file for file in splits if file.stem == SPLIT]
        if splits and not found[QRELS]:
            raise BadInput(
                f"{folder / QRELS} has {', '.join(file.name for file in splits)} and no {SPLIT}: name one so"
            )
    for name, several in found.items():
        if len(several) != 1:
            what = f"several files {name}" if several else f"no {name}"
            raise BadInput(f"{folder} has {what}: a retrieval data set has {LAYOUT}")
    return {name: several[0] for name, several in found.items()}


def _named(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}{end}" for end in FORMATS if (folder / f"{name}{end}").is_file()]
