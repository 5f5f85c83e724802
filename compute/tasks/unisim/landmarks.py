"""Revisited Oxford and Paris: which images show a query's landmark, medium and hard (Radenovic et al. 2018)."""

from __future__ import annotations

import numpy as np

from compute.tasks.data import Mixed, Retrieval
from compute.tasks.unisim import ground_truth
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Look
from compute.types import BadInput

FOLDERS = {"unisim/roxford": "roxford5k", "unisim/rparis": "rparis6k"}
# What counts as right and what is removed from the ranking, by protocol; what is in neither is wrong.
PROTOCOLS = {"medium": (("easy", "hard"), ("junk",)), "hard": (("hard",), ("junk", "easy"))}


def load(files: Files, folder: str, look: Look) -> dict[str, Retrieval]:
    """Both protocols over the same queries and images; queries are whole images, as the public code shows them."""
    folder_path = f"retrieval/revisitop/{folder}"
    truth = ground_truth.read(files.read(f"{folder_path}/gnd_{folder}.pkl"), of=f"gnd_{folder}.pkl")
    try:
        listed, query_names, rows = truth["imlist"], truth["qimlist"], truth["gnd"]
        marks = [
            {kind: np.asarray(row[kind], dtype=np.int64).ravel() for kind in ("easy", "hard", "junk")} for row in rows
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"gnd_{folder}.pkl has no {error}: it is not the revisited ground truth") from error
    queries, documents = (
        Mixed(
            names=tuple(map(str, names)),
            image=look([f"{folder_path}/jpg/{name}.jpg" for name in names], True),
            image_at=np.arange(len(names)),
        )
        for names in (query_names, listed)
    )
    by_protocol = {}
    for protocol, (right, out) in PROTOCOLS.items():
        query, document = _pairs(marks, right)
        by_protocol[protocol] = Retrieval(
            queries=queries,
            documents=documents,
            ignored=_pairs(marks, out),
            relevant=(query, document, np.ones(len(query), dtype=np.int64)),
        )
    return by_protocol


def _pairs(marks: list[dict[str, np.ndarray]], kinds: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    lists = [np.concatenate([row[kind] for kind in kinds]) for row in marks]
    return np.repeat(np.arange(len(lists)), [len(indices) for indices in lists]), np.concatenate(lists)
