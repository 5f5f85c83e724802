"""NMI and zero-shot accuracy beside a loop over items: python -m tests.bench.bench_clustering

20,000 made-up embeddings (synthetic) of 200 classes, 512 dimensions. The loops are the plain way of saying the same:
items handed one by one to their nearest centre and counted in dictionaries, cosines of one item at a time. Both start
from the same embeddings, and clusters from the same centres. Exits with 1 where the two disagree or a loop is faster.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from compute.content.items import Column
from compute.metrics.summary import summarise
from compute.procedures import clustering, zero_shot
from compute.tasks.data import Clusters, Labelled, ZeroShot
from compute.types import Model

N, CLASSES, WIDTH = 20_000, 200, 512


class Stored:
    """A model whose embeddings are there already, row by row."""

    row = Model(key="synthetic", title="made-up vectors", abilities=("embed_image", "embed_text"))

    def __init__(self, sides: dict[bytes, np.ndarray]) -> None:
        self.sides = sides

    def can(self, ability: str) -> bool:
        return ability in self.row.abilities

    def embed(self, column: Column) -> np.ndarray:
        return self.sides[column.keys[0][:1]][[int(key[1:], 16) for key in column.keys.tolist()]]


def column(modality: str, letter: str, n: int) -> Column:
    """Items whose keys are a letter and their row."""
    keys = np.array([f"{letter}{row:031x}" for row in range(n)], dtype="S32")
    return Column(modality=modality, keys=keys, read=lambda row: "", name=lambda row: f"{letter}{row}")


def labelled(letter: str, labels: np.ndarray, *, classes: int) -> Labelled:
    return Labelled(
        names=tuple(f"{letter}{row}" for row in range(len(labels))),
        labels=labels,
        items=column("image", letter, len(labels)),
        classes=tuple(f"class {at}" for at in range(classes)),
    )


def timed(call: Callable[[], float]) -> tuple[float, float]:
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def nmi_by_loop(vectors: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> float:
    clusters = [int(((centres - one) ** 2).sum(axis=1).argmin()) for one in vectors]
    joint = Counter(zip(labels.tolist(), clusters, strict=True))
    sides = Counter(labels.tolist()), Counter(clusters)
    n = len(labels)
    shared = sum(count / n * math.log(count * n / (sides[0][a] * sides[1][b])) for (a, b), count in joint.items())
    entropies = [-sum(count / n * math.log(count / n) for count in side.values()) for side in sides]
    return shared / (sum(entropies) / 2)


def accuracy_by_loop(vectors: np.ndarray, prompts: np.ndarray, labels: np.ndarray) -> float:
    right = 0
    for one, label in zip(vectors, labels, strict=True):
        cosines = [float(one @ prompt) / float(np.linalg.norm(one) * np.linalg.norm(prompt)) for prompt in prompts]
        right += int(np.argmax(cosines)) == label
    return right / len(labels)


def main() -> int:
    rng = np.random.default_rng(0)
    prompts = rng.standard_normal((CLASSES, WIDTH), dtype=np.float32)
    labels = rng.integers(CLASSES, size=N)
    vectors, noisy = (prompts[labels] + noise * rng.standard_normal((N, WIDTH), dtype=np.float32) for noise in (1.5, 6))
    grouped, asked = (labelled(letter, labels, classes=CLASSES) for letter in "ac")
    subject = Stored({b"a": vectors, b"b": prompts, b"c": noisy})
    shot = ZeroShot(test=asked, prompts=column("text", "b", CLASSES))
    zero_shot.run(subject, shot, {})  # loads libraries
    clustering.group(vectors[:1000], k=2)

    print(f"{N} items, {CLASSES} classes, {WIDTH}-d")
    found, seconds = timed(lambda: summarise("accuracy", zero_shot.run(subject, shot, {}).items).value)
    wanted, reference = timed(lambda: accuracy_by_loop(noisy, prompts, labels))
    good = found == wanted and seconds < reference
    print(
        f"zero-shot            {seconds:7.2f} s   accuracy {found:.4f}   loop over items {reference:7.2f} s   "
        f"{wanted:.4f}   {reference / seconds:.0f} x"
    )

    began = time.perf_counter()
    items = clustering.run(subject, Clusters(test=grouped), {}).items
    grouping = time.perf_counter() - began
    found, seconds = timed(lambda: summarise("nmi", items).value)
    clusters = np.array([int(one.split()[1]) for one in items["answer"]])
    centres = last_centres(vectors)
    wanted, reference = timed(lambda: nmi_by_loop(vectors, centres, labels))
    good &= abs(found - wanted) < 1e-9
    print(
        f"mini-batch k-means   {grouping:7.2f} s   then NMI {found:.6f} in {seconds:.3f} s   items to centres and "
        f"counts by loop {reference:7.2f} s   {wanted:.6f}   clusters used {len(set(clusters.tolist()))}"
    )
    print("ok" if good else "OVER")
    return 0 if good else 1


def last_centres(vectors: np.ndarray) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return (
            MiniBatchKMeans(n_clusters=CLASSES, batch_size=500, n_init="auto", random_state=42)
            .fit(vectors)
            .cluster_centers_
        )


if __name__ == "__main__":
    raise SystemExit(main())
