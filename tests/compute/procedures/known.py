"""A model whose embeddings, comparisons and replies a test writes down."""

import numpy as np

from compute.arrays import Many
from compute.content.items import content_key, images, texts
from compute.content.messages import Reply
from compute.tasks.data import Labelled
from compute.types import CannotDo, Model


class Known:
    """Embeddings by content: (d,) a vector an item, or (vectors, d) of late interaction. Counts what it is asked."""

    def __init__(self, vectors=(), *, abilities=(), late=False, compare=None, reply=None):
        able = {"abilities": tuple(abilities), "modalities": ("image", "text"), "late_interaction": late}
        self.row = Model(key="known", title="Known", **able)
        self.vectors = {
            content_key(content): np.asarray(vector, dtype=np.float32) for content, vector in dict(vectors).items()
        }
        self._compare, self._reply = compare, reply
        self.asked = []

    def can(self, ability):
        return ability in self.row.abilities

    def embed(self, column):
        return np.stack(self._vectors(column))

    def embed_many(self, column):
        return ragged(self._vectors(column))

    def _vectors(self, column):
        needed = {"image": BOTH[:1], "text": BOTH[1:]}.get(column.modality, BOTH)
        if not all(map(self.can, needed)):
            raise CannotDo(f"known gives no such vectors of a {column.modality}")
        return [self.vectors[key] for key in column.keys.tolist()]

    def compare(self, first, second):
        return np.array([self._compare(first.read(row), second.read(row)) for row in range(len(second))], dtype=float)

    def choose(self, questions):
        """What `reply` says of each question: a text, or the fields of a Reply."""
        self.asked += questions
        said = [self._reply(question) for question in questions]
        return [
            Reply(item=question.item, **(one if isinstance(one, dict) else TOKENS | {"text": one}))
            for question, one in zip(questions, said, strict=True)
        ]


BOTH = ("embed_image", "embed_text")
TOKENS = {"input_tokens": 7, "output_tokens": 2}  # of every reply


def ragged(items):
    """Items of many vectors each, in memory."""
    return Many(read=lambda at: [items[item] for item in at.tolist()], lengths=np.array([len(item) for item in items]))


def shown(vectors, name, *, known, kind="image"):
    """Contents `<name><row>` with these embeddings, which `known` takes up."""
    words = [f"{name}{row}" for row in range(len(vectors))]
    contents = words if kind == "text" else [word.encode() for word in words]
    known.update(zip(contents, vectors, strict=True))
    return (texts if kind == "text" else images)(contents, of="tests")


def labelled(vectors, labels, letter, *, classes, known):
    """Items `<letter><row>` with these embeddings, of some of so many classes."""
    return Labelled(
        names=tuple(f"{letter}{row}" for row in range(len(vectors))),
        items=shown(vectors, letter, known=known),
        labels=labels,
        classes=tuple(f"class {at}" for at in range(classes)),
    )
