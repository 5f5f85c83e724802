"""Retrieval at full size beside its limit: python -m tests.bench.bench_retrieval [--documents 200000]

5,000 queries, 200,000 documents, 512 dimensions, the best 1000 of each and every metric, on random vectors (synthetic:
only time and memory are looked at; tests compare the metrics with MIEB's public code and trec_eval). Times are the
processor's, of all threads together, so that what else a machine does is not measured; with an accelerator they are the
clock's. The limit is torch.mm alone over the same shapes, in the same blocks, without which nobody has the scores.
Exits with 1 where a budget is missed.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np
import torch

from compute.content.items import Column
from compute.procedures import retrieval
from compute.tasks.data import Mixed, Retrieval
from compute.types import Model

QUERIES, DOCUMENTS, WIDTH, DEPTH = 5_000, 200_000, 512, 1000
RELEVANT = 10  # a query
MEMORY, LINEAR, LIMIT = 1.5e9, 2.7, 1.4  # bytes, times the cost of half the size, times the bare product
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Stored:
    """A model whose embeddings are there already."""

    row = Model(key="random", title="random vectors", abilities=("embed_image",))

    def __init__(self, embeddings):
        self.embeddings = embeddings

    def can(self, ability):
        return ability == "embed_image"

    def embed(self, column):
        return self.embeddings[len(column)]


def mixed(n, letter):
    keys = np.array([f"{letter}{row:031x}" for row in range(n)], dtype="S32")
    column = Column(modality="image", keys=keys, read=lambda row: b"", name=lambda row: f"{letter}{row}")
    return Mixed(names=tuple(f"{letter}{row:07d}" for row in range(n)), image=column, image_at=np.arange(n))


def task(queries, documents, rng):
    """Half of a query's relevant documents are moved towards it, so that metrics are neither 0 nor 1."""
    n, m = len(queries), len(documents)
    pairs = np.unique(np.repeat(np.arange(n), RELEVANT) * m + rng.integers(0, m, n * RELEVANT))
    query, document = pairs // m, pairs % m
    near = rng.random(len(pairs)) < 0.5
    documents[document[near]] += 0.25 * queries[query[near]]
    return Retrieval(
        queries=mixed(n, "q"), documents=mixed(m, "d"), relevant=(query, document, rng.integers(1, 4, len(pairs)))
    )


def status(field):
    """Bytes of this process as the kernel counts them."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text).group(1)) * 1024


def clock():
    return time.perf_counter() if DEVICE == "cuda" else time.process_time()


def ours(queries, documents, rng):
    """Seconds, and the peak of memory above what was there before."""
    documents = documents.copy()  # half of the relevant ones are moved
    data = task(queries, documents, rng)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, began = status("VmRSS"), clock()
    retrieval.run(Stored({len(queries): queries, len(documents): documents}), data, {"fusion": "sum"})
    return clock() - began, status("VmHWM") - before


def products(queries, documents):
    """Seconds of torch.mm alone: every query with every document, in the same blocks."""
    room = torch.empty((retrieval.QUERIES, retrieval.DOCUMENTS), device=DEVICE)
    sides = [torch.from_numpy(side).to(DEVICE) for side in (queries, documents)]
    began = clock()
    for top in range(0, len(queries), retrieval.QUERIES):
        first = sides[0][top : top + retrieval.QUERIES]
        for start in range(0, len(documents), retrieval.DOCUMENTS):
            second = sides[1][start : start + retrieval.DOCUMENTS]
            torch.mm(first, second.T, out=room.view(-1)[: len(first) * len(second)].view(len(first), len(second)))
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    count = parser.parse_args().documents
    rng = np.random.default_rng(0)
    queries, documents = (rng.standard_normal((rows, WIDTH), dtype=np.float32) for rows in (QUERIES, count))
    ours(queries[:64], documents[:2000], rng)  # loads torch's kernels
    print(
        f"{QUERIES} queries x {count} documents x {WIDTH}-d, best {DEPTH}, {torch.get_num_threads()} threads, {DEVICE}"
    )
    seconds, peak = ours(queries, documents, rng)
    print(
        f"here                      {seconds:7.1f} s   peak above the embeddings {peak / 1e9:.2f} GB ({MEMORY / 1e9:g})"
    )
    limit = products(queries, documents)
    print(f"torch.mm alone, the limit {limit:7.1f} s   here {seconds / limit:.2f} x of it (must be {LIMIT:g} or less)")
    good = peak < MEMORY and seconds <= LIMIT * limit
    for what, q, d in (("half the queries", QUERIES // 2, count), ("half the documents", QUERIES, count // 2)):
        part, above = ours(queries[:q], documents[:d], rng)
        good &= seconds / part < LINEAR
        print(f"{what:25} {part:7.1f} s   {seconds / part:.2f} x for twice as many   peak {above / 1e9:.2f} GB")
    print("ok" if good else "OVER")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
